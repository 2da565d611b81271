import QuireCore

/// A position as the engine writes it: which way leads to the page, and with what.
///
/// Self-describing and whole, so that a new process needs nothing else: `{"url": …}`, `{"token":
/// …}`, `{"offset": n}` or `{"page": n}`, with `via` for a route that is not the first, and `seen`
/// for the items before the page where a total has to be reached.
struct Bookmark: Hashable {
  enum Target: Hashable {
    case url(String)
    case token(JSONValue)
    case offset(Int)
    case page(Int)
  }

  var target: Target
  var route = 0
  var seen: Int?

  init(_ target: Target, route: Int = 0, seen: Int? = nil) {
    self.target = target
    self.route = route
    self.seen = seen
  }

  /// Reads a position; throws `invalidArgument` for one that another source wrote.
  init(_ position: Position) throws(PageError) {
    guard let value = position.value, let target = Self.target(in: value) else {
      throw PageError(
        .invalidArgument,
        "A position does not belong to this listing: it has none of \"url\", \"token\", "
          + "\"offset\" and \"page\". Use positions only with the description that made them.")
    }
    self.target = target
    route = value["via"]?.integer ?? 0
    seen = value["seen"]?.integer
  }

  private static func target(in value: JSONValue) -> Target? {
    if let url = value["url"]?.string { return .url(url) }
    if let token = value["token"] { return .token(token) }
    if let offset = value["offset"]?.integer { return .offset(offset) }
    if let page = value["page"]?.integer { return .page(page) }
    return nil
  }

  var position: Position {
    var members: [JSONValue.Member] = []
    switch target {
    case .url(let url): members.append(.init("url", .string(url)))
    case .token(let token): members.append(.init("token", token))
    case .offset(let offset): members.append(.init("offset", .number(String(offset))))
    case .page(let page): members.append(.init("page", .number(String(page))))
    }
    if route > 0 { members.append(.init("via", .number(String(route)))) }
    if let seen { members.append(.init("seen", .number(String(seen)))) }
    return Position(.object(members))
  }

  /// What the target sends.
  var value: JSONValue {
    switch target {
    case .url(let url): .string(url)
    case .token(let token): token
    case .offset(let number), .page(let number): .number(String(number))
    }
  }

  /// The number a counter would go on from: its own, or a token that is one.
  var count: Int? {
    switch target {
    case .offset(let number), .page(let number): number
    case .token(let token): token.integer
    case .url: nil
    }
  }
}
