public import QuireCore

extension Pagination {
  /// What else changes between requests: the answer to "request".
  ///
  /// What the walk's own request already says is never overwritten: a first value or a constant is
  /// added only where the caller gave none.
  public struct RequestRule: Hashable, Sendable {
    /// The method of the requests after the first.
    public enum Method: String, Hashable, Sendable, CaseIterable {
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
}

extension Pagination.RequestRule: Block {
  package static let name = "request"

  package static let grammar = Form<Pagination.RequestRule>.object(
    "The request rule", Pagination.RequestRule(),
    [
      .optional("keep", \.keep, "which parameters of the first request come again"),
      .optional("first", \.first, example: "\"*\"", "what the first request sends as a cursor"),
      .optional("then", \.then, "what later requests have instead"),
      .optional(
        "method", \.method, example: "\"get\"", "later requests have no body; default `\"same\"`"),
      .optional("always", \.always, "what every request has"),
      .optional("carry", \.carry, "what answers give and requests repeat, by name"),
      .optional("isQuery", \.isQuery, example: "true", "a POST may be sent again"),
    ])
}

extension Pagination.RequestRule.Method: FormWord {}

extension Pagination {
  /// What the requests after the first have in place of what the first one has: for servers that go on
  /// at another address, or with another query.
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
}

extension Pagination.RequestChange: Block {
  package static let name = "change"

  package static let grammar = Form<Pagination.RequestChange>.object(
    "The change \"then\"", Pagination.RequestChange(),
    [
      .optional("url", \.url, example: "\"list/continue\"", "another address"),
      .optional("query", \.set.query, "parameters"),
      .optional("header", \.set.header, "header fields"),
      .optional("body", \.set.body, "members of the JSON body"),
    ])
}

extension Pagination {
  /// What a protocol needs in every request, unless the caller's request says otherwise.
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
}

extension Pagination.RequestConstants: Block {
  package static let name = "constants"

  package static let grammar = Form<Pagination.RequestConstants>.object(
    "The constants", Pagination.RequestConstants(),
    [
      .optional("query", \.query, "parameters"), .optional("header", \.header, "header fields"),
      .optional("body", \.body, "members of the JSON body"),
    ])
}

extension Pagination {
  /// A value that an answer gives once, or anew with every page, and that every later request repeats:
  /// a session, a snapshot.
  public struct CarriedValue: Hashable, Sendable {
    /// Where an answer has it, that of `Pagination.Policy.open` included. An answer without it leaves the
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
}

extension Pagination.CarriedValue: Block {
  package static let name = "carried"

  package static let grammar = Form<Pagination.CarriedValue>.object(
    "A carried value", Pagination.CarriedValue(from: "", send: .url),
    [
      .required("from", \.from, "where an answer has it"),
      .required("send", \.send, "where requests have it"),
    ])
}

extension Pagination {
  /// A request beside those for pages: to open what a walk needs at the server, or to close it.
  ///
  /// It goes to the listing's own origin, with the client's credentials.
  public struct SideRequest: Hashable, Sendable {
    /// The method. Default GET.
    public var method: String
    /// The address, as seen from the listing's: `/_pit`. Default nil: the listing's own.
    public var url: String?
    /// What of the first request's query and body goes along. Default: nothing.
    public var keep: KeepRule
    /// Parameters, fields and members of the body.
    public var set: RequestConstants
    /// Where values of the walk go: those of `Pagination.RequestRule.carry` by their names, and as `cursor` the
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
}

extension Pagination.SideRequest: Block {
  package static let name = "sideRequest"

  package static let grammar = Form<Pagination.SideRequest>.object(
    "A side request", Pagination.SideRequest(),
    [
      .optional(
        "method", \.method, example: "\"DELETE\"", "default GET", isWritten: { _ in true }),
      .optional("url", \.url, example: "\"/_pit\"", "the address; default the listing's own"),
      .optional("keep", \.keep, "what of the first request goes along; default `\"none\"`"),
      .optional("query", \.set.query, "parameters"),
      .optional("header", \.set.header, "header fields"),
      .optional("body", \.set.body, "members of the JSON body"),
      .optional("send", \.send, "where carried values go, and the continuation as `cursor`"),
    ])
}
