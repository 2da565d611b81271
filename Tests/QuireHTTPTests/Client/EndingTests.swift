import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What is taken for a page, for the end of a listing, and for a count.
@Suite("Endings", .timeLimit(.minutes(15)))
struct EndingTests {
  private struct Run {
    var pages: [[Int]] = []
    var error: PageError?
    var report: WalkReport
    var requests: [String]

    var codes: [WalkReport.Warning.Code] { report.warnings.map(\.code) }

    /// The total that the walk fell short of; nil for an end without doubt, -1 for no end.
    var declared: Int? {
      switch report.end {
      case .exhausted: nil
      case .truncationSuspected(let declared): declared
      default: -1
      }
    }
  }

  private func run(
    _ pagination: Pagination, pageSize: Int? = nil, retry: RetryPolicy = .never,
    _ responses: [TransportResponse]
  ) async -> Run {
    let server = CannedServer(responses)
    var configuration = PageClient.Configuration()
    configuration.retry = retry
    let client = PageClient(transport: server, configuration: configuration)
    let walk = client.cursor(
      at: "https://a.test/l", pagination: pagination, pageSize: pageSize,
      decoder: JSONPageDecoder<Int>()
    ).walk()
    var pages: [[Int]] = []
    var failure: PageError?
    do {
      for try await page in walk { pages.append(page.items) }
    } catch {
      failure = error as? PageError
    }
    return Run(
      pages: pages, error: failure, report: walk.report, requests: server.requests.map(\.url))
  }

  private func page(_ items: [Int], _ rest: String = "") -> TransportResponse {
    .json("{\"items\":\(items)\(rest.isEmpty ? "" : ",")\(rest)}")
  }

  private let byLink = Pagination(next: .linkHeader, items: "/items")
  private let byNumber = Pagination.pages.items(at: "/items")
  private let byToken = Pagination(next: .body("/next"), send: .query("t"), items: "/items")

  // MARK: Empty bodies

  @Test("A flag that is neither true nor false is no end, whatever a missing one means")
  func unreadableFlag() async throws {
    for (absence, isRefused) in [(Pagination.FlagRule.Absence.end, true), (.ignore, false)] {
      let pagination = Pagination(
        next: .pageNumber, send: .query("page"),
        end: [.flag("/more", ifAbsent: absence), .emptyPage], items: "/items")
      let run = await run(pagination, [page([1], "\"more\":\"some\""), page([])])
      #expect(run.pages.first == [1])
      #expect(run.error?.code == (isRefused ? .shape : nil), "\(absence)")
      #expect(run.error?.message.contains("some") ?? !isRefused)
    }
    let ended = await run(
      Pagination(
        next: .pageNumber, send: .query("page"), end: [.flag("/more", ifAbsent: .end)],
        items: "/items"), [page([1], "\"more\":\"\"")])
    #expect(ended.error == nil && ended.requests.count == 1)
  }

