import HTTPTypes
package import QuireCore

extension PaginationEngine {
  /// The request for the page at `position`; nil and `.start` are the first page.
  ///
  /// Throws `invalidArgument` for a position of another listing, `invalidCursor` for one that cannot
  /// be sent, `crossOriginLink` and `refusedLink` for a link that the policy does not follow.
  package func request(at position: Position?) throws(PageError) -> PageRequest {
    guard let position, position.value != nil else { return first }
    let bookmark = try Bookmark(position)
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
    try CursorCheck.check(bookmark.value)
    let send = routes[bookmark.route].send
    if send == .url { return try follow(bookmark) }
    if case .url = bookmark.target {
      throw PageError(
        .invalidArgument,
        "A position holds a link, and this description follows none. Use positions only with the "
          + "description that made them.")
    }
    guard custom != nil || bookmark.counts(like: routes[bookmark.route].next) else {
      throw PageError(
        .invalidArgument,
        "A position holds \(ServerText(bookmark.value.plainText, limit: 64)), and this description counts in another way. "
          + "Use positions only with the description that made them.")
    }
    var editor = RequestEditor(base)
    editor.keep(pagination.request.keep)
    try editor.addConstants(pagination.request.always)
    if let change = pagination.request.then { try editor.change(change) }
    if pagination.request.method == .get { editor.becomeGet() }
    if case .all(let sources) = routes[bookmark.route].next { editor.drop(sources.keys) }
    if bookmark.isBackward { try turnBack(&editor) }
    let value = try routes[bookmark.route].value(of: bookmark.value, pageSize: pageSize)
    try editor.send(value, by: send, pageSize: pageSize)
    try self.send(bookmark.carried, in: &editor)
    return try editor.request()
  }

  /// The request for a link: its own bytes, our fields and body.
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
    try keepBodyHome(request)
    return request
  }

  /// The address of a link that the policy follows, byte for byte but for its fragment.
  func target(of text: String) throws(PageError) -> String {
    let link: URLReference
    do {
      link = try URLReference(text)
    } catch {
      throw PageError(.refusedLink, "The next link cannot be followed: \(error.message)")
    }
    var target = try pagination.policy.links.target(of: link, home: home)
    target.fragment = nil
    return target == link ? text : target.text
  }

  /// Throws `refusedLink` for a body on its way to another origin, as along a redirect.
  func keepBodyHome(_ request: PageRequest) throws(PageError) {
    guard request.body != .none else { return }
    let origin = try Origin(url: request.url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take the request's body from \(home) to \(origin.shown). If that is right, "
          + "start a walk there.")
    }
  }
}
