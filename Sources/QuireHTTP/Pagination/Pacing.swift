/// How fast a walk may ask, besides what throttling answers say.
///
/// Encodes as `{"interval": seconds, "backoff": source, "readsAhead": false}`, with only what differs
/// from the default.
public struct Pacing: Hashable, Sendable {
  /// The least number of seconds between two requests of a listing. Default 0.
  public var interval: Double
  /// Where a page says how many seconds to wait before the next one. Default nil: nowhere.
  public var backoff: ValueSource?
  /// Whether a page may be asked for before the one in front of it was consumed. False where the
  /// cursor acknowledges, and the server forgets what was asked past. Default true.
  public var readsAhead: Bool

  /// A pace; none of our own by default.
  public init(interval: Double = 0, backoff: ValueSource? = nil, readsAhead: Bool = true) {
    self.interval = interval
    self.backoff = backoff
    self.readsAhead = readsAhead
  }
}

extension Pacing: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "The pacing", names: ["interval", "backoff", "readsAhead"])
    self.init(
      interval: try object.optional("interval") ?? 0, backoff: try object.optional("backoff"),
      readsAhead: try object.optional("readsAhead") ?? true)
    guard interval >= 0, interval <= 86_400 else {
      throw DescriptionObject.error(
        decoder.codingPath, "The pacing's \"interval\" is a number of seconds up to a day.")
    }
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if interval != 0 { try fields.encode(interval, forKey: "interval") }
    try fields.encodeIfPresent(backoff, forKey: "backoff")
    if !readsAhead { try fields.encode(readsAhead, forKey: "readsAhead") }
  }
}
