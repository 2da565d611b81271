import FoundationEssentials
import Quire
import Testing

/// What holds for a page whatever its format.
@Suite("D-1: the promises of a page, in JSON and in XML", .timeLimit(.minutes(15)))
struct FormatPromiseTests {
  typealias Row = PageServer.Row

  private func rows(_ range: Range<Int>) -> [Row] { range.map { Row(id: $0) } }

  private func failure(of cursor: Cursor<Row>) async -> (pages: [[Row]], error: PageError?) {
    var pages: [[Row]] = []
    do {
      for try await page in cursor { pages.append(page.items) }
      return (pages, nil)
    } catch {
      return (pages, error as? PageError)
    }
  }

  @Test(
    "D-1 H-4: a page that is cut off anywhere is an error, and the position stays before it",
    arguments: PageFormat.allCases)
  func truncation(format: PageFormat) async throws {
    let whole = format.bytes(["items": [["id": 1]], "next": .null]).count
    for length in 0..<whole {
      let server = PageServer(format, [1, 1]) { page, members in
        if page == 2 { members = [members[0], .init("next", .null)] }
      } cut: { page, bytes in
        page == 2 ? Array(bytes.prefix(length)) : bytes
      }
      let walk = server.cursor().walk()
      var pages: [[Row]] = []
      let error = await #expect(throws: PageError.self) {
        for try await page in walk { pages.append(page.items) }
      }
      #expect(pages == [rows(0..<1)])
      #expect(error?.code == .truncated, "\(length) bytes: \(error.map { "\($0)" } ?? "")")
      #expect(error?.checkpoint == walk.report.checkpoint)
      let rest = PageServer(format, [1, 1])
      let position = try #require(error?.checkpoint)
      #expect(try await rest.cursor().resuming(from: position).pages() == [rows(1..<2)])
      #expect(rest.requests == [2])
    }
  }

  @Test("D-1 D-3: a bad item fails its page, or is set aside", arguments: PageFormat.allCases)
  func badItems(format: PageFormat) async throws {
    func server() -> PageServer {
      PageServer(format, [3, 1]) { page, members in
        guard page == 1 else { return }
        members[0].value = .array([["id": 0], ["id": "one"], ["id": 2]])
      }
    }
    let strict = await failure(of: server().cursor())
    #expect(strict.pages == [])
    #expect(strict.error?.code == .itemDecoding)
    #expect(strict.error?.message.contains("Item 1 ") == true)
    let walk = server().cursor { $0.badItems = .collect }.walk()
    var bad: [BadItem] = []
    var items: [Row] = []
    for try await page in walk {
      items += page.items
      bad += page.badItems
    }
    #expect(items == [Row(id: 0), Row(id: 2), Row(id: 3)])
    #expect(bad.map(\.index) == [1])
    #expect(bad.map(\.path) == ["/id"])
    #expect(walk.report.traffic.badItems == 1)
  }

  @Test(
    "D-1 D-2: a page without the list of its items is an error, not an empty page",
    arguments: PageFormat.allCases)
  func missingItems(format: PageFormat) async throws {
    let server = PageServer(format, [1, 1]) { page, members in
      if page == 2 { members[0] = .init("rows", members[0].value) }
    }
    let (pages, error) = await failure(of: server.cursor())
    #expect(pages == [rows(0..<1)])
    #expect(error?.code == .shape)
    #expect(error?.message.contains("items") == true)
    var optional = PageServer.byNumber
    optional.items = .optional(optional.items)
    #expect(await failure(of: server.cursor(optional)).pages == [rows(0..<1), []])
  }

  @Test("D-1 N25: HTML in the middle of a walk is an error", arguments: PageFormat.allCases)
  func html(format: PageFormat) async throws {
    let server = PageServer(
      format, [1, 1],
      cut: { $0 == 2 ? Array("<!DOCTYPE html><p>Sign in<br></p>".utf8) : $1 })
    let (pages, error) = await failure(of: server.cursor())
    #expect(pages == [rows(0..<1)])
    #expect(error?.code == .unexpectedMediaType)
    #expect(error?.message.contains("HTML") == true)
  }

  @Test(
    "D-1 C-8 C-9: a walk that a limit ends goes on in a new process at exactly the next item",
    arguments: PageFormat.allCases, [1, 2, 3, 4, 5, 6])
  func limits(format: PageFormat, count: Int) async throws {
    let server = PageServer(format, [2, 0, 3, 2])
    let walk = server.cursor().limited(to: Limits(items: count)).walk()
    var items: [Row] = []
    for try await page in walk { items += page.items }
    #expect(items == rows(0..<count))
    let stored = try JSONEncoder().encode(try #require(walk.report.checkpoint))
    let position = try JSONDecoder().decode(Position.self, from: stored)
    let next = PageServer(format, [2, 0, 3, 2])
    for page in try await next.cursor().resuming(from: position).pages() { items += page }
    #expect(items == rows(0..<7))
  }

  @Test(
    "D-1 D-4: what a page may cost is limited alike, and the limit is named",
    arguments: PageFormat.allCases, ["items", "itemBytes", "depth", "events"])
  func costs(format: PageFormat, limit: String) async throws {
    let server = PageServer(format, [20])
    let (pages, error) = await failure(
      of: server.cursor {
        switch limit {
        case "items": $0.decodingLimits.items = 19
        case "itemBytes": $0.decodingLimits.itemBytes = 5
        case "depth": $0.decodingLimits.depth = 2
        default: $0.decodingLimits.events = 20
        }
      })
    #expect(pages == [])
    #expect(error?.code == .limitExceeded)
    #expect(
      error?.description.contains("DecodingLimits.\(limit)") == true, "\(error?.message ?? "")")
  }

  @Test(
    "D-1 C-5 C-3: a position that comes again is a loop, after its page",
    arguments: PageFormat.allCases)
  func loop(format: PageFormat) async throws {
    let server = PageServer(format, [1, 1, 1]) { page, members in
      if page == 3 { members[5].value = 2 }
    }
    let (pages, error) = await failure(of: server.cursor())
    #expect(pages == [rows(0..<1), rows(1..<2), rows(2..<3)])
    #expect(error?.code == .loopDetected)
  }

  @Test(
    "D-1: totals are read, and one that was not reached is reported", arguments: PageFormat.allCases
  )
  func totals(format: PageFormat) async throws {
    let server = PageServer(format, [2, 1]) { page, members in
      if page == 1 { members[4].value = 4 } else { members[4].value = "5" }
    }
    var pagination = PageServer.byNumber
    pagination.total = "/total | /page/total"
    let walk = server.cursor(pagination).walk()
    var totals: [Int?] = []
    for try await page in walk { totals.append(page.total?.value) }
    #expect(totals == [4, 5])
    guard case .truncationSuspected(let declared) = walk.report.end else {
      Issue.record("the report says \(walk.report.end)")
      return
    }
    #expect(declared == 5)
  }
}
