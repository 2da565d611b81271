import Foundation
import HTTPTypes
import Hummingbird
import Quire
import QuireFeeds
import QuireServing

/// The routes of the server.
struct Site: Sendable {
  let store: any FeedStore
  let aggregator: Aggregator
  let metrics: Metrics
  let listing: PagedListing

  var router: Router<BasicRequestContext> {
    let router = Router()
    router.add(middleware: SafetyFields())
    router.get("/") { request, _ in try await page(request) }
    router.get("api/entries") { request, _ in try await entries(request) }
    router.post("api/entries/:number/read") { request, context in
      try await mark(request, context.parameters.get("number"))
    }
    router.get("atom.xml") { request, _ in try await atom(request) }
    router.get("feeds") { _, _ in
      Self.html(HealthPage(subscriptions: try await aggregator.subscriptions()).text)
    }
    router.post("feeds") { request, _ in try await subscribe(request) }
    router.get("opml") { _, _ in
      var response = Self.response(try await aggregator.list().document, "text/x-opml+xml")
      response.headers[.contentDisposition] = "attachment; filename=\"feeds.opml\""
      return response
    }
    router.get("metrics") { _, _ in
      let count = try await aggregator.subscriptions().count
      return Self.response(metrics.text(subscriptions: count), "text/plain; version=0.0.4")
    }
    router.get("health") { _, _ in
      _ = try await store.entries(EntrySelection(), at: nil, limit: 1)
      return Self.response("{\"status\":\"ok\"}", "application/json")
    }
    router.get("reader.css") { _, _ in Self.file(PackageResources.reader_css, "text/css") }
    router.get("reader.js") { _, _ in Self.file(PackageResources.reader_js, "text/javascript") }
    return router
  }

  // MARK: Entries

  /// Reads a request, and returns the selection that it asks for with a page of its entries.
  private func found(
    _ request: Request
  ) async throws -> (asked: PagedRequest, selection: EntrySelection, page: Page<StoredEntry>) {
    // A sealed cursor is valid only for the path and the parameters that it was created for. With
    // one path for all, web page, JSON and Atom use the same cursors.
    let parameters = request.uri.queryParameters
    let query = ["source", "q", "unread", "cursor", "per_page"].compactMap { name in
      parameters[Substring(name)].flatMap { value in
        value.isEmpty ? nil : "\(name)=\(String(value).queryValue)"
      }
    }.joined(separator: "&")
    var head = request.head
    head.path = "/entries" + (query.isEmpty ? "" : "?" + query)
    let asked = try listing.read(head)
    let selection = EntrySelection(
      subscription: asked.parameter("source").flatMap { $0.isEmpty ? nil : $0 },
      isUnread: asked.parameter("unread") == "1",
      text: asked.parameter("q").flatMap { $0.isEmpty ? nil : $0 })
    let page = try await store.entries(selection, at: asked.position, limit: asked.size)
    return (asked, selection, page)
  }

  private func page(_ request: Request) async throws -> Response {
    try await refusing {
      let (asked, selection, page) = try await found(request)
      // Only the cursor of this answer is used; its items are placeholders.
      let answer = try listing.answer(page, to: asked) { _ in Array("0".utf8) }
      let body = try JSONDecoder().decode(Continuation.self, from: Data(answer.body))
      let reader = ReaderPage(
        entries: page.items, subscriptions: try await aggregator.subscriptions(),
        selection: selection, next: body.nextCursor)
      return Self.html(reader.text)
    }
  }

  private func entries(_ request: Request) async throws -> Response {
    try await refusing {
      let (asked, _, page) = try await found(request)
      let names = try await names()
      let encoder = JSONEncoder()
      let answer = try listing.answer(page, to: asked) { entry in
        Array(try encoder.encode(ShownEntry(entry, source: names[entry.subscription])))
      }
      return Self.response(answer)
    }
  }

  private struct Continuation: Decodable {
    let nextCursor: String?
    enum CodingKeys: String, CodingKey { case nextCursor = "next_cursor" }
  }

