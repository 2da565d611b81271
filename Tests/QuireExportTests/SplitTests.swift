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
    /// Items that are missing at the end of each part, though they are counted.
    var loses = 0
    var size = 3
    let requests = Count()

    func cursor(_ part: Partition) -> Cursor<RawItem> {
      let (lower, upper) = (Int(part.lower) ?? 0, Int(part.upper) ?? 0)
      let found = keys.filter { $0 >= lower && $0 < upper }
      return Cursor { position in
        requests.add()
        let start = position?.value?.integer ?? 0
        guard start < cap else { throw PageError(.resultWindowExceeded, "No more than \(cap).") }
        let items = try found.enumerated().dropLast(loses).dropFirst(start).prefix(size).map {
          try RawItem(Array("{\"id\":\($0.offset * 1000 + lower),\"key\":\($0.element)}".utf8))
        }
        var page = Page<RawItem>(items)
        if tellsTotal { page.total = Total(found.count) }
        let end = start + size
        if end < found.count - loses {
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

  @Test(
    "A part that ends with as many items as the server gives is halved where no total says that these are all",
    arguments: [nil, 6, 1000])
  func silentCap(total: Int?) async throws {
    // A server that leaves the rest out without a word, or tells of no more than it gives.
    let makeCursor: @Sendable (Partition, Int) -> Cursor<RawItem> = { part, cap in
      let (lower, upper) = (Int(part.lower) ?? 0, Int(part.upper) ?? 0)
      let found = Array((lower..<upper).prefix(cap))
      return Cursor<RawItem> { position in
        let start = position?.value?.integer ?? 0
        let items = try found.dropFirst(start).prefix(4).map {
          try RawItem(Array("{\"key\":\($0)}".utf8))
        }
        var page = Page<RawItem>(items)
        page.total = total.map { Total(min($0, upper - lower)) }
        if start + 4 < found.count { page.next = Position(.number("\(start + 4)")) }
        return page
      }
    }
    for key in [nil, "/key"] as [PagePath?] {
      var split = Split.keys(0..<100, every: 40)
      (split.cap, split.key) = (6, key)
      let all = Cursor.partitioned(by: split) { makeCursor($0, 6) }
      #expect(try await Self.keys(all.collect()) == Array(0..<100))
      split.cap = 1
      let ones = Cursor.partitioned(by: split) { makeCursor($0, 1) }
      if total == nil {
        // One key with as many items as there may be: more of it cannot be asked for.
        await #expect {
          _ = try await ones.collect()
        } throws: {
          ($0 as? PageError)?.code == .resultWindowExceeded && "\($0)".contains("by total")
        }
      } else {
        #expect(try await Self.keys(ones.collect()) == Array(0..<100))
      }
    }
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

  @Test(
    "16-Parts, 16-Short: a part with fewer items than it was to have makes the whole fall short")
  func fallsShort() async throws {
    for lost in [0, 1] {
      let server = Server(keys: Array(0..<100), cap: 1000, tellsTotal: true, loses: lost)
      let sink = MemorySink()
      // Stopped in the middle of a part, and gone on with.
      let first = Export(server.all().limited(to: Limits(pages: 5)), to: sink)
      #expect(try await "\(first.run().end)" == "limit (pages)")
      let report = try await Export(server.all(), to: sink).run()
      #expect(report.isComplete == (lost == 0), "\(report)")
      #expect(report.checkpoint?.missing == (lost == 0 ? nil : 3))
      #expect(sink.items.count == 100 - 3 * lost)
    }
  }

  @Test(
    "16-Parts, 16-Short: a part that ends by an answer behind its pages counts that, and what it lacks",
    arguments: [(0, 0), (1, 0), (0, 1), (1, 1)])
  func endsBehindPages(lost: Int, lookAhead: Int) async throws {
    var export = Export(Self.endingBehindPages(lost), to: MemorySink())
    export.lookAhead = lookAhead
    let report = try await export.run()
    #expect(report.items == 12 - 2 * lost)
    #expect(report.checkpoint?.missing == (lost == 0 ? nil : 2))
    #expect(report.isComplete == (lost == 0))
    // Two pages of each part, and what came behind them.
    #expect(report.traffic.requests == 6 && report.walk.traffic.requests == 6)
  }

  @Test(
    "16-Parts, 16-Short: a part of which a later run hears the end lacks what its pages declared",
    arguments: 1...5, [nil, "/count"] as [PagePath?])
  func endsBehindPagesLater(pages: Int, total: PagePath?) async throws {
    for lost in [0, 1] {
      let (listing, sink) = (Self.endingBehindPages(lost, total: total), MemorySink())
      _ = try await Export(listing.limited(to: Limits(pages: min(pages, 4 + lost))), to: sink).run()
      let report = try await Export(listing, to: sink).run()
      #expect(report.isResumed && report.isComplete == (lost == 0), "\(report)")
      #expect(report.checkpoint?.missing == (lost == 0 ? nil : 2))
      #expect(sink.items.count == 12 - 2 * lost)
    }
  }

  /// Two parts of two pages, which declare six items: so many are lost of the second one.
  private static func endingBehindPages(_ lost: Int, total: PagePath? = nil) -> Cursor<RawItem> {
    var split = Split.keys(0..<40, every: 20)
    split.total = total
    return Cursor.partitioned(by: split) { part in
      Cursor { position in
        let number = position?.value?.integer ?? 0
        guard number < 2 else {
          var end = PageError(.exhausted, "There is no such page.")
          end.traffic = WalkReport.Traffic(requests: 1)
          throw end
        }
        let items = (0..<3 - number * lost).map { raw("\"\(part.lower) \(number) \($0)\"") }
        var page = Page<RawItem>(items, next: Position(.number("\(number + 1)")))
        page.total = Total(6)
        return page
      }
    }
  }

  @Test("16-Parts, 16-Short: parts that declare items beyond all measure fall short by as many")
  func hugeTotals() async throws {
    func listing(_ total: Total, _ split: Split) -> Cursor<RawItem> {
      Cursor.partitioned(by: split) { part in
        Cursor { _ in
          var page = Page<RawItem>([try RawItem(Array("{\"id\":\(part.lower)}".utf8))])
          page.total = total
          return page
        }
      }
    }
    let sink = MemorySink()
    let report = try await Export(listing(Total(.max), .keys(0..<3, every: 1)), to: sink).run()
    #expect(!report.isComplete && sink.items.count == 3)
    #expect(report.checkpoint?.missing == Int.max)
    // Halved, for there is more behind the first page than the server gives.
    var split = Split.keys(0..<2, every: 2)
    split.cap = 10
    #expect(try await listing(Total(.max, .remaining), split).collect().count == 2)
  }

  @Test("16-Parts: a position holds so many digests at most, and says so of a part that gave more")
  func boundsDigests() async throws {
    let server = Server(keys: Array(0..<12_000), cap: 11_000, size: 1_000)
    var split = Split.keys(0..<12_000, every: 12_000)
    split.key = "/key"
    var most = 0
    await #expect {
      for try await page in Cursor.partitioned(by: split, { server.cursor($0) }) {
        most = max(most, try JSONEncoder().encode(page.checkpoint).count)
      }
    } throws: {
      ($0 as? PageError)?.code == .resultWindowExceeded && "\($0)".contains("Make parts smaller")
    }
    #expect(most < 120_000)
  }

  @Test("16-Parts: a range of any length is cut into so many at most, without a gap")
  func ranges() {
    for (split, count) in [
      (Split.keys(0..<100, every: 40), 3), (Split.keys(0..<Int.max, every: 1), 10_000),
      (Split.keys(.min ..< .max, every: 1), 10_000), (Split.keys(0..<25_000, every: 1), 8_334),
      (Split.keys(5..<5, every: 1), 0), (Split.keys(.min ..< .max, every: .max), 3),
    ] {
      let ranges = split.ranges(atMost: 10_000)
      #expect(ranges.count <= 10_000 && ranges.count == count, "\(split)")
      #expect(ranges.first?.lowerBound ?? split.range.lowerBound == split.range.lowerBound)
      #expect(ranges.last?.upperBound ?? split.range.upperBound == split.range.upperBound)
      #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }
  }

  @Test("16-Parts: half a surrogate pair in a key stops no walk")
  func takesHalfPairs() async throws {
    var split = Split.keys(0..<2, every: 1)
    split.key = "/key"
    let cursor = Cursor.partitioned(by: split) { part in
      Cursor { _ in Page([raw(#"{"key":"\ud83d","part":\#(part.lower)}"#)]) }
    }
    #expect(try await cursor.collect().count == 2)
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
    let (first, last) = (Date(timeIntervalSince1970: -1e300), Date(timeIntervalSince1970: 1e300))
    #expect(Split.times(first..<last, every: .seconds(60)).ranges(atMost: 2).count == 2)
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
