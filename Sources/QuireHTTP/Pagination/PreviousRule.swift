/// How the page before another one is found, where a server pages in both directions.
///
/// Encodes as `{"from": source, "send": placement, "end": [rules], "size": placement}`, with only
/// `from` required.
public struct PreviousRule: Hashable, Sendable {
  /// Where a page says what leads to the one before it.
  public var from: NextSource
  /// Where that goes. Default: it is a link.
  public var send: Placement
  /// What says, of a page that was reached backwards, that it is the first of all: flags and empty
  /// pages. Default: nothing but a source that finds nothing.
  public var end: [EndRule]
  /// Where the page size goes instead, such as `last` for `first`. Default nil: to the same place.
  public var size: Placement?

  /// A way to the page before.
  public init(
    _ from: NextSource, send: Placement = .url, end: [EndRule] = [], size: Placement? = nil
  ) {
    self.from = from
    self.send = send
    self.end = end
    self.size = size
  }
}

extension PreviousRule {
  /// The page before by a web link, under either of its relations (RFC 8288).
  static let linkHeader = PreviousRule(
    .firstOf([
      Route(.linkHeader(rel: "prev"), send: .url), Route(.linkHeader(rel: "previous"), send: .url),
    ]))
}

extension PreviousRule: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "The rule previous", names: ["from", "send", "end", "size"])
    self.init(
      try object("from"), send: try object.optional("send") ?? .url,
      end: try object.optional("end") ?? [], size: try object.optional("size"))
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(from, forKey: "from")
    if case .firstOf = from {} else { try fields.encode(send, forKey: "send") }
    if !end.isEmpty { try fields.encode(end, forKey: "end") }
    try fields.encodeIfPresent(size, forKey: "size")
  }
}
