/// A value that an answer gives once, or anew with every page, and that every later request repeats:
/// a session, a snapshot.
///
/// Encodes as `{"from": source, "send": placement}`.
public struct CarriedValue: Hashable, Sendable {
  /// Where an answer has it, that of `PagePolicy.open` included. An answer without it leaves the
  /// value as it was.
  public var from: ValueSource
  /// Where requests have it.
  public var send: Placement

  /// A value from `from` that is sent to `send`.
  public init(from: ValueSource, send: Placement) {
    self.from = from
    self.send = send
  }
}

extension CarriedValue: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(decoder, "A carried value", names: ["from", "send"])
    self.init(from: try object("from"), send: try object("send"))
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(from, forKey: "from")
    try fields.encode(send, forKey: "send")
  }
}