  private func names() async throws -> [String: String] {
    try await aggregator.subscriptions().names
  }

  /// Runs `body`, and answers a request that the listing refuses, such as one with a forged cursor.
  private func refusing(_ body: () async throws -> Response) async throws -> Response {
    do {
      return try await body()
    } catch {
      return Self.response(try listing.refusal(of: error))
    }
  }

  /// Marks an entry as read, or as unread with `read=0` in the body.
  private func mark(_ request: Request, _ number: String?) async throws -> Response {
    guard let number = number.flatMap({ Int64($0) }) else { throw HTTPError(.notFound) }
    let form = try await form(request)
    try await store.apply(.mark([number], isRead: form["read"] != "0"))
    return form["from"] == "page" ? Self.back(to: "/") : Response(status: .noContent)
  }

  // MARK: Feeds

  /// Subscribes to one address (`url`), or to all feeds of an OPML list (`opml`).
  private func subscribe(_ request: Request) async throws -> Response {
    let form = try await form(request)
    do {
      if let list = form["opml"], !list.isEmpty {
        _ = try await aggregator.add(OPML(Array(list.utf8)))
      } else {
        try await aggregator.subscribe(to: form["url"] ?? "")
      }
    } catch let error as PageError {
      throw HTTPError(.badRequest, message: error.description)
    }
    return Self.back(to: "/feeds")
  }

  /// Reads the body of a request as a form (`application/x-www-form-urlencoded`), at most 2 MiB.
  private func form(_ request: Request) async throws -> [String: String] {
    let body = try await request.body.collect(upTo: 2 << 20)
    var form: [String: String] = [:]
    for pair in String(buffer: body).split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1).map {
        $0.replacing("+", with: " ").removingPercentEncoding ?? ""
      }
      if let name = parts.first { form[name] = parts.count > 1 ? parts[1] : "" }
    }
    return form
  }

  // MARK: Atom

  /// Serves the merged entries as an Atom feed, paged by links (RFC 5005).
  private func atom(_ request: Request) async throws -> Response {
    try await refusing {
      let (asked, _, page) = try await found(request)
      let answer = try listing.answer(page, to: asked) { _ in Array("0".utf8) }
      let next = try JSONDecoder().decode(Continuation.self, from: Data(answer.body)).nextCursor
      let feed = AtomFeed(
        entries: page.items, names: try await names(),
        origin: "http://" + (request.head.authority ?? "localhost"), next: next)
      return Self.response(feed.text, "application/atom+xml")
    }
  }

  // MARK: Responses

  static func html(_ text: String) -> Response { response(text, "text/html") }

  static func response(_ text: String, _ mediaType: String) -> Response {
    Response(
      status: .ok, headers: [.contentType: "\(mediaType); charset=utf-8"],
      body: .init(byteBuffer: ByteBuffer(string: text)))
  }

  static func response(_ page: PagedResponse) -> Response {
    Response(
      status: page.head.status, headers: page.head.headerFields,
      body: .init(byteBuffer: ByteBuffer(bytes: page.body)))
  }

  private static func file(_ bytes: [UInt8], _ mediaType: String) -> Response {
    response(String(decoding: bytes, as: UTF8.self), mediaType)
  }

  private static func back(to path: String) -> Response {
    Response(status: .seeOther, headers: [.location: path])
  }
}

/// Allows pages to load only the server's own files, whatever feeds contain, and accepts changes
/// only from its own pages.
struct SafetyFields<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context,
    next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    if request.method != .get, request.method != .head,
      let name = HTTPField.Name("Sec-Fetch-Site"), let site = request.headers[name],
      site != "same-origin"
    {
      throw HTTPError(.forbidden, message: "Changes are taken from the server's own pages.")
    }
    var response = try await next(request, context)
    let fields: KeyValuePairs<String, String> = [
      "Content-Security-Policy":
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    ]
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { response.headers[name] = value }
    }
    return response
  }
}
