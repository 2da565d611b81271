/// What the requests after the first have in place of what the first one has: for servers that go on
/// at another address, or with another query.
///
/// Encodes as `{"url": reference, "query": {name: value}, "header": {name: value}, "body":
/// {pointer: value}}`, with only what changes.
public struct RequestChange: Hashable, Sendable {
  /// The address, as seen from the first request's: `list/continue`, `/search/scroll`. What the
  /// request rule keeps of the query is added to its own. Default nil: the same.
  public var url: String?
  /// Parameters, fields and members of the body, which replace those of the first request.
  public var set: RequestConstants

  /// A change; nothing by default.
  public init(url: String? = nil, set: RequestConstants = RequestConstants()) {
    self.url = url
    self.set = set
  }
}

extension RequestChange: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let names = ["url"] + RequestConstants.names
    let object = try DescriptionObject(decoder, "The change \"then\"", names: names)
    self.init(url: try object.optional("url"), set: try RequestConstants(object))
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encodeIfPresent(url, forKey: "url")
    try set.encode(in: &fields)
  }
}
