public import QuireCore

/// What else changes between requests: the answer to "request".
///
/// What the walk's own request already says is never overwritten: a first value or a constant is
/// added only where the caller gave none. Encodes as `{"keep": …, "first": value, "then": {…},
/// "method": "get", "always": {…}, "carry": {name: {…}}, "isQuery": true}`, with only what differs
/// from the default.
public struct RequestRule: Hashable, Sendable {
  /// The method of the requests after the first.
  public enum Method: String, Hashable, Codable, Sendable {
    /// The same as the first, with its body. The default.
    case same
    /// GET, without a body.
    case get
  }

  /// Which query parameters and body members of the first request are sent again. Not asked when
  /// the continuation is a link: that brings its own query.
  public var keep: KeepRule
  /// What the first request sends in place of a continuation, such as `*`. Default nil: nothing.
  public var first: JSONValue?
  /// What the requests after the first have in its place, such as another address. Not asked when
  /// the continuation is a link. Default nil: nothing.
  public var then: RequestChange?
  /// The method of the requests after the first.
  public var method: Method
  /// What the protocol needs in every request.
  public var always: RequestConstants
  /// What answers give and requests repeat, by a name of its own. Default: nothing.
  public var carry: [String: CarriedValue]
  /// Whether the requests only ask, so that a POST may be sent again after a failure. Default false.
  public var isQuery: Bool

  /// What else changes; nothing by default.
  public init(
    keep: KeepRule = .all, first: JSONValue? = nil, then: RequestChange? = nil,
    method: Method = .same, always: RequestConstants = RequestConstants(),
    carry: [String: CarriedValue] = [:], isQuery: Bool = false
  ) {
    self.keep = keep
    self.first = first
    self.then = then
    self.method = method
    self.always = always
    self.carry = carry
    self.isQuery = isQuery
  }
}

extension RequestRule: Codable {
  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    let object = try DescriptionObject(
      decoder, "The request rule",
      names: ["keep", "first", "then", "method", "always", "carry", "isQuery"])
    let name = try object.optional("method", as: String.self) ?? "same"
    guard let method = Method(rawValue: name) else {
      throw DescriptionObject.error(
        decoder.codingPath, "The request rule's \"method\" is \"same\" or \"get\", not \"\(name)\"."
      )
    }
    self.init(
      keep: try object.optional("keep") ?? .all,
      first: object.has("first") ? try object("first", as: JSONValue.self) : nil,
      then: try object.optional("then"), method: method,
      always: try object.optional("always") ?? RequestConstants(),
      carry: try object.optional("carry") ?? [:],
      isQuery: try object.optional("isQuery") ?? false)
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    if keep != .all { try fields.encode(keep, forKey: "keep") }
    if let first { try fields.encode(first, forKey: "first") }
    try fields.encodeIfPresent(then, forKey: "then")
    if method != .same { try fields.encode(method, forKey: "method") }
    if always != RequestConstants() { try fields.encode(always, forKey: "always") }
    if !carry.isEmpty { try fields.encode(carry, forKey: "carry") }
    if isQuery { try fields.encode(isQuery, forKey: "isQuery") }
  }
}
