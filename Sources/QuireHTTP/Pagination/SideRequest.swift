/// A request beside those for pages: to open what a walk needs at the server, or to close it.
///
/// It goes to the listing's own origin, with the client's credentials. Encodes as `{"method":
/// "DELETE", "url": reference, "keep": rule, "query": {…}, "header": {…}, "body": {…}, "send":
/// {"cursor": placement}}`, with only what differs from the default.
public struct SideRequest: Hashable, Sendable {
  /// The method. Default GET.
  public var method: String
  /// The address, as seen from the listing's: `/_pit`. Default nil: the listing's own.
  public var url: String?
  /// What of the first request's query and body goes along. Default: nothing.
  public var keep: KeepRule
  /// Parameters, fields and members of the body.
  public var set: RequestConstants
  /// Where values of the walk go: those of `RequestRule.carry` by their names, and as `cursor` the
  /// continuation. The request is not made where one of them is missing.
  public var send: [String: Placement]

  /// A request beside those for pages.
  public init(
    _ method: String = "GET", url: String? = nil, keep: KeepRule = .none,
    set: RequestConstants = RequestConstants(), send: [String: Placement] = [:]
  ) {
    self.method = method
    self.url = url
    self.keep = keep
    self.set = set
    self.send = send
  }
}

extension SideRequest: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let names = ["method", "url", "keep", "send"] + RequestConstants.names
    let object = try DescriptionObject(decoder, "A side request", names: names)
    self.init(
      try object.optional("method") ?? "GET", url: try object.optional("url"),
      keep: try object.optional("keep") ?? .none, set: try RequestConstants(object),
      send: try object.optional("send") ?? [:])
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(method, forKey: "method")
    try fields.encodeIfPresent(url, forKey: "url")
    if keep != .none { try fields.encode(keep, forKey: "keep") }
    try set.encode(in: &fields)
    if !send.isEmpty { try fields.encode(send, forKey: "send") }
  }
}