  @Test("12-L1, H15, J10: a 200 without a body is no page, first or later, whatever tells the end")
  func emptyBody() async {
    let link = ["Link": "</l?p=2>; rel=\"next\""]
    for pagination in [byLink, byNumber, byToken] {
      let first = await run(pagination, [.status(200)])
      #expect(first.error?.code == .truncated)
      let second = await run(
        pagination, [.json(#"{"items":[1],"next":"a"}"#, link), .status(200)])
      #expect(second.pages == [[1]])
      #expect(second.error?.code == .truncated)
    }
  }

  @Test("12-L1: a page that came without its body is asked for again")
  func emptyBodyRetried() async {
    let run = await run(
      byToken, retry: RetryPolicy(attempts: 3, delay: .zero),
      [page([1], #""next":"a""#), .status(200), page([2])])
    #expect(run.error == nil)
    #expect(run.pages == [[1], [2]])
    #expect(run.report.traffic.retries == 1)
  }

  @Test(
    "12-L1, H15: 204 and 205 are an empty page or the end where the description says so, else an error",
    arguments: [204, 205])
  func bodyless(_ status: Int) async {
    let plain = await run(byToken, [page([1], #""next":"a""#), .status(status)])
    #expect(plain.error?.code == .status)
    #expect(plain.error?.remedies.contains { $0.values == ["status:\(status)"] } == true)
    var ending = byToken
    ending.end = [.status([status])]
    let ended = await run(ending, [page([1], #""next":"a""#), .status(status)])
    #expect(ended.error == nil)
    #expect(ended.pages == [[1]])
    var empty = byNumber
    empty.end = [.status([404])]
    empty.policy.failure = [Pagination.FailureRule(when: .status(status), .empty)]
    let passed = await run(empty, [page([1]), .status(status), page([3]), .status(404)])
    #expect(passed.error == nil)
    #expect(passed.pages == [[1], [], [3]])
  }

  @Test(
    "12-L1, 15-Outage: an error status that means an empty listing is a page, and pays for retries")
  func emptyPageCounts() async throws {
    var pagination = byNumber
    pagination.policy.failure = [Pagination.FailureRule(when: .status(404), .empty)]
    let client = PageClient(transport: CannedServer([.status(404)]))
    let health = client.budget.health(of: try Origin(url: "https://a.test/"))
    health.retried()
    let walk = client.cursor(
      at: "https://a.test/l", pagination: pagination, decoder: JSONPageDecoder<Int>()
    ).walk()
    #expect(try await walk.next()?.http?.head.status.code == 404)
    #expect(try await walk.next() == nil)
    // A page pays for a tenth of a retry.
    #expect(health.debt == 0)
  }

  @Test(
    "12-L1: an answer that means the end is a failure where the page before said that more follows")
  func brokenPromise() async {
    for status in [204, 404] {
      var flagged = byNumber
      flagged.end = [.flag("/more"), .status([status])]
      let flag = await run(flagged, [page([1], #""more":true"#), .status(status)])
      #expect(flag.pages == [[1]])
      #expect(flag.error?.code == .inconsistentTermination)
      flagged.end = [.pages("/pages"), .status([status])]
      let pages = await run(flagged, [page([1], #""pages":3"#), .status(status)])
      #expect(pages.error?.code == .inconsistentTermination)
      let silent = await run(flagged, [page([1]), .status(status)])
      #expect(silent.error == nil)
    }
  }

  @Test("C-10, H-5: an answer that ends a listing without a page counts, whatever reads it")
  func countsEnd() async throws {
    var pagination = byNumber
    pagination.end = [.status([404])]
    let parent = Cursor<Int> { _ in
      var page = Page([0])
      page.traffic = WalkReport.Traffic(requests: 0)
      return page
    }
    let changes: [@Sendable (Cursor<Int>) -> Cursor<Int>] = [
      { $0 }, { $0.map { $0 } }, { $0.paged(by: 1) }, { $0.paged(by: 3) }, { $0.cached() },
      { $0.observed { _ in } }, { $0.retrying(attempts: 2) }, { $0.parallel(1) },
      { Cursor.merged([$0], by: \.self, clock: ManualClock()) },
      { cursor in parent.flatMap(ordered: true) { _ in cursor } },
      { cursor in parent.flatMap(ordered: false) { _ in cursor } },
    ]
    for (number, change) in changes.enumerated() {
      let server = CannedServer([page([1]), .status(404, [:], "none")])
      let cursor = PageClient(transport: server).cursor(
        at: "https://a.test/l", pagination: pagination, decoder: JSONPageDecoder<Int>())
      let walk = change(cursor).walk()
      #expect(try await walk.items.collect() == [1])
      let traffic = walk.report.traffic
      #expect(traffic.requests == 2 && traffic.bytes == 17, "\(number): \(traffic)")
      #expect(walk.report.isComplete)
    }
  }

  // MARK: Totals

  @Test("12-L3, G10: a total that the page in hand contradicts ends nothing and is reported")
  func contradictedTotal() async {
    for total in [0, 3] {
      let count = "\"total\":\(total)"
      let offset = await run(
        .offsetLimit.items(at: "/items").total(at: "/total"),
        [page([1, 2, 3, 4], count), page([5, 6], count), page([], count)])
      #expect(offset.pages == [[1, 2, 3, 4], [5, 6], []])
      #expect(offset.codes == [.contradictedTotal])
      #expect(offset.report.warnings.first?.remedy?.setting == .total)
      #expect(offset.report.total == nil)
      #expect(offset.declared == nil)
    }
    let pages = await run(
      .pages.items(at: "/items").total(at: Pagination.TotalSource("/pages", .pages)),
      [page([1], #""pages":0"#), page([2], #""pages":1"#), page([], #""pages":1"#)])
    #expect(pages.pages == [[1], [2], []])
    #expect(Set(pages.codes) == [.contradictedTotal])
    var tokens = byToken
    tokens.total = "/total"
    let links = await run(tokens, [page([1, 2], #""next":"a","total":1"#), page([3])])
    #expect(links.codes == [.contradictedTotal])
  }

  @Test("12-L3: a total that the pages of a listing by cursors exceed together is reported")
  func exceededTotal() async {
    var tokens = byToken
    tokens.total = "/total"
    func codes(_ first: Int, _ last: Int) async -> [WalkReport.Warning.Code] {
      await run(
        tokens,
        [page([1, 2], "\"next\":\"a\",\"total\":\(first)"), page([3], "\"total\":\(last)")]
      ).codes
    }
    #expect(await codes(2, 2) == [.contradictedTotal])
    #expect(await codes(3, 3).isEmpty)
    // An item was removed meanwhile, which is no contradiction.
    #expect(await codes(3, 2).isEmpty)
  }

  @Test("12-L3: a total that falls below what was delivered is no total from there on")
  func shrunkTotal() async {
    let run = await run(
      .offsetLimit.items(at: "/items").total(at: "/total"),
      [
        page([1, 2], #""total":5"#), page([3, 4], #""total":3"#), page([5], #""total":5"#),
      ])
    #expect(run.pages == [[1, 2], [3, 4], [5]])
    #expect(run.codes == [.contradictedTotal])
    #expect(run.declared == nil)
  }

  @Test("A search that gives fewer results than it has is not whole, by links and by page numbers")
  func withheld() async {
    let next = "<https://a.test/l?page=2>"
    let link = ["Link": "\(next); rel=\"next\", \(next); rel=\"last\""]
    func found(_ items: String) -> String { "{\"total_count\":5,\"items\":\(items)}" }
    let linked = await run(
      .github, [.status(200, link, found("[1,2]")), .json(found("[3,4]"))])
    #expect(linked.pages == [[1, 2], [3, 4]] && linked.error == nil)
    #expect(linked.declared == 5)
    // A list has no count of its items: its links say how many pages there are.
    let list = await run(.github, [.status(200, link, "[1,2]"), .json("[3]")])
    #expect(list.declared == nil && list.report.total == Total(2, .pages))
    var numbered = byNumber
    numbered.end = [.pages("/pages"), .emptyPage]
    numbered.total = Pagination.TotalSource("/hits", .estimate)
    numbered.size = Pagination.PageSize(.query("size"), echo: "/size")
    // Behind a page that is not full, an estimate may be wrong by less than a page.
    let ends: [([Int], Int, PageError.Code?)] = [
      ([3, 4], 4, nil), ([3, 4], 5, .resultWindowExceeded), ([3], 6, nil),
      ([3], 7, .resultWindowExceeded),
    ]
    for (last, hits, code) in ends {
      let rest = "\"pages\":2,\"size\":2,\"hits\":\(hits)"
      let capped = await run(numbered, [page([1, 2], rest), page(last, rest)])
      #expect(capped.pages == [[1, 2], last] && capped.error?.code == code, "\(last) \(hits)")
    }
  }

  @Test("12-L4: an empty page is no end where a count, a number of pages or a flag says more")
  func emptyInTheMiddle() async {
    for (rule, rest) in [
      (Pagination.End.pages("/pages"), #""pages":3"#), (.total("/total"), #""total":4"#),
      (.total(Pagination.TotalSource("/left", .remaining)), #""left":1"#),
      (.flag("/more"), #""more":true"#),
    ] {
      var pagination = byNumber
      pagination.end = [rule, .emptyPage]
      let run = await run(
        pagination,
        [
          page([1, 2], rest), page([], rest),
          page(
            [3, 4], rest.replacing("true", with: "false").replacing("left\":1", with: "left\":0")),
        ])
      #expect(run.pages == [[1, 2], [], [3, 4]], "\(rule)")
      #expect(run.error == nil)
    }
    var reported = byNumber
    reported.total = "/total"
    let known = await run(
      reported, pageSize: 2,
      Array(repeating: page([1, 2], #""total":6"#), count: 1)
        + [page([], #""total":6"#), page([3, 4], #""total":6"#), page([], #""total":6"#)])
    #expect(known.pages == [[1, 2], [], [3, 4], []])
    #expect(known.declared == 6)
  }

  @Test("12-L4: where a short page is the end, an empty one is none that a total says more of")
  func emptyInsteadOfShort() async {
    let count = #""total":4"#
    for inEnd in [true, false] {
      var pagination = byNumber
      pagination.end = inEnd ? [.shortPage, .total("/total")] : [.shortPage]
      pagination.total = "/total"
      let run = await run(
        pagination, pageSize: 2,
        [page([1, 2], count), page([], count), page([3, 4], count), page([], count)])
      #expect(run.pages.flatMap(\.self) == [1, 2, 3, 4], "\(run.pages)")
      #expect(run.error == nil && run.declared == nil)
      // Behind a page by whose offset nothing moves on, the same one would follow for ever.
      var offset = Pagination.offsetLimit.items(at: "/items").total(at: "/total")
      offset.end = pagination.end
      let standing = await self.run(offset, pageSize: 2, [page([1, 2], count), page([], count)])
      #expect(standing.pages == [[1, 2], []] && standing.declared == 4)
      #expect(standing.codes == [.emptyPageBeforeTotal])
    }
    var unknown = byNumber
    unknown.end = [.shortPage]
    let ended = await run(unknown, pageSize: 2, [page([1, 2]), page([])])
    #expect(ended.pages == [[1, 2], []] && ended.declared == nil && ended.error == nil)
  }

  @Test("12-L4: a total that is too high keeps no walk going for ever")
  func highTotal() async {
    var pagination = byNumber
    pagination.end = [.total("/total"), .emptyPage]
    let count = #""total":7"#
    let run = await run(
      pagination, [page([1, 2], count), page([3, 4], count), page([5], count), page([], count)])
    // One page beyond those that seven items have room for.
    #expect(run.pages == [[1, 2], [3, 4], [5], [], []])
    #expect(run.requests.count == 5)
    let offset = await self.run(
      .offsetLimit.items(at: "/items").total(at: "/total"), [page([1, 2], count), page([], count)])
    #expect(offset.pages == [[1, 2], []])
    #expect(offset.declared == 7)
    #expect(offset.codes == [.emptyPageBeforeTotal])
  }

  @Test(
    "12-L9: whole numbers in any spelling are totals",
    arguments: [
      "40", "40.0", "4e1", "4.0E+1", "400e-1", "\"40\"", "\" 40 \"", "\"40.0\"", "{\"value\":40}",
      "{\"value\":\"40\",\"relation\":\"eq\"}", "\"+40\"",
    ])
  func totals(_ text: String) async {
    var pagination = byToken
    pagination.total = "/total"
    let run = await run(pagination, [page([1], "\"total\":\(text)")])
    #expect(run.error == nil)
    #expect(run.report.total == Total(40))
    #expect(run.declared == 40)
  }

  @Test(
    "12-L9: digits may stand in groups, and what could be meant in two ways is refused",
    arguments: [
      ("1,234", 1234), ("1 234", 1234), ("1'234'567", 1_234_567), ("12,34,567", 1_234_567),
      ("1.234.567", 1_234_567), ("1\u{202F}234", 1234), ("1,234.0", 1234), ("-1,234", -1234),
      ("1.234", nil), ("1,23", nil), ("1,2345", nil), ("1,234e1", nil), ("40.5", nil), ("", nil),
      ("e1", nil), ("1e", nil), ("1e-400000000000000000000", nil), ("0e99999999999999999999", 0),
      ("1e400", Int.max), ("1 2", nil), ("forty", nil), ("99999999999999999999", Int.max),
    ] as [(String, Int?)])
  func spellings(_ text: String, _ number: Int?) {
    #expect(WholeNumber.read(text, isText: true) == number)
  }

  @Test("12-L9: a total with the relation gte is a lower bound, as Elasticsearch means it")
  func lowerBound() async {
    var pagination = Pagination.offsetLimit.items(at: "/items").total(at: "/total")
    let count = #""total":{"value":2,"relation":"gte"}"#
    let more = await run(
      pagination, [page([1, 2], count), page([3], count), page([], count)])
    #expect(more.pages == [[1, 2], [3], []])
    #expect(more.report.total == Total(2, .lowerBound))
    #expect(more.codes == [])
    pagination = byToken
    pagination.total = "/total"
    let less = await run(pagination, [page([1], count)])
    #expect(less.declared == 2)
  }

  @Test(
    "12-L9: anything else in the place of a total is an error on the first page",
    arguments: [
      "[40]", "true", "40.5", "\"many\"", "{}", "{\"value\":[1]}", "{\"count\":40}",
      "{\"value\":40,\"relation\":\"about\"}",
    ])
  func noTotal(_ text: String) async {
    for pagination in [
      Pagination.offsetLimit.items(at: "/items").total(at: "/total"),
      Pagination(next: .body("/next"), send: .query("t"), items: "/items", total: "/total"),
    ] {
      let run = await run(pagination, [page([1], "\"total\":\(text)")])
      #expect(run.pages == [])
      #expect(run.error?.code == .shape)
      #expect(run.error?.message.contains("total") == true)
    }
  }

  @Test(
    "12-L9: what says that nobody counted is no total, and no error",
    arguments: ["null", "\"*\"", "\"unknown\"", "-1", "\"\""])
  func unknownTotal(_ text: String) async {
    var pagination = byToken
    pagination.total = "/total"
    let run = await run(pagination, [page([1], "\"total\":\(text)")])
    #expect(run.error == nil)
    #expect(run.report.total == nil)
    #expect(run.declared == nil)
  }

  @Test("12-L9: what is no number on a later page is reported")
  func laterTotal() async {
    var pagination = byToken
    pagination.total = "/total"
    let run = await run(
      pagination, [page([1], #""next":"a","total":2"#), page([2], #""total":[2]"#)])
    #expect(run.codes == [.unreadableTotal])
    #expect(run.declared == nil)
  }

  // MARK: Empty cursors

  @Test("12-L5, G7: an empty text ends a walk, or is a cursor, as the description says")
  func emptyCursor() async {
    let empty = page([1], #""next":"""#)
    let ended = await run(byToken, [empty])
    #expect(ended.pages == [[1]])
    #expect(ended.declared == nil)
    var pagination = byToken
    pagination.policy.emptyCursor = .value
    let walked = await run(pagination, [empty, page([2], #""next":null"#)])
    #expect(walked.pages == [[1], [2]])
    #expect(walked.requests.last == "https://a.test/l?t=")
    let looped = await run(pagination, [empty, page([2], #""next":"""#)])
    #expect(looped.error?.code == .loopDetected)
  }

  @Test(
    "12-L5: an empty text is no end where a flag or a total says more, and the error says how on")
  func contradictedEmptyCursor() async {
    var pagination = byToken
    pagination.end = [.flag("/more")]
    pagination.total = "/total"
    for rest in [#""next":"","more":true"#, #""next":"","total":2"#] {
      let run = await run(pagination, [page([1], rest)])
      #expect(run.pages == [[1]])
      #expect(run.error?.code == .inconsistentTermination)
      #expect(run.error?.message.contains("policy.emptyCursor") == true)
    }
    let whole = await run(pagination, [page([1], #""next":"","total":1"#)])
    #expect(whole.error == nil)
    pagination.total = Pagination.TotalSource("/left", .remaining)
    let left = await run(pagination, [page([1], #""next":"","left":3"#)])
    #expect(left.error?.code == .inconsistentTermination)
  }

  @Test("12-L5: the Model Context Protocol's empty cursor is sent like any other")
  func mcp() async throws {
    let server = CannedServer([
      .json(#"{"jsonrpc":"2.0","id":1,"result":{"tools":[1],"nextCursor":""}}"#),
      .json(#"{"jsonrpc":"2.0","id":1,"result":{"tools":[2]}}"#),
    ])
    let client = PageClient(transport: server)
    var options = PageClient.RequestOptions(method: .post)
    options.body = .json(["jsonrpc": "2.0", "id": 1, "method": "tools/list"])
    var items: [Int] = []
    let cursor = client.cursor(
      at: "https://a.test/mcp", pagination: .mcp, request: options,
      decoder: JSONPageDecoder<Int>())
    for try await item in cursor.items { items.append(item) }
    #expect(items == [1, 2])
    let body = String(decoding: try #require(server.requests.last).body, as: UTF8.self)
    #expect(body.contains(#""params":{"cursor":""}"#))
  }

  @Test("12-L5: the policy for empty cursors is a part of the language, and survives it")
  func emptyCursorInFiles() throws {
    var pagination = byToken
    pagination.policy.emptyCursor = .value
    #expect(pagination.json.contains(#""emptyCursor": "value""#))
    #expect(try Pagination(json: pagination.json.utf8) == pagination)
    #expect(throws: PageError.self) {
      try Pagination(json: #"{"next":"linkHeader","policy":{"emptyCursor":"both"}}"#.utf8)
    }
  }
}
