import TestSupport
import Foundation
import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// The recipe of the guide for programs that store a position with every page.
@Suite("Whether a listing is complete", .timeLimit(.minutes(15)))
struct CompletenessTests {
  /// A way for a listing of five items, two a page, to end.
  struct Ending: Sendable, CustomTestStringConvertible {
    var name: String
    var pagination: Pagination
    /// What the server answers where the page from this item on is asked for.
    var answer: @Sendable (_ start: Int) -> TransportResponse

    var testDescription: String { name }

    init(
      _ name: String, _ end: [Pagination.End], next: Pagination.Next = .offset,
      send: Pagination.Placement = .query("at"),
      behind: @autoclosure @escaping @Sendable () -> TransportResponse = Self.page(5),
      more: @escaping @Sendable (Int) -> String = { _ in "" }
    ) {
      self.name = name
      pagination = Pagination(
        next: next, send: send, end: end, items: "/items", size: Pagination.PageSize(default: 2))
      answer = { start in start < 5 ? Self.page(start, more(start)) : behind() }
    }

    static func page(_ start: Int, _ more: String = "") -> TransportResponse {
      let items = (start..<max(start, min(start + 2, 5))).map(String.init).joined(separator: ",")
      return .json(#"{"items":[\#(items)]\#(more)}"#)
    }

    static func next(_ start: Int) -> String {
      start + 2 < 5 ? #","next":"\#(start + 2)""# : #","next":null"#
    }
    static func always(_ start: Int) -> String { #","next":"\#(start + 2)""# }

    static let all: [Ending] = [
      Ending("no next", [], next: .body("/next"), more: next),
      Ending(
        "a word for none", [.noNext(sentinels: ["end"])], next: .body("/next"),
        more: { $0 + 2 < 5 ? Self.next($0) : #","next":"end""# }),
      Ending("an empty page", [.emptyPage]), Ending("a short page", [.shortPage]),
      Ending("a flag", [.flag("/more")], more: { #","more":\#($0 + 2 < 5)"# }),
      Ending("a total", [.total("/total")], more: { _ in #","total":5"# }),
      Ending(
        "the same cursor", [.sameCursor], next: .body("/next"),
        more: { #","next":"\#(min($0 + 2, 4))""# }),
      Ending(
        "a number that does not advance", [.notAdvancing], next: .body("/next"),
        more: { #","next":"\#($0 + 2 < 5 ? $0 + 2 : 0)""# }),
      Ending(
        "a last page", [.lastPage(when: .value("/last"))], more: { $0 == 4 ? #","last":true"# : "" }
      ),
      Ending("404", [.status([404])], behind: .status(404)),
      Ending("204 as an end", [.status([204])], behind: .status(204)),
      Ending(
        "404 behind a cursor", [.status([404])], next: .body("/next"), behind: .status(404),
        more: always),
      Ending("no new items", [.noNewItems()], behind: page(4)),
      Ending("no new items, but those of the first page", [.noNewItems()], behind: page(0)),
      Ending(
        "a link to nowhere", [.status([410])], next: .body("/link"), send: .url,
        behind: .status(410), more: { #","link":"/list?at=\#($0 + 2)""# }),
    ]

    func cursor() -> Cursor<Int> {
      let server = CannedServer { request, _ in
        let query = QueryString(
          request.url.split(separator: "?").dropFirst().first.map(String.init))
        return answer(query["at"].flatMap { Int($0) } ?? 0)
      }
      return PageClient(transport: server).cursor(
        of: Int.self, at: "https://api.test/list", pagination: pagination)
    }
  }

  /// What a program stores: where to go on, nil when nothing is left.
  private func stored(_ position: Position?) throws -> Position? {
    guard let position else { return nil }
    return try JSONDecoder().decode(Position.self, from: try JSONEncoder().encode(position))
  }

  @Test(
    "12-L15 C-8: the checkpoint of each page and that of the report behind the last tell what is left",
    arguments: Ending.all)
  func recipe(ending: Ending) async throws {
    // Killed behind the n-th page of each run.
    for killedAfter in 1...5 {
      for isPaginator in [false, true] {
        var items: [Int] = []
        var position: Position? = .start
        var runs = 0
        while let start = position, runs < 20 {
          runs += 1
          let cursor = ending.cursor().resuming(from: start)
          var pages = 0
          var wasKilled = false
          func isKilled(by page: Page<Int>) throws -> Bool {
            items += page.items
            position = try stored(page.checkpoint)
            pages += 1
            return pages == killedAfter
          }
          let report: WalkReport
          if isPaginator {
            let paginator = Paginator(cursor)
            for try await page in paginator where try isKilled(by: page) {
              wasKilled = true
              break
            }
            report = paginator.report
          } else {
            let walk = cursor.walk()
            for try await page in walk where try isKilled(by: page) {
              wasKilled = true
              break
            }
            report = walk.report
          }
          if wasKilled { continue }
          #expect(report.isComplete)
          position = try stored(report.checkpoint)
          #expect(position == nil)
        }
        #expect(items == [0, 1, 2, 3, 4], "killed after \(killedAfter)")
        #expect(position == nil)
      }
    }
  }

  @Test("12-L15: a limit, an error and a broken way on leave something to fetch, and say so")
  func unfinished() async throws {
    let pages = Ending("a flag", [.flag("/more")], more: { #","more":\#($0 + 2 < 5)"# })
    let limited = pages.cursor().limited(to: Limits(pages: 2)).walk()
    for try await _ in limited {}
    #expect(!limited.report.isComplete && limited.report.checkpoint != nil)
    let broken = Ending(
      "a flag without a cursor", [.flag("/more")], next: .body("/next"),
      more: { $0 < 2 ? #","more":true,"next":"2""# : #","more":true"# })
    let walk = broken.cursor().walk()
    var last: Position?
    let error = await #expect(throws: PageError.self) {
      for try await page in walk { last = page.checkpoint }
    }
    #expect(error?.code == .inconsistentTermination)
    #expect(!walk.report.isComplete && last != nil && walk.report.checkpoint == last)
    var items: [Int] = []
    let again = await #expect(throws: PageError.self) {
      for try await page in broken.cursor().resuming(from: try #require(try stored(last))) {
        items += page.items
      }
    }
    #expect(again?.code == .inconsistentTermination && items.isEmpty)
  }
}
