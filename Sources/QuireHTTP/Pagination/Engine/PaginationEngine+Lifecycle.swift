import HTTPTypes
import QuireCore

/// Values that outlive a page, and requests beside those for pages.
extension PaginationEngine {
  /// The values to go on with after an answer: what it gives, else what was sent to get it.
  func carried(after answer: PageAnswer) throws -> [JSONValue.Member] {
    let sent = (try? Bookmark(answer.position))?.carried ?? []
    let reserved = sent.filter { $0.name == Self.resumption || $0.name == Self.anchor }
    return try reserved
      + pagination.request.carry.sorted { $0.key < $1.key }.compactMap {
        (name, rule) throws -> JSONValue.Member? in
        var value = try answer.value(at: rule.from, items: items)
        if value?.isBlank ?? true { value = sent.first { $0.name == name }?.value }
        return value.map { JSONValue.Member(name, $0) }
      }
  }

  /// Puts carried values where they go.
  func send(_ carried: [JSONValue.Member], in editor: inout RequestEditor) throws(PageError) {
    for member in carried {
      guard let placement = placement(ofCarried: member.name) else { continue }
      try CursorCheck.check(member.value)
      try editor.send(member.value, by: placement, pageSize: pageSize)
    }
  }

  private func placement(ofCarried name: String) -> Placement? {
    switch (name, pagination.policy.expiry) {
    case (Self.resumption, _): pagination.resume?.send
    case (Self.anchor, .reanchor(let placement, _)): placement
    default: pagination.request.carry[name]?.send
    }
  }

  /// The request that opens what a walk needs; nil when it needs nothing.
  func opening() throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.open else { return nil }
    return try request(rule, at: nil)
  }

  /// The values that the answer to `opening()` gives.
  ///
  /// Throws `shape` where it gives none of the values that it should.
  func opened(by answer: PageAnswer) throws -> [JSONValue.Member] {
    let carried = try carried(after: answer)
    guard !carried.isEmpty else {
      throw PageError(
        .shape,
        "The answer to the opening request has nothing that \"carry\" reads. Check the sources in "
          + "\"carry\".")
    }
    return carried
  }

  /// What has to be closed if this answer is the last of the walk; nil for nothing.
  func closing(after answer: PageAnswer, next: Bookmark?) throws -> Position? {
    guard pagination.policy.close != nil else { return nil }
    var bookmark = next ?? Bookmark(Bookmark.Target.start)
    bookmark.carried = try carried(after: answer)
    return bookmark.position
  }

  /// The request that closes what a walk held at a position; nil when there is nothing to close.
  func closing(at position: Position) throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.close else { return nil }
    let bookmark = try Bookmark(position)
    return try request(rule, at: bookmark)
  }

  /// A side request; nil where a value that it sends is missing.
  private func request(
    _ rule: SideRequest, at bookmark: Bookmark?
  ) throws(PageError) -> PageRequest? {
    guard let method = HTTPRequest.Method(rawValue: rule.method) else {
      throw PageError(.invalidArgument, "\"\(rule.method)\" is not a method of HTTP.")
    }
    var request = base
    request.method = method
    var editor = RequestEditor(request)
    editor.keep(rule.keep)
    if rule.keep == .none { editor.dropBody() }
    try editor.change(RequestChange(url: rule.url, set: rule.set))
    for (name, placement) in rule.send.sorted(by: { $0.key < $1.key }) {
      guard let value = value(of: name, in: bookmark) else { return nil }
      try CursorCheck.check(value)
      if placement == .url {
        try editor.move(to: pagination.policy.links, value, home: home)
      } else {
        try editor.send(value, by: placement, pageSize: pageSize)
      }
    }
    request = try editor.request()
    try keepBodyHome(request)
    return request
  }

  private func value(of name: String, in bookmark: Bookmark?) -> JSONValue? {
    guard let bookmark else { return nil }
    if name == "cursor" { return bookmark.target == .start ? nil : bookmark.value }
    return bookmark.carried.first { $0.name == name }?.value
  }
}
