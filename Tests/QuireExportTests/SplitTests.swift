import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import Testing

@Suite("Listings that are read in parts")
struct SplitTests {
  /// A server that gives so many results of one request, and then refuses.
  private struct Server: Sendable {
    var keys: [Int]
    var cap: Int
    var tellsTotal = false
    /// Whether the refusal comes with the page in front of it.
    var refusesAhead = false
    let requests = Count()

    func cursor(_ part: Partition) -> Cursor<RawItem> {
      let (lower, upper) = (Int(part.lower) ?? 0, Int(part.upper) ?? 0)
      let found = keys.filter { $0 >= lower && $0 < upper }
      return Cursor { position in
        requests.add()
        let start = position?.value?.integer ?? 0
        guard start < cap else { throw PageError(.resultWindowExceeded, "No more than \(cap).") }
        let items = try found.enumerated().dropFirst(start).prefix(3).map {
          try RawItem(Array("{\"id\":\($0.offset * 1000 + lower),\"key\":\($0.element)}".utf8))
        }
        var page = Page<RawItem>(items)
        if tellsTotal { page.total = Total(found.count) }
        let end = start + 3
        if end < found.count {
          if refusesAhead, end >= cap {
            page.nextFailure = PageError(.resultWindowExceeded, "No more than \(cap).")
          } else {
            page.next = Position(.number("\(end)"))
          }
        }
        return page
      }
    }

    func all(by key: PagePath? = "/key") -> Cursor<RawItem> {
      var split = Split.keys(0..<100, every: 40)
      split.key = key
      split.cap = tellsTotal ? cap : nil
      return Cursor.partitioned(by: split) { cursor($0) }
    }
  }

  private static func keys(_ items: [RawItem]) throws -> [Int] {
    try items.map { try $0.value(at: "/key")?.integer ?? -1 }
  }

  @Test(
    "16-Parts: parts of which the server gives no more are halved, and each item comes once",
    arguments: [(6, false, false), (6, false, true), (6, true, false), (1000, false, false)])
  func halves(cap: Int, tellsTotal: Bool, refusesAhead: Bool) async throws {
    let server = Server(
      keys: Array(0..<100), cap: cap, tellsTotal: tellsTotal, refusesAhead: refusesAhead)
    #expect(try await Self.keys(server.all().collect()) == Array(0..<100))
    if cap == 1000 { #expect(server.requests.count == 14 + 14 + 7) }
  }

  @Test("16-Parts: one position covers all parts: a walk goes on at every item, halves included")
  func resumes() async throws {
    for refusesAhead in [false, true] {
      let server = Server(
        keys: (0..<100).filter { $0 % 3 != 1 }, cap: 9, refusesAhead: refusesAhead)
      var seen: [Int] = []
      for try await page in server.all() {
        for count in 0...page.items.count {
          let items = try seen + Self.keys(Array(page.items[..<count]))
          guard let position = page.position(afterItems: count) else { continue }
          let stored = try JSONDecoder().decode(
            Position.self, from: JSONEncoder().encode(position))
          let rest = try await server.all().resuming(from: stored).collect()
          #expect(try items + Self.keys(rest) == server.keys, "\(position)")
        }
        seen += try Self.keys(page.items)
      }
      #expect(seen == server.keys)
    }
  }

  @Test("16-Parts: a part that cannot be halved any more is an error behind what came of it")
  func gives() async throws {
    let server = Server(keys: Array(repeating: 50, count: 20), cap: 6)
    var items: [Int] = []
    await #expect {
      for try await page in server.all(by: "/id") { items += try Self.keys(page.items) }
    } throws: {
      ($0 as? PageError)?.code == .resultWindowExceeded
    }
    #expect(items == Array(repeating: 50, count: items.count) && items.count >= 6)
  }

  @Test("16-Parts: windows of time have whole seconds, and their bounds as servers write them")
  func times() async throws {
    let start = Date(timeIntervalSince1970: 1_700_000_000.4)
    let parts = Recorded()
    let split = Split.times(start..<start + 100, every: .seconds(60))
    let cursor = Cursor.partitioned(by: split) { part in
      parts.note("\(part.lower) \(part.last) \(part.upper)")
      return Cursor { _ in Page([]) }
    }
    #expect(try await cursor.collect().isEmpty)
    #expect(
      parts.texts == [
        "2023-11-14T22:13:20Z 2023-11-14T22:14:19Z 2023-11-14T22:14:20Z",
        "2023-11-14T22:14:20Z 2023-11-14T22:15:00Z 2023-11-14T22:15:01Z",
      ])
  }

  @Test("16-Parts: several listings are exported in one run, each with its own end")
  func several() async throws {
    let sinks = (0..<5).map { _ in MemorySink() }
    let failing = ScriptedSource(sizes: 2, 2)
    failing.fail(2)
    let exports = sinks.enumerated().map { index, sink in
      Export(
        index == 2 ? Cursor(failing) : Cursor(ScriptedSource(sizes: index + 1)), to: sink)
    }
    let reports = await Export.outcomes(of: exports, concurrency: 2)
    #expect(reports.map(\.items) == [1, 2, 2, 4, 5])
    #expect(reports.map(\.isComplete) == [true, true, false, true, true])
    #expect(sinks.map(\.items.count) == [1, 2, 2, 4, 5])
  }
}

private final class Count: Sendable {
  private let state = Mutex(0)
  var count: Int { state.withLock { $0 } }
  func add() { state.withLock { $0 += 1 } }
}

private final class Recorded: Sendable {
  private let state = Mutex<[String]>([])
  var texts: [String] { state.withLock { $0 } }
  func note(_ text: String) { state.withLock { $0.append(text) } }
}
