import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination
import QuireTesting
import QuireXML
import Testing

@Suite("Items as they arrive, by the rules of a description", .timeLimit(.minutes(15)))
struct DeliveryRuleTests {
  private func pagination(
    _ policy: Pagination.Policy = Pagination.Policy(), end: [Pagination.End] = []
  ) -> Pagination {
    Pagination(
      next: .body("//next"), send: .query("after"), end: end, items: "/list/item", policy: policy)
  }

  private func cursor(_ pagination: Pagination, _ transport: FeedTransport) -> Cursor<Int> {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    return PageClient(transport: transport, configuration: configuration).cursor(
      at: "https://api.test/items", pagination: pagination, decoder: XMLPageDecoder<Int>(),
      delivery: .asItArrives)
  }

  @Test("items as they arrive are refused before the first request where a rule needs whole pages")
  func refused() async throws {
    let rows = [
      ("policy.overlap", pagination(Pagination.Policy(overlap: 1))),
      ("policy.reversesItems", pagination(Pagination.Policy(reversesItems: true))),
      ("the end rule noNewItems", pagination(end: [.noNewItems(by: "/id")])),
    ]
    for (rule, pagination) in rows {
      let transport = FeedTransport([])
      let error = await #expect(throws: PageError.self) {
        for try await _ in cursor(pagination, transport) {}
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.contains(rule) == true, "\(error?.message ?? "")")
      #expect(transport.urls.isEmpty)
    }
  }

  @Test(
    "what a walk holds at the server is opened before the first part, and closed from inside it")
  func lifecycle() async throws {
    var description = pagination(
      Pagination.Policy(
        open: Pagination.SideRequest("GET", url: "/open"),
        close: Pagination.SideRequest("GET", url: "/close", send: ["pit": .query("pit")])))
    description.request.carry = [
      "pit": Pagination.CarriedValue(from: .body("//pit"), send: .query("pit"))
    ]
    let transport = FeedTransport([
      [.bytes("<opened><pit>P1</pit></opened>")],
      [.bytes("<list><item>1</item><item>2</ite"), .bytes("m><next>x</next></list>")],
      [.bytes("<list/>")],
    ])
    let walk = cursor(description, transport).walk()
    var pages = walk.makeAsyncIterator()
    let first = try await pages.next()
    #expect(first?.items == [1] && first?.hasMoreParts == true)
    await walk.close()
    #expect(
      transport.urls == [
        "https://api.test/open", "https://api.test/items?pit=P1", "https://api.test/close?pit=P1",
      ])
    #expect(transport.open == 0)
  }

  @Test("a forgotten cursor is recovered from before the first part of a page")
  func recovery() async throws {
    let description = pagination(
      Pagination.Policy(
        failure: [Pagination.FailureRule(when: .value("/error"), .expired)], expiry: .restart))
    let transport = FeedTransport([
      [.bytes("<list><item>1</item>"), .bytes("<next>x</next></list>")],
      [.bytes("<error>gone</error>")],
      [.bytes("<list><item>2</item>"), .bytes("<item>3</item></list>")],
    ])
    var recovered: [PageRecovery?] = []
    var items: [Int] = []
    for try await page in cursor(description, transport) {
      items += page.items
      recovered.append(page.http?.recovery)
    }
    #expect(items == [1, 2, 3])
    #expect(recovered.contains(.restarted))
    #expect(transport.urls.count == 3)
  }
}
