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

/// What a protocol needs in every request, unless the caller's request says otherwise.
///
/// Encodes as `{"query": {name: value}, "header": {name: value}, "body": {pointer: value}}`, with
/// only the parts that hold something.
public struct RequestConstants: Hashable, Sendable {
  /// Query parameters, strictly encoded.
  public var query: [String: String]
  /// Header fields.
  public var header: [String: String]
  /// Members of the JSON body, by pointer.
  public var body: [PagePath: JSONValue]

  /// Constants; none by default.
  public init(
    query: [String: String] = [:], header: [String: String] = [:],
    body: [PagePath: JSONValue] = [:]
  ) {
    self.query = query
    self.header = header
    self.body = body
  }
}

extension RequestConstants: Codable {
  static let names = ["query", "header", "body"]

  /// Reads an object as above.
  public init(from decoder: any Decoder) throws {
    try self.init(DescriptionObject(decoder, "The constants", names: Self.names))
  }

  /// Reads the three parts out of an object that may have others.
  init(_ object: DescriptionObject) throws {
    var body: [PagePath: JSONValue] = [:]
    for (text, value) in try object.optional("body", as: [String: JSONValue].self) ?? [:] {
      do {
        body[try PagePath(text)] = value
      } catch let error as PageError {
        throw object.error(error.message)
      }
    }
    self.init(
      query: try object.optional("query") ?? [:], header: try object.optional("header") ?? [:],
      body: body)
  }

  /// Writes an object as above.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try encode(in: &fields)
  }

  func encode(in fields: inout KeyedEncodingContainer<DescriptionObject.Name>) throws {
    if !query.isEmpty { try fields.encode(query, forKey: "query") }
    if !header.isEmpty { try fields.encode(header, forKey: "header") }
    if !body.isEmpty {
      let texts = body.map { ($0.key.text, $0.value) }
      try fields.encode(Dictionary(uniqueKeysWithValues: texts), forKey: "body")
    }
  }
}

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
