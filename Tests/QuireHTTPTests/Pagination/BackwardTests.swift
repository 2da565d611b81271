import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pages backwards, and walks for changes")
struct BackwardTests {
  private func engine(
    _ pagination: Pagination, url: String = "https://a.test/l", body: PageRequest.Body = .none
  ) throws -> PaginationEngine {
    let first = PageRequest(method: body == .none ? .get : .post, url: url, body: body)
    return try PaginationEngine(pagination, first: first, home: Origin(url: url))
  }

  private func answer(
    _ engine: PaginationEngine, at position: Position, _ page: String
  ) throws -> Continuation {
    let request = try engine.builder.request(at: position)
    let answer = PageAnswer(
      request: request, url: request.url, status: 200, headerFields: [:],
      document: try JSONDocument(Array(page.utf8)), position: position)
    let count = try engine.items.paths.compactMap { try answer.document.count(at: $0) }.first ?? 0
    return engine.finder.continuation(after: answer, itemCount: count)
  }

  @Test("A page by keys leads to the one before it, and that one's flag is about its own direction")
  func keys() throws {
    var stripe = Pagination.stripe
    stripe.previous = Pagination.PreviousRule(
      .firstItem("/id"), send: .query("ending_before"), end: [.flag("/has_more")])
    let engine = try engine(stripe, url: "https://a.test/l?limit=2")
    let first = try answer(
      engine, at: .start, #"{"has_more":true,"data":[{"id":"c1"},{"id":"c2"}]}"#)
    #expect(first.previous == nil)
    let second = try answer(
      engine, at: try #require(first.next), #"{"has_more":false,"data":[{"id":"c3"}]}"#)
    #expect(second.next == nil)
    let back = try #require(second.previous)
    #expect(try engine.builder.request(at: back).url == "https://a.test/l?limit=2&ending_before=c3")
    let again = try answer(
      engine, at: back, #"{"has_more":false,"data":[{"id":"c1"},{"id":"c2"}]}"#)
    #expect(again.previous == nil)
    #expect(
      try engine.builder.request(at: again.next).url
        == "https://a.test/l?limit=2&starting_after=c2")
    let middle = try answer(
      engine, at: back, #"{"has_more":true,"data":[{"id":"c1"},{"id":"c2"}]}"#)
    #expect(middle.previous != nil)
  }

  @Test("V67: Relay pages backwards by last and before")
  func relay() throws {
    var relay = Pagination.relay.items(at: "/data/c")
    relay.previous = Pagination.PreviousRule(
      .body("/data/c/pageInfo/startCursor"), send: .jsonBody("/variables/before"),
      end: [.flag("/data/c/pageInfo/hasPreviousPage")], size: .jsonBody("/variables/last"))
    let engine = try engine(relay, body: .json(["query": "q", "variables": ["first": 2]]))
    let page =
      #"{"data":{"c":{"pageInfo":{"hasNextPage":true,"hasPreviousPage":true,"startCursor":"S","endCursor":"E"},"nodes":[{},{}]}}}"#
    let first = try answer(engine, at: .start, page)
    let second = try answer(engine, at: try #require(first.next), page)
    #expect(
      try engine.builder.request(at: second.previous).body
        == .json(["query": "q", "variables": ["last": 2, "before": "S"]]))
  }

  @Test("A link to the page before counts on the first page too")
  func links() throws {
    var links = Pagination.linkHeader.items(at: "/items")
    links.next = .body("/next")
    links.previous = Pagination.PreviousRule(.body("/previous"))
    let engine = try engine(links)
    let page = try answer(engine, at: .start, #"{"items":[1],"previous":"?p=0"}"#)
    let previous = try #require(page.previous)
    #expect(try engine.builder.request(at: previous).url == "https://a.test/l?p=0")
  }

  @Test("A walk for changes sends its token with every page")
  func resumption() throws {
    let engine = try engine(.googleSync, url: "https://a.test/l?x=1")
    let last = try answer(engine, at: .start, #"{"items":[],"nextSyncToken":"s 1"}"#)
    let resume = try #require(last.resume)
    #expect(try engine.builder.request(at: resume).url == "https://a.test/l?x=1&syncToken=s%201")
    let page = try answer(engine, at: resume, #"{"items":[1],"nextPageToken":"t"}"#)
    #expect(
      try engine.builder.request(at: page.next).url
        == "https://a.test/l?x=1&pageToken=t&syncToken=s%201")
    #expect(page.resume == nil)
  }
}
