import Foundation
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport
import Testing

@testable import QuireListModel

/// Lists whose servers say that a page has not changed (304).
@MainActor @Suite(.timeLimit(.minutes(15))) struct NotModifiedTests {
  private typealias Model = ListModel<Row, Int>

  private func cursor(_ client: PageClient, _ url: String) -> Cursor<Row> {
    client.cursor(of: Row.self, at: url, pagination: Pagination(next: .linkHeader()))
  }

  /// A model of a script; its requests must come in this order, with these fields.
  private func model(
    _ script: String, _ store: MemoryListStore<Row>, _ validators: PageValidators? = nil,
    deriving: (Cursor<Row>) -> Cursor<Row> = { $0 }
  ) throws -> (Model, ScriptedTransport) {
    let transport = ScriptedTransport(try ScriptedExchange.script(script))
    var client = PageClient(transport: transport)
    client.configuration.validators = validators
    client.configuration.retry = .never
    let cursor = deriving(cursor(client, "https://api.test/list"))
    return (ListModel(cursor, options: .byHand, store: store), transport)
  }

  private static let first = """
    > GET https://api.test/list
    > !If-None-Match
    > !If-Modified-Since
    < 200
    < ETag: "one"
    < Link: </list?page=2>; rel="next"
    [{"id": 0, "text": ""}, {"id": 1, "text": ""}]
    > GET https://api.test/list?page=2
    > !If-None-Match
    < 200
    < Last-Modified: Tue, 03 Jun 2003 09:39:21 GMT
    [{"id": 2, "text": ""}]
    """

  private static let unchanged = """
    > GET https://api.test/list
    > If-None-Match: "one"
    < 304
    < ETag: "uno"
    > GET https://api.test/list?page=2
    > If-Modified-Since: Tue, 03 Jun 2003 09:39:21 GMT
    < 304
    """

  /// Shows everything, so that what is stale is loaded again.
  private func scrollThrough(_ model: Model) async {
    while model.snapshot.list.isStale {
      model.report(visible: 0..<model.items.count)
      await Task.yield()
    }
  }

  /// What a first run of the program leaves in its store.
  private func stored(_ validators: PageValidators? = nil) async throws -> MemoryListStore<Row> {
    let store = MemoryListStore<Row>()
    let (model, transport) = try model(Self.first, store, validators)
    try await model.start()
    try await model.loadMore()
    #expect(model.shown == "0 1 2" && !model.snapshot.list.isUnchanged)
    await model.settleStore()
    #expect(transport.unplayed.isEmpty)
    return store
  }

  @Test(
    "18-Store, 17-Validators: stored pages are asked for by their validators, a 304 keeps each, and the state says so"
  )
  func keeps() async throws {
    let store = try await stored()
    let (model, transport) = try model(Self.unchanged, store)
    try await model.start()
    #expect(model.shown == "0 1 2" && model.snapshot.list.isUnchanged)
    #expect(model.snapshot.list.isStale && model.state == .exhausted)
    await scrollThrough(model)
    #expect(model.shown == "0 1 2" && model.state == .exhausted)
    #expect(model.snapshot.list.pages.allSatisfy { $0.isUnchanged && !$0.items.isEmpty })
    // The validators that a 304 names are the page's from then on, in the store, too.
    await model.settleStore()
    let kept = try JSONDecoder().decode(
      [StoredPage<Row>].self, from: JSONEncoder().encode(await store.pages()))
    #expect(kept.map(\.version?.entityTag) == ["\"uno\"", nil])
    #expect(kept.map { $0.items.map(\.id) } == [[0, 1], [2]])
    let next = try self.model(
      """
      > GET https://api.test/list
      > If-None-Match: "uno"
      < 304
      """, MemoryListStore(kept)
    ).0
    try await next.start()
    #expect(next.shown == "0 1 2" && next.snapshot.list.isUnchanged)
    #expect(transport.unplayed.isEmpty)
  }

  @Test("18-Store: a cursor that is retried, observed and filtered asks by the validators, too")
  func keepsBehindTransforms() async throws {
    let store = try await stored()
    let (model, transport) = try model(Self.unchanged, store) { cursor in
      cursor.retrying(attempts: 2).observed { _ in }.filter { _ in true }
    }
    try await model.start()
    await scrollThrough(model)
    #expect(model.shown == "0 1 2" && model.snapshot.list.isUnchanged)
    #expect(transport.unplayed.isEmpty)
  }

  @Test("18-Store: a page that has changed is read whole, and has new validators")
  func changes() async throws {
    let store = try await stored()
    let (model, transport) = try model(
      """
      > GET https://api.test/list
      > If-None-Match: "one"
      < 304
      > GET https://api.test/list?page=2
      > If-Modified-Since: Tue, 03 Jun 2003 09:39:21 GMT
      < 200
      < ETag: "two"
      [{"id": 2, "text": "!"}, {"id": 3, "text": ""}]
      """, store)
    try await model.start()
    await scrollThrough(model)
    #expect(model.shown == "0 1 2! 3" && transport.unplayed.isEmpty)
    await model.settleStore()
    #expect(await store.pages().map(\.version?.entityTag) == ["\"one\"", "\"two\""])
    #expect(await store.pages().map(\.version?.lastModified) == [nil, nil])
  }

  @Test("18-Store: a new first page takes the place of all, and what follows is read whole")
  func replaces() async throws {
    let store = try await stored()
    let (model, transport) = try model(
      """
      > GET https://api.test/list
      > If-None-Match: "one"
      < 200
      < ETag: "three"
      < Link: </list?page=2>; rel="next"
      [{"id": 9, "text": ""}]
      > GET https://api.test/list?page=2
      > !If-None-Match
      > !If-Modified-Since
      < 200
      [{"id": 0, "text": ""}]
      """, store)
    try await model.start()
    #expect(model.shown == "9" && !model.snapshot.list.isUnchanged)
    try await model.loadMore()
    #expect(model.shown == "9 0" && transport.unplayed.isEmpty)
    await model.settleStore()
    #expect(await store.pages().map(\.version?.entityTag) == ["\"three\"", nil])
  }

  @Test("18-Store: offline the pages stay with their validators, and a 304 keeps them later")
  func offline() async throws {
    let store = try await stored()
    let (model, _) = try model("", store)
    await #expect(throws: PageError.self) { try await model.start() }
    #expect(model.shown == "0 1 2" && model.snapshot.refreshError != nil)
    await model.settleStore()
    let (again, transport) = try self.model(Self.unchanged, store)
    try await again.start()
    await scrollThrough(again)
    #expect(again.shown == "0 1 2" && transport.unplayed.isEmpty)
  }

  @Test(
    "18-Store: what the client's other walks have seen of a page is not what a list has: it is never empty"
  )
  func validators() async throws {
    let validators = PageValidators()
    let store = try await stored(validators)
    #expect(validators.snapshot.count == 2)
    // Nothing is held, so that everything is read, whatever the client knows.
    let (model, transport) = try model(Self.first, MemoryListStore(), validators)
    try await model.start()
    try await model.loadMore()
    #expect(model.shown == "0 1 2" && transport.unplayed.isEmpty)
    // And by what is held, whatever else the client has seen since.
    validators.removeAll()
    let (other, rest) = try self.model(Self.unchanged, store, validators)
    try await other.start()
    await scrollThrough(other)
    #expect(other.shown == "0 1 2" && rest.unplayed.isEmpty)
  }

  @Test("18-Store: validators go to the request that gave them, and to no other")
  func otherRequest() async throws {
    let store = try await stored()
    let transport = ScriptedTransport(
      try ScriptedExchange.script(
        """
        > GET https://api.test/list?state=open
        > !If-None-Match
        < 200
        [{"id": 7, "text": ""}]
        """))
    let model = ListModel(
      cursor(PageClient(transport: transport), "https://api.test/list?state=open"),
      options: .byHand, store: store)
    try await model.start()
    #expect(model.shown == "7" && !model.snapshot.list.isStale)
  }

  @Test(
    "18-Store: pages made of others are read whole; those that a closure changes one by one are not"
  )
  func transforms() async throws {
    let script = """
      > GET https://api.test/list
      < 200
      < ETag: "one"
      [{"id": 0, "text": ""}, {"id": 1, "text": ""}]
      > GET https://api.test/list
      """
    for (isConditional, change) in [
      (true, { $0.map { Row(id: $0.id + 10) } }),
      (false, { $0.deduplicated(by: \.id) }), (false, { $0.paged(by: 2) }),
    ] as [(Bool, (Cursor<Row>) -> Cursor<Row>)] {
      let answer =
        isConditional
        ? "> If-None-Match: \"one\"\n< 304"
        : "> !If-None-Match\n< 200\n[{\"id\": 0, \"text\": \"\"}, {\"id\": 1, \"text\": \"\"}]"
      let transport = ScriptedTransport(try ScriptedExchange.script(script + "\n" + answer))
      let list = PagedList(
        change(cursor(PageClient(transport: transport), "https://api.test/list")))
      try await list.loadMore()
      let items = list.snapshot.items
      try await list.reload()
      #expect(list.snapshot.items == items && items.count == 2)
      #expect(list.snapshot.isUnchanged == isConditional && transport.unplayed.isEmpty)
    }
  }

  @Test("H-8, 18-Store: a list goes on behind an unchanged page whose link repeats a secret")
  func secrets() async throws {
    let url = "https://api.test/list?api_key=hunter2hunter2"
    let transport = ScriptedTransport(
      try ScriptedExchange.script(
        """
        > GET \(url)
        < 200
        < ETag: "one"
        < Link: <\(url)&page=2>; rel="next"
        [{"id": 0, "text": ""}]
        > GET \(url)
        > If-None-Match: "one"
        < 304
        > GET \(url)&page=2
        < 200
        [{"id": 1, "text": ""}]
        """))
    let list = PagedList(cursor(PageClient(transport: transport), url))
    try await list.loadMore()
    try await list.reload()
    #expect(list.snapshot.isUnchanged)
    try await list.loadMore()
    #expect(list.snapshot.items.map(\.id) == [0, 1] && transport.unplayed.isEmpty)
  }

  @Test(
    "18-Store, 17-Validators: over a connection a program that starts again reads no page twice")
  func loopback() async throws {
    let server = try FaultServer { request in
      let page = Int(request.target.split(separator: "=").last ?? "") ?? 1
      var headers = [("ETag", "\"\(page)\"")]
      if page < 3 { headers.append(("Link", "</list?page=\(page + 1)>; rel=\"next\"")) }
      if request.values(of: "If-None-Match") == ["\"\(page)\""] {
        let fields = headers.map { "\($0): \($1)\r\n" }.joined()
        return [.write(Array("HTTP/1.1 304 Not Modified\r\n\(fields)\r\n".utf8))]
      }
      return [.respond("[{\"id\": \(page), \"text\": \"\"}]", headers: headers)]
    }
    defer { server.stop() }
    let store = MemoryListStore<Row>()
    func run() -> Model {
      let client = PageClient(transport: CurlTransport())
      return ListModel(
        cursor(client, server.url("/list?page=1")), options: .byHand, store: store)
    }
    let first = run()
    while try await first.loadMore() {}
    await first.settleStore()
    let second = run()
    try await second.start()
    await scrollThrough(second)
    #expect(second.shown == "1 2 3" && second.state == .exhausted)
    #expect(second.snapshot.list.pages.allSatisfy { $0.isUnchanged })
    #expect(
      server.requests.map { $0.values(of: "If-None-Match").first } == [
        nil, nil, nil, "\"1\"", "\"2\"", "\"3\"",
      ])
    // The server goes; the list stays.
    await second.settleStore()
    server.refuseConnections()
    var client = PageClient(transport: CurlTransport())
    client.configuration.retry = .never
    let third = ListModel(
      cursor(client, server.url("/list?page=1")), options: .byHand, store: store)
    await #expect(throws: PageError.self) { try await third.start() }
    #expect(third.shown == "1 2 3" && third.snapshot.refreshError != nil)
  }
}
