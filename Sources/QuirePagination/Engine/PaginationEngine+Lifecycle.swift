import HTTPTypes
package import QuireCore

/// Values that outlive a page, and requests beside those for pages.
extension PaginationEngine {
  /// The values to go on with after an answer: what it gives, else what was sent to get it.
  func carried(after answer: PageAnswer) throws -> [JSONValue.Member] {
    let sent = answer.sent?.carried ?? []
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
  package func opening() throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.open else { return nil }
    return try request(rule, at: nil)
  }

  /// The values that the answer to `opening()` gives.
  ///
  /// Throws `shape` where it gives none of the values that it should.
  package func opened(by answer: PageAnswer) throws -> [JSONValue.Member] {
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
  package func closing(at bookmark: Bookmark) throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.close else { return nil }
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

/// Going on after the server has forgotten a cursor.
extension PaginationEngine {
  /// What the key that a walk begins again behind is called among the values that it carries.
  static let anchor = "$anchor"
  /// How often a walk goes on after that.
  private static let mostRestarts = 3

  /// How long the page asks to wait before the next one; nil where it does not.
  package func backoff(after answer: PageAnswer) -> Duration? {
    guard let source = pagination.policy.pacing.backoff,
      let value = try? answer.value(at: source, items: items),
      let seconds = Double(value.plainText),
      seconds.isFinite, seconds > 0
    else { return nil }
    // What no Duration holds is for ever, too.
    return .milliseconds(Int64((min(seconds, 1e12) * 1000).rounded(.up)))
  }

  /// The last item's key, where the walk may have to begin again behind it.
  func anchor(after answer: PageAnswer) throws -> JSONValue? {
    guard case .reanchor(_, let path) = pagination.policy.expiry else { return nil }
    let key = try answer.document.value(at: path, inLastItemOf: items)
    return key.flatMap { $0.isBlank ? nil : $0 } ?? answer.sent?.anchor
  }

  /// Where the walk continues in place of `lost`, and what that means; nil for an error.
  ///
  /// `replacement` is the cursor that the server gives in place of the one it has forgotten; `reopened` are the values of a new opening, where the rule asks for one.
  package func recovery(
    at lost: Bookmark, from error: PageError, replacement: JSONValue?,
    reopened: [JSONValue.Member] = []
  ) -> (Bookmark, PageRecovery)? {
    guard error.code == .cursorExpired || error.code == .resultWindowExceeded,
      lost.restarts < Self.mostRestarts
    else { return nil }
    var bookmark = lost
    let isExpired = error.code == .cursorExpired
    let restarts = bookmark.restarts + 1
    let recovery: PageRecovery
    switch pagination.policy.expiry {
    case .fail: return nil
    case .restart:
      guard isExpired else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.carried = reopened
      recovery = .restarted
    case .reopen:
      guard isExpired else { return nil }
      bookmark.carried = reopened
      recovery = .reopened
    case .resume:
      guard let cursor = replacement, !cursor.isBlank else {
        return nil
      }
      bookmark.target = .token(cursor)
      recovery = .resumed
    case .reanchor:
      guard let anchor = bookmark.anchor else { return nil }
      bookmark = Bookmark(Bookmark.Target.start)
      bookmark.anchor = anchor
      bookmark.carried = reopened + [JSONValue.Member(Self.anchor, anchor)]
      recovery = .reanchored
    }
    bookmark.restarts = restarts
    return (bookmark, recovery)
  }
}

/// Requests that a page describes, as STAC's next links do.
extension PaginationEngine {
  /// A description with its link as seen from the page it was found in; a plain link describes a
  /// request, too.
  func description(_ value: JSONValue, href: String) -> JSONValue {
    guard case .object(var members) = value else { return ["href": .string(href)] }
    let known = ["method", "headers", "body", "merge"]
    members = members.filter { known.contains($0.name) && $0.value != .null }
    return .object([.init("href", .string(href))] + members)
  }

  /// The request that a description asks for, with our credentials and nobody else's.
  func request(
    describedBy description: JSONValue, _ bookmark: Bookmark
  ) throws(PageError) -> PageRequest {
    try CursorCheck.checkCharacters(description)
    let name = description["method"]?.string?.uppercased() ?? "GET"
    // A page must not make the caller's credentials delete or change something.
    guard let method = HTTPRequest.Method(rawValue: name), method.isSafe || method == .post,
      let href = description["href"]?.string
    else {
      throw PageError(
        .refusedLink,
        "The next link asks for the method \"\(ServerText(name, limit: 64))\", or has no address. Links are followed by "
          + "POST and by methods that only read.")
    }
    let merges = description["merge"]?.boolean ?? false
    var request = base
    request.method = method
    request.url = try target(of: href)
    if !merges {
      request.headerFields = request.headerFields.filtered { Self.ours.contains($0.name) }
    }
    try setHeaders(description["headers"], in: &request)
    request.body = body(description["body"], merges: merges)
    if let form = description["form"]?.string { request.body = .form(form) }
    if let xml = description["xml"]?.string { request.body = .xml(xml) }
    if method == .get || method == .head { request.body = .none }
    if request.body == .none { request.headerFields[.contentType] = nil }
    var editor = RequestEditor(request)
    try send(bookmark.carried, in: &editor)
    request = try editor.request()
    try keepBodyHome(request)
    return request
  }

  /// What is ours to say, whatever a page describes.
  private static let ours: Set<HTTPField.Name> = [
    .authorization, .proxyAuthorization, .cookie, .accept, .acceptLanguage, .userAgent,
  ]

  private func setHeaders(
    _ headers: JSONValue?, in request: inout PageRequest
  ) throws(PageError) {
    guard case .object(let members)? = headers else { return }
    let forbidden = ["host", "content-length", "transfer-encoding", "connection", "upgrade", "te"]
    for member in members {
      let field = try RequestEditor.field(member.name)
      guard !Self.ours.contains(field), !forbidden.contains(field.canonicalName) else { continue }
      request.headerFields[field] = member.value.plainText
    }
  }

  private func body(_ body: JSONValue?, merges: Bool) -> PageRequest.Body {
    guard merges, case .json(.object(var members)) = base.body else {
      return body.map(PageRequest.Body.json) ?? (merges ? base.body : .none)
    }
    guard case .object(let new)? = body else { return base.body }
    for member in new {
      if let index = members.firstIndex(where: { $0.name == member.name }) {
        members[index].value = member.value
      } else {
        members.append(member)
      }
    }
    return .json(.object(members))
  }
}
