package import QuireCore

/// The decoded form of a position: the target of a request, with the state of the walk.
///
/// The JSON form is complete, so that another process can continue from it. It has one target,
/// `{"url": …}`, `{"token": …}`, `{"offset": n}`, `{"page": n}`, `{"request": {…}}` or
/// `{"start": true}`, and members that the description needs:
///
/// - `via`: the index of the route, unless it is the first
/// - `back`: true for a route to the previous page
/// - `seen`: the number of items before the page, if a total has to be reached
/// - `largest`: the most items of a page so far, if the page size is unknown
/// - `total`: a total that only the first page declares
/// - `more`: true if the page before promised this one
/// - `carry`: values that every request repeats
/// - `shown`: a watch on repeated pages
/// - `anchor`: the last item's key
/// - `restarts`: the number of recoveries so far
/// - `state`: the state of a closure
/// - `within`: the indexes that list the page
package struct Bookmark: Hashable {
  package enum Target: Hashable {
    /// The first page, with a value that the plain first request does not send.
    case start
    case url(String)
    case token(JSONValue)
    case offset(Int)
    case page(Int)
    /// A description of a request, with an absolute `href`.
    case request(JSONValue)
  }

  package var target: Target
  var route = 0
  var seen: Int?
  /// The carried values with their names, in order.
  package var carried: [JSONValue.Member] = []
  /// A total that only the first page declares.
  var total: Int?
  /// The most items of a page so far; nil if the page size is known.
  var largestPage: Int?
  /// Whether a flag or a number of pages promised this page. Set only if the description has a rule
  /// by which an answer could deny that.
  var isPromised = false
  var repetitionWatch: ContentWatch?
  /// Whether the route leads to the previous page.
  var isBackward = false
  var anchor: JSONValue?
  package var recoveries = 0
  package var state: JSONValue?
  /// The URLs of the indexes that list the page, outermost first.
  package var enclosingIndexes: [String] = []

  package init(_ target: Target, route: Int = 0, seen: Int? = nil) {
    self.target = target
    self.route = route
    self.seen = seen
  }

  /// Decodes a position; throws `invalidArgument` for a position of another source.
  package init(_ position: Position) throws(PageError) {
    self.init(Target.start)
    var targets = 0
    var found: Target?
    var isRepeated = false
    var members: [JSONValue.Member] = []
    if case .object(let all)? = position.value { members = all }
    for (index, member) in members.enumerated() {
      isRepeated = isRepeated || members[..<index].contains { $0.name == member.name }
      if Self.targets.contains(member.name) {
        targets += 1
        found = Self.target(member) ?? found
      } else {
        read(member)
      }
    }
    guard let found else {
      throw PageError(
        .invalidArgument,
        "A position does not belong to this listing: it has none of \"url\", \"token\", "
          + "\"offset\" and \"page\". Use positions only with the description that made them.")
    }
    guard targets == 1, !isRepeated else {
      throw PageError(
        .invalidArgument,
        "A position says twice where it leads, or has two members of one name. Use it as it was "
          + "stored.")
    }
    target = found
  }

  private static let targets = ["url", "token", "offset", "page", "request", "start"]

  /// Returns the target that a member names; nil if its value is none.
  private static func target(_ member: JSONValue.Member) -> Target? {
    switch member.name {
    case "url": member.value.string.map(Target.url)
    case "token": .token(member.value)
    case "offset": member.value.integer.map(Target.offset)
    case "page": member.value.integer.map(Target.page)
    case "request": .request(member.value)
    default: member.value.boolean == true ? .start : nil
    }
  }

  /// Reads a member beside the target.
  private mutating func read(_ member: JSONValue.Member) {
    let value = member.value
    switch member.name {
    case "via": route = value.integer ?? 0
    case "seen": seen = value.integer
    case "carry": if case .object(let members) = value { carried = members }
    case "total": total = value.integer
    case "largest": largestPage = value.count
    case "more": isPromised = value.boolean ?? false
    case "shown": repetitionWatch = ContentWatch(value)
    case "back": isBackward = value.boolean ?? false
    case "anchor": anchor = value
    case "restarts": recoveries = value.count ?? 0
    case "state": state = value
    case "within": if case .array(let urls) = value { enclosingIndexes = urls.compactMap(\.string) }
    default: break
    }
  }

  package var position: Position {
    var members: [JSONValue.Member] = []
    switch target {
    case .start: members.append(.init("start", true))
    case .url(let url): members.append(.init("url", .string(url)))
    case .token(let token): members.append(.init("token", token))
    case .offset(let offset): members.append(.init("offset", .number(String(offset))))
    case .page(let page): members.append(.init("page", .number(String(page))))
    case .request(let request): members.append(.init("request", request))
    }
    if route > 0 { members.append(.init("via", .number(String(route)))) }
    if isBackward { members.append(.init("back", true)) }
    if let seen { members.append(.init("seen", .number(String(seen)))) }
    if let total { members.append(.init("total", .number(String(total)))) }
    if let largestPage { members.append(.init("largest", .number(String(largestPage)))) }
    if isPromised { members.append(.init("more", true)) }
    if let repetitionWatch { members.append(.init("shown", repetitionWatch.value)) }
    if !carried.isEmpty { members.append(.init("carry", .object(carried))) }
    if let anchor { members.append(.init("anchor", anchor)) }
    if recoveries > 0 { members.append(.init("restarts", .number(String(recoveries)))) }
    if !enclosingIndexes.isEmpty {
      members.append(.init("within", .array(enclosingIndexes.map(JSONValue.string))))
    }
    if let state { members.append(.init("state", state)) }
    return Position(.object(members))
  }

  /// The position without what does not decide which page it is, such as the number of items before
  /// it.
  package var place: Position {
    var place = self
    (place.seen, place.total, place.largestPage) = (nil, nil, nil)
    (place.isPromised, place.repetitionWatch, place.anchor) = (false, nil, nil)
    return place.position
  }

  /// The value that the request sends; null for the first page.
  var value: JSONValue {
    switch target {
    case .start: .null
    case .url(let url): .string(url)
    case .token(let token), .request(let token): token
    case .offset(let number), .page(let number): .number(String(number))
    }
  }

  /// Returns whether a listing with the source `next` can have made the position: an offset is no
  /// page number, and neither is a token. A token that is a number fits a counter, because a later
  /// walk may start with it.
  func fits(_ next: Pagination.Next) -> Bool {
    switch (target, next.untransformed) {
    case (.offset, .offset), (.offset, .contentRange), (.page, .pageNumber): true
    case (.token(let token), .offset), (.token(let token), .pageNumber),
      (.token(let token), .contentRange):
      token.integer != nil
    case (.token, _), (.start, _), (.url, _), (.request, _): true
    case (.offset, _), (.page, _): false
    }
  }

  /// Whether the position advances by counting items or pages, without a value from the page.
  package var isCounted: Bool {
    switch target {
    case .offset, .page: true
    case .start, .url, .token, .request: false
    }
  }

  /// The number from which a counter continues: the position's own, or a token that is a number.
  var count: Int? {
    switch target {
    case .offset(let number), .page(let number): number
    case .token(let token): token.integer
    case .start, .url, .request: nil
    }
  }
}

extension Position {
  /// The cursor of this position, if it is a word for an end, such as `END`, `none` or `-1`, which
  /// some servers send when no page follows; nil otherwise.
  package var endWord: String? {
    guard case .token(let value)? = (try? Bookmark(self))?.target else { return nil }
    let text = value.plainText
    return text.wholeMatch(of: Self.endWords) == nil ? nil : text
  }

  private static var endWords: Regex<Substring> {
    #/end|eof|null|nil|none|undefined|done|last|stop|finished|false|n/a|-1|0/#.ignoresCase()
  }
}
