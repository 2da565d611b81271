import HTTPTypes
package import QuireCore

/// The part of the engine that builds the request for a page from its position.
package struct RequestBuilder: EnginePart {
  let engine: PaginationEngine

  private var home: Origin { engine.home }
  private var base: PageRequest { engine.base }

  /// Returns the request for the page at `position`; nil and `.start` are the first page.
  ///
  /// Throws `invalidArgument` for a position of another listing, `invalidCursor` for a cursor that
  /// cannot be sent, `crossOriginLink` and `refusedLink` for a link that the policy refuses.
  package func request(at position: Position?) throws(PageError) -> PageRequest {
    guard let position, position.value != nil else { return first }
    return try request(for: try Bookmark(position))
  }

  /// Returns the request for the page at a decoded position; nil is the first page.
  package func request(for bookmark: Bookmark?) throws(PageError) -> PageRequest {
    guard let bookmark else { return first }
    if bookmark.target == .start {
      var editor = RequestEditor(first)
      try send(bookmark.carried, in: &editor)
      return try editor.request()
    }
    let routes = bookmark.isBackward ? backwardRoutes : self.routes
    guard routes.indices.contains(bookmark.route) else {
      throw PageError(
        .invalidArgument,
        "A position came by route \(bookmark.route), and this description has \(routes.count). Use "
          + "positions only with the description that made them.")
    }
    if case .request(let description) = bookmark.target {
      return try request(describedBy: description, bookmark)
    }
    let send = routes[bookmark.route].send
    try CursorCheck.check(bookmark.value, by: send)
    if send == .url { return try follow(bookmark) }
    if case .url = bookmark.target {
      throw PageError(
        .invalidArgument,
        "A position holds a link, and this description follows none. Use positions only with the "
          + "description that made them.")
    }
    guard hasClosure || bookmark.fits(routes[bookmark.route].next) else {
      throw PageError(
        .invalidArgument,
        "A position holds \(ServerText(bookmark.value.plainText, limit: 64)), and this description counts in another way. "
          + "Use positions only with the description that made them.")
    }
    var editor = try laterRequest()
    if case .all(let sources) = routes[bookmark.route].next { editor.drop(sources.keys) }
    if bookmark.isBackward { try turnBack(&editor) }
    let value = try routes[bookmark.route].value(of: bookmark.value, pageSize: pageSize)
    try editor.set(value, at: send, pageSize: pageSize)
    try self.send(bookmark.carried, in: &editor)
    return try editor.request()
  }

  /// Returns what the requests for all pages after the first have in common.
  private func laterRequest() throws(PageError) -> RequestEditor {
    var editor = RequestEditor(base)
    editor.keep(pagination.request.keep)
    try editor.addConstants(pagination.request.always)
    if let change = pagination.request.then { try editor.change(change) }
    if pagination.request.method == .get { editor.becomeGet() }
    return editor
  }

  /// Throws `invalidArgument` if the request's body has no place for a continuation. With several
  /// routes, a page decides which of them applies.
  package func checkBody() throws(PageError) {
    guard routes.count == 1, let send = routes.first?.send else { return }
    switch send {
    case .jsonBody, .xmlBody:
      var editor = try laterRequest()
      try editor.set(.string("1"), at: send, pageSize: pageSize)
    default: break
    }
  }

  /// Returns the request for a link: its own bytes, with the fields and body of the base.
  private func follow(_ bookmark: Bookmark) throws(PageError) -> PageRequest {
    guard case .url(let text) = bookmark.target else {
      throw PageError(
        .invalidArgument,
        "A position holds no link, and this description follows links. Use positions only with the "
          + "description that made them.")
    }
    var request = base
    request.url = try target(of: text)
    if pagination.request.method == .get || !bookmark.carried.isEmpty {
      var editor = RequestEditor(request)
      if pagination.request.method == .get { editor.becomeGet() }
      try send(bookmark.carried, in: &editor)
      request = try editor.request()
    }
    try checkBodyStaysHome(request)
    try checkMethodOverride(request)
    return request
  }

  /// Turns a request into one for the previous page, for which the page size may move.
  func turnBack(_ editor: inout RequestEditor) throws(PageError) {
    for route in routes { editor.remove(route.send) }
    guard let size = pagination.previous?.size, let usual = pagination.size?.send,
      let asked = editor.value(at: usual)
    else { return }
    editor.remove(usual)
    try editor.set(asked, at: size, pageSize: nil)
  }

  // MARK: Links

  /// Returns the URL of a link under the link policy, byte for byte except for the fragment.
  func target(of text: String) throws(PageError) -> String {
    let link = try URLReference(link: text)
    var target = try pagination.policy.links.target(of: link, home: home)
    target.fragment = nil
    return target == link ? text : target.text
  }

  /// Throws `refusedLink` for a request with a body to another origin, as redirects do.
  func checkBodyStaysHome(_ request: PageRequest) throws(PageError) {
    guard request.body != .none else { return }
    let origin = try Origin(url: request.url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take the request's body from \(home) to \(origin.displayText). If that is right, "
          + "start a walk there.")
    }
  }

  /// Throws `refusedLink` for a POST whose parameter `_method` makes it a method that changes
  /// something, as Rails, Laravel and others allow.
  private func checkMethodOverride(_ request: PageRequest) throws(PageError) {
    guard request.method == .post else { return }
    var names = RequestEditor(request).query.pairs.filter { $0.name == "_method" }
      .map { PercentEncoding.decode($0.encoded) }
    if case .json(let body) = request.body { names += [body["_method"]?.plainText ?? ""] }
    guard let name = names.first(where: { ["DELETE", "PATCH", "PUT"].contains($0.uppercased()) })
    else { return }
    throw PageError(
      .refusedLink,
      "The next link asks by \"_method\" for the method \(name). Links are followed by POST and by "
        + "methods that only read.")
  }

  // MARK: Carried values

  /// The name, among carried values, of the value that a later walk starts with.
  static let resumption = "$resume"

  /// The name, among carried values, of the key behind which a walk starts over.
  static let anchor = "$anchor"

  /// Sets carried values at their placements.
  func send(_ carried: [JSONValue.Member], in editor: inout RequestEditor) throws(PageError) {
    for member in carried {
      guard let placement = placement(ofCarried: member.name) else { continue }
      try CursorCheck.check(member.value, by: placement)
      try editor.set(member.value, at: placement, pageSize: pageSize)
    }
  }

  private func placement(ofCarried name: String) -> Pagination.Placement? {
    switch (name, pagination.policy.expiry) {
    case (Self.resumption, _): pagination.resume?.send
    case (Self.anchor, .reanchor(let placement, _)): placement
    default: pagination.request.carry[name]?.send
    }
  }

  // MARK: Requests beside those for pages

  /// Returns the request that opens a walk's resource at the server; nil for none.
  package func opening() throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.open else { return nil }
    return try request(rule, at: nil)
  }

  /// Returns the request that closes a walk's resource at a position; nil for none.
  package func closing(at bookmark: Bookmark) throws(PageError) -> PageRequest? {
    guard let rule = pagination.policy.close else { return nil }
    return try request(rule, at: bookmark)
  }

  /// Returns a side request; nil if a value that it sends is missing.
  private func request(
    _ rule: Pagination.SideRequest, at bookmark: Bookmark?
  ) throws(PageError) -> PageRequest? {
    guard let method = HTTPRequest.Method(rawValue: rule.method) else {
      throw PageError(.invalidArgument, "\"\(rule.method)\" is not a method of HTTP.")
    }
    var request = base
    request.method = method
    var editor = RequestEditor(request)
    editor.keep(rule.keep)
    if rule.keep == .none { editor.dropBody() }
    try editor.change(Pagination.RequestChange(url: rule.url, set: rule.set))
    for (name, placement) in rule.send.sorted(by: { $0.key < $1.key }) {
      guard let value = value(of: name, in: bookmark) else { return nil }
      try CursorCheck.check(value, by: placement)
      if placement == .url {
        try editor.follow(value, policy: pagination.policy.links, home: home)
      } else {
        try editor.set(value, at: placement, pageSize: pageSize)
      }
    }
    request = try editor.request()
    try checkBodyStaysHome(request)
    return request
  }

  private func value(of name: String, in bookmark: Bookmark?) -> JSONValue? {
    guard let bookmark else { return nil }
    if name == "cursor" { return bookmark.target == .start ? nil : bookmark.value }
    return bookmark.carried.first { $0.name == name }?.value
  }

  // MARK: Requests that a page describes, as STAC has them

  /// Returns the request that a page describes, with no credentials but the walk's own.
  func request(
    describedBy description: JSONValue, _ bookmark: Bookmark
  ) throws(PageError) -> PageRequest {
    try CursorCheck.check(description, by: .request)
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
      request.headerFields = request.headerFields.filtered { isProtected($0.name) }
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
    try checkBodyStaysHome(request)
    try checkMethodOverride(request)
    return request
  }

  /// Whether a page's description must not set the field. A closure may add a secret that the first
  /// request lacks, such as a session's.
  private func isProtected(_ name: HTTPField.Name) -> Bool {
    Self.protectedFields.contains(name)
      || SecretName.matches(name.rawName) && (!hasClosure || base.headerFields.contains(name))
  }

  private static let protectedFields: Set<HTTPField.Name> = [
    .authorization, .proxyAuthorization, .cookie, .accept, .acceptLanguage, .userAgent,
  ]

  private func setHeaders(
    _ headers: JSONValue?, in request: inout PageRequest
  ) throws(PageError) {
    guard case .object(let members)? = headers else { return }
    for member in members {
      let field = try RequestEditor.field(member.name)
      guard !isProtected(field), !Self.forbidden.contains(field.canonicalName),
        !field.canonicalName.hasPrefix("proxy-")
      else { continue }
      request.headerFields[field] = member.value.plainText
    }
  }

  /// Fields that no page may set: those of the connection, and those that override the method.
  private static let forbidden: Set<String> = [
    "connection", "content-length", "expect", "host", "http2-settings", "keep-alive", "te",
    "trailer", "transfer-encoding", "upgrade", "x-http-method", "x-http-method-override",
    "x-method-override",
  ]

  private func body(_ body: JSONValue?, merges: Bool) -> PageRequest.Body {
    guard merges, case .json(.object(var members)) = base.body else {
      return body.map(PageRequest.Body.json) ?? (merges ? base.body : .none)
    }
    guard case .object(let new)? = body else { return base.body }
    var places = Dictionary(
      zip(members.map(\.name), members.indices), uniquingKeysWith: { first, _ in first })
    for member in new {
      if let index = places[member.name] {
        members[index].value = member.value
      } else {
        places[member.name] = members.count
        members.append(member)
      }
    }
    return .json(.object(members))
  }
}
