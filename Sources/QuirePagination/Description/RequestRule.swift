public import QuireCore

extension Pagination {
  /// Further differences between requests: the member "request" of a description.
  ///
  /// The walk's own request is never overridden: a first value or a constant is added only if the
  /// caller gave none.
  public struct RequestRule: Hashable, Sendable {
    /// The method of the later requests.
    public enum Method: String, Hashable, Sendable, CaseIterable {
      /// The method and body of the first request. The default.
      case same
      /// GET, without a body.
      case get
    }

    /// The query parameters and body members of the first request that later requests repeat.
    /// Ignored if the continuation is a link, which has its own query.
    public var keep: KeepRule
    /// The value that the first request sends as the continuation, such as `*`. Default nil: none.
    public var first: JSONValue?
    /// Changes to the later requests, such as another address. Ignored if the continuation is a
    /// link. Default nil: none.
    public var then: RequestChange?
    /// The method of the requests after the first.
    public var method: Method
    /// Constants of every request.
    public var always: RequestConstants
    /// Values that answers give and later requests repeat, by name. Default: none.
    public var carry: [String: CarriedValue]
    /// Whether requests have no side effects, so that a POST may be retried. Default false.
    public var isQuery: Bool

    /// Creates a rule; by default nothing changes.
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
      .optional("keep", \.keep, "the parameters of the first request that later requests repeat"),
      .optional(
        "first", \.first, example: "\"*\"", "the value that the first request sends as a cursor"),
      .optional("then", \.then, "changes to the later requests"),
      .optional(
        "method", \.method, example: "\"get\"", "later requests have no body; default `\"same\"`"),
      .optional("always", \.always, "constants of every request"),
      .optional("carry", \.carry, "values from answers that later requests repeat, by name"),
      .optional("isQuery", \.isQuery, example: "true", "a POST may be retried"),
    ])
}

extension Pagination.RequestRule.Method: FormWord {}

extension Pagination {
  /// The query parameters and body members that later requests repeat.
  public enum KeepRule: Hashable, Sendable {
    /// All of them. The default, right for most cursors.
    case all
    /// Only these, for servers that accept no other parameters beside a cursor.
    case only([String])
    /// All but these.
    case except([String])
    /// None.
    case none

    /// Whether the parameter or member is repeated.
    func keeps(_ name: String) -> Bool {
      switch self {
      case .all: true
      case .only(let names): names.contains(name)
      case .except(let names): !names.contains(name)
      case .none: false
      }
    }
  }
}

extension Pagination.KeepRule: Block {
  package static let name = "keep"

  package static let grammar = Form<Pagination.KeepRule>.oneOf(
    "A keep rule",
    [
      .word("all", .all, "all of them; the default"), .word("none", .none, "none"),
      .key(
        "only", Pagination.KeepRule.only, { if case .only(let names) = $0 { names } else { nil } },
        "only these"),
      .key(
        "except", Pagination.KeepRule.except,
        { if case .except(let names) = $0 { names } else { nil } },
        "all but these"),
    ])
}

extension Pagination {
  /// Changes to the requests after the first, for servers that continue at another address or with
  /// another query.
  public struct RequestChange: Hashable, Sendable {
    /// The address, relative to that of the first request: `list/continue`, `/search/scroll`. Query
    /// parameters that the request rule keeps are added. Default nil: the same.
    public var url: String?
    /// Parameters, fields and body members, which replace those of the first request.
    public var set: RequestConstants

    /// Creates a change; by default nothing changes.
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
  /// Constants of every request, unless the caller's request has its own.
  public struct RequestConstants: Hashable, Sendable {
    /// Query parameters, strictly encoded.
    public var query: [String: String]
    /// Header fields.
    public var header: [String: String]
    /// Members of the JSON body, by pointer.
    public var body: [PagePath: JSONValue]

    /// Creates constants; none by default.
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
  /// A value from an answer that every later request repeats, until a later answer changes it: a
  /// session, a snapshot.
  public struct CarriedValue: Hashable, Sendable {
    /// The source of the value, in pages and in the answer to `Pagination.Policy.open`. An answer
    /// without it leaves the value unchanged.
    public var from: ValueSource
    /// The placement of the value.
    public var send: Placement

    /// Creates a carried value.
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
      .required("from", \.from, "the source in an answer"),
      .required("send", \.send, "the placement in requests"),
    ])
}

extension Pagination {
  /// A request besides those for pages, which opens or closes something at the server.
  ///
  /// It goes to the listing's own origin, with the client's credentials.
  public struct SideRequest: Hashable, Sendable {
    /// The method. Default GET.
    public var method: String
    /// The address, relative to the listing's: `/_pit`. Default nil: the listing's own.
    public var url: String?
    /// The part of the first request's query and body that is sent too. Default: nothing.
    public var keep: KeepRule
    /// Parameters, fields and body members.
    public var set: RequestConstants
    /// The placements of values of the walk: those of `Pagination.RequestRule.carry` by name, and
    /// the continuation as `cursor`. The request is not made if one of them is missing.
    public var send: [String: Placement]

    /// Creates a side request.
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
      .optional("url", \.url, example: "\"/_pit\"", "the address; default the listing's"),
      .optional(
        "keep", \.keep, "the part of the first request that is sent too; default `\"none\"`"),
      .optional("query", \.set.query, "parameters"),
      .optional("header", \.set.header, "header fields"),
      .optional("body", \.set.body, "members of the JSON body"),
      .optional(
        "send", \.send, "the placements of carried values, and of the continuation as `cursor`"),
    ])
}
