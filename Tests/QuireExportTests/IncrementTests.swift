import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import Testing

@Suite("Exports of what has changed", .timeLimit(.minutes(15)))
struct IncrementTests {
  /// Items as the server has them: a number of their own, and the time of their last change.
  private struct Server: Sendable {
    var items: [(id: Int, time: Int)] = []

    /// Those at or behind a value, in pages of two.
    func cursor(since: Int?, newestFirst: Bool = false) -> Cursor<RawItem> {
      var items = items.filter { newestFirst || $0.time >= since ?? .min }
        .sorted { ($0.time, $0.id) < ($1.time, $1.id) }
      if newestFirst { items.reverse() }
      let texts = items.map { "{\"id\":\($0.id),\"time\":\($0.time)}" }
      return Cursor(
        listing(
          stride(from: 0, to: max(1, texts.count), by: 2).map {
            Array(texts[$0..<min($0 + 2, texts.count)])
          }))
    }
  }

  private func export(
    _ server: Server, to sink: MemorySink, newestFirst: Bool = false, lookBack: Duration = .zero
  ) -> Export {
    Export(
      to: sink,
      increment: Increment("/time", key: "/id", lookBack: lookBack, isNewestFirst: newestFirst)
    ) { server.cursor(since: $0?.integer, newestFirst: newestFirst) }
  }

  private func text(_ id: Int, _ time: Int) -> String { "{\"id\":\(id),\"time\":\(time)}" }

  @Test(
    "16-Increment: a later run brings what is new, exact at ties, in either order",
    arguments: [false, true])
  func ties(newestFirst: Bool) async throws {
    let sink = MemorySink(mode: .append)
    var server = Server(items: [(1, 10), (2, 20), (3, 30), (4, 30)])
    try await export(server, to: sink, newestFirst: newestFirst).run()
    #expect(sink.items.count == 4)
    try await export(server, to: sink, newestFirst: newestFirst).run()
    #expect(sink.items.count == 4)
    // One at the very value that was the greatest, one behind it, and one that changed.
    server.items += [(5, 30), (6, 40)]
    server.items[0].time = 35
    try await export(server, to: sink, newestFirst: newestFirst).run()
    #expect(Set(sink.items.suffix(3)) == [text(5, 30), text(6, 40), text(1, 35)])
    #expect(sink.items.count == 7)
    #expect(sink.checkpoint?.run == 3)
  }

  @Test("16-Increment: a newest-first listing is left at known ground")
  func stops() async throws {
    let sink = MemorySink(mode: .append)
    var server = Server(items: (0..<20).map { ($0, $0) })
    try await export(server, to: sink, newestFirst: true).run()
    server.items.append((20, 20))
    let report = try await export(server, to: sink, newestFirst: true).run()
    #expect(report.isComplete && report.items == 1)
    #expect(report.pages == 2)
    #expect(sink.items.count == 21)
  }

  @Test("16-Increment: an older item that is pinned on top does not end a newest-first listing")
  func pinned() async throws {
    let sink = MemorySink(mode: .append)
    func run(_ pages: [[(Int, Int)]]) async throws -> ExportReport {
      let pages = pages.map { $0.map { text($0.0, $0.1) } }
      return try await Export(
        to: sink, increment: Increment("/time", key: "/id", isNewestFirst: true)
      ) { _ in Cursor(listing(pages)) }.run()
    }
    _ = try await run([[(1, 10), (4, 40)], [(3, 30), (2, 20)]])
    let report = try await run([[(1, 10), (6, 60)], [(5, 50), (4, 40)], [(3, 30)], [(2, 20)]])
    #expect(sink.items.suffix(2) == [text(6, 60), text(5, 50)] && sink.items.count == 6)
    #expect(report.isComplete && report.pages == 3)
  }

  @Test(
    "16-Increment: a newest-first listing ends at no text of which none can tell whether it is older",
    arguments: [
      (["999"], ["1001", "1000", "999"], true),
      (["01HZX"], ["01J00", "01HZX"], true),
      (["2023/12/31 10:00"], ["2024/01/01 09:00", "2023/12/31 10:00"], true),
      (["Wed, 01 May 2024 00:00:00 GMT"], ["Fri, 03 May 2024 00:00:00 GMT"], false),
      (["12/31/2023"], ["01/02/2024", "12/31/2023"], false),
      (["v9"], ["v10", "v9"], false), (["2024/9/1"], ["2024/10/1"], false),
    ])
  func texts(first: [String], then: [String], isKnown: Bool) async throws {
    let sink = MemorySink(mode: .append)
    func run(_ values: [String]) async throws {
      let items = values.map { "{\"id\":\"\($0)\",\"t\":\"\($0)\"}" }
      try await Export(
        to: sink, increment: Increment("/t", key: "/id", isNewestFirst: true)
      ) { _ in Cursor(listing([items])) }.run()
    }
    func runTwice() async throws {
      try await run(first)
      try await run(then)
    }
    if isKnown {
      try await runTwice()
      #expect(sink.items.count == then.count)
    } else {
      await #expect { try await runTwice() } throws: { "\($0)".contains("cannot be told") }
    }
  }

  @Test(
    "16-Increment: what came late is found in the look-back, and what was there is not repeated")
  func looksBack() async throws {
    let sink = MemorySink(mode: .append)
    var server = Server(items: [(1, 1000), (2, 1050), (3, 1100)])
    try await export(server, to: sink, lookBack: .seconds(60)).run()
    server.items += [(4, 1045), (5, 1001)]
    try await export(server, to: sink, lookBack: .seconds(60)).run()
    #expect(sink.items.suffix(1) == [text(4, 1045)])
    #expect(sink.items.count == 4)
  }

  @Test("16-Increment: an item with its members in another order is the same item")
  func ordersMembers() async throws {
    let sink = MemorySink(mode: .append)
    for item in [#"{"id":1,"t":5,"o":{"a":1,"b":2}}"#, #"{"o":{"b":2,"a":1},"t":5,"id":1}"#] {
      try await Export(to: sink, increment: Increment("/t", key: "/id")) { _ in
        Cursor(listing([[item]]))
      }.run()
    }
    #expect(sink.items.count == 1)
  }

  @Test("16-Increment: a run that was interrupted goes on with what it had asked for")
  func goesOn() async throws {
    for newestFirst in [false, true] {
      let sink = MemorySink(mode: .append)
      let first = Server(items: (0..<4).map { ($0, 10 * $0) })
      try await export(first, to: sink, newestFirst: newestFirst).run()
      let second = Server(items: (0..<12).map { ($0, 10 * $0) })
      let asked = Asked()
      var failing = Export(
        to: sink, increment: Increment("/time", key: "/id", isNewestFirst: newestFirst)
      ) { since in
        asked.append(since)
        return second.cursor(since: since?.integer, newestFirst: newestFirst).limited(
          to: Limits(pages: 2))
      }
      failing.commits = .eachPage
      #expect(try await "\(failing.run().end)" == "limit (pages)")
      try await export(second, to: sink, newestFirst: newestFirst).run()
      #expect(Set(sink.items) == Set((0..<12).map { text($0, 10 * $0) }))
      #expect(sink.items.count == 12)
      #expect(asked.values.allSatisfy { $0 == nil || $0?.integer == 30 })
    }
  }

  /// A listing in pages of two with the newest items first, which declares its items but does not
  /// send the last ones.
  private func short(_ items: [Int], since: Int?, lacking: Int) -> Cursor<RawItem> {
    let found = items.filter { $0 >= since ?? .min }.sorted(by: >)
    let sent = found.dropLast(lacking).map { "{\"id\":\($0)}" }
    return Cursor { position in
      let start = position?.value?.integer ?? 0
      return Page(
        try sent.dropFirst(start).prefix(2).map { try RawItem(Array($0.utf8)) },
        next: start + 2 < sent.count ? Position(integerLiteral: start + 2) : nil,
        total: Total(found.count))
    }
  }

  @Test(
    "16-Increment, 16-Short: after a run that fell short, in one call or two, the next asks for the same",
    arguments: [false, true])
  func asksAgain(isInTwo: Bool) async throws {
    let sink = MemorySink(key: "/id")
    func run(_ items: ClosedRange<Int>, lacking: Int) async throws -> (JSONValue?, isShort: Bool) {
      let asked = Asked()
      func export(until limit: Int?) -> Export {
        Export(to: sink, increment: Increment("/id")) { since in
          asked.append(since)
          return short(Array(items), since: since?.integer, lacking: lacking)
            .limited(to: Limits(pages: limit))
        }
      }
      if isInTwo { _ = try await export(until: 1).run() }
      let report = try await export(until: nil).run()
      return (asked.values.first ?? nil, "\(report.end)" == "truncation suspected")
    }
    var (since, isShort) = try await run(1...6, lacking: 2)
    #expect(since == nil && isShort && sink.items.count == 4)
    (since, isShort) = try await run(1...6, lacking: 0)
    #expect(since == nil && !isShort && sink.items.count == 6)
    (since, isShort) = try await run(1...10, lacking: 1)
    #expect(since == 6 && isShort)
    (since, isShort) = try await run(1...10, lacking: 1)
    #expect(since == 6 && isShort && sink.items.count == 10)
    (since, isShort) = try await run(1...12, lacking: 0)
    #expect(since == 6 && !isShort && sink.items.count == 12)
    (since, isShort) = try await run(1...14, lacking: 0)
    #expect(since == 12 && !isShort && sink.items.count == 14)
  }

  @Test(
    "16-Changes, 16-Short: after a run that fell short, in one call or two, the next begins at the same token",
    arguments: [false, true])
  func keepsToken(isInTwo: Bool) async throws {
    let sink = MemorySink(key: "/id")
    // Two pages, of which the first has the token of the items behind them.
    func run(_ items: ClosedRange<Int>, lacking: Int) async throws -> (Int, isShort: Bool) {
      let start = Mutex(-1)
      let cursor = Cursor<RawItem> { position in
        let from = position?.value?.integer ?? 1
        let isFirst = from < 100
        if isFirst { start.withLock { $0 = from } }
        let found = isFirst ? items.filter { $0 >= from } : [from / 100]
        let sent = isFirst ? Array(found.dropFirst().dropLast(lacking)) : found
        var page = Page(
          try sent.map { try RawItem(Array("{\"id\":\($0)}".utf8)) },
          next: isFirst ? Position(integerLiteral: found[0] * 100) : nil,
          total: isFirst ? Total(found.count) : nil)
        if isFirst {
          page.metadata[ChangesPlace.self] = ChangesPlace(
            Position(integerLiteral: items.upperBound + 1))
        }
        return page
      }
      func report(until limit: Int?) async throws -> ExportReport {
        var export = Export(cursor.limited(to: Limits(pages: limit)), to: sink)
        export.readsChanges = true
        return try await export.run()
      }
      if isInTwo { _ = try await report(until: 1) }
      let end = try await report(until: nil).end
      return (start.withLock { $0 }, "\(end)" == "truncation suspected")
    }
    var (start, isShort) = try await run(1...6, lacking: 2)
    #expect(start == 1 && isShort && sink.items.count == 4)
    (start, isShort) = try await run(1...6, lacking: 0)
    #expect(start == 1 && !isShort && sink.items.count == 6)
    (start, isShort) = try await run(1...9, lacking: 1)
    #expect(start == 7 && isShort && sink.items.count == 8)
    (start, isShort) = try await run(1...9, lacking: 0)
    #expect(start == 7 && !isShort && sink.items.count == 9)
  }

  @Test("16-Increment: times are compared as times, and what cannot be compared is an error")
  func values() async throws {
    let sink = MemorySink(mode: .append)
    func run(_ values: [String], lookBack: Duration = .zero) async throws -> JSONValue? {
      let asked = Asked()
      let items = values.enumerated().map { "{\"id\":\($0.offset),\"t\":\($0.element)}" }
      try await Export(to: sink, increment: Increment("/t", key: "/id", lookBack: lookBack)) {
        asked.append($0)
        return Cursor(listing([items]))
      }.run()
      // The first call is for what is read; a second one is for what the destination holds.
      return asked.values.first ?? nil
    }
    #expect(try await run(["\"2026-01-01T02:00:00+02:00\"", "\"2026-01-01T00:30:00.5Z\""]) == nil)
    let start = try await run([], lookBack: .seconds(30))
    #expect(start == "2026-01-01T00:29:30Z")
    await #expect(throws: SinkError.self) { try await run(["5"]) }
  }
}

extension IncrementTests {
  /// What a run sends behind one that has seen a value, given as JSON.
  private func sent(behind value: String, lookBack: Duration = .zero) async throws -> JSONValue? {
    let (sink, asked) = (MemorySink(mode: .append), Asked())
    for _ in 0..<2 {
      try await Export(to: sink, increment: Increment("/t", key: "/id", lookBack: lookBack)) {
        asked.append($0)
        return Cursor(listing([["{\"id\":1,\"t\":\(value)}"]]))
      }.run()
    }
    return asked.values.lazy.compactMap(\.self).first
  }

  @Test(
    "16-Increment: the next run begins no later than this one did, however a time is written, and early enough for any zone",
    arguments: [
      ("2099-01-01T10:00:00Z", "yyyy-MM-dd'T'HH:mm:ssZZZZZ", 0.0),
      ("2099-01-01t10:00z", "yyyy-MM-dd't'HH:mm:ssZZZZZ", 0),
      ("2099-01-01T10:00:00.25", "yyyy-MM-dd'T'HH:mm:ss", 12),
      ("2099-01-01 10:00:00", "yyyy-MM-dd HH:mm:ss", 12),
      ("2099-01-01 10:00:00+05:00", "yyyy-MM-dd HH:mm:ssZZZZZ", 0),
      ("2099-01-01 10:00:00+05", "yyyy-MM-dd HH:mm:ss'Z'", 0),
      ("2099-01-01 10:00:00 -0500", "yyyy-MM-dd HH:mm:ss' +0000'", 0),
      ("2099-01-01 10:00:00 UTC", "yyyy-MM-dd HH:mm:ss' UTC'", 0),
      ("2099-01-01T10:00:00,123Z", "yyyy-MM-dd'T'HH:mm:ss'Z'", 0),
      ("2099-01-01T10:00:00.123456789Z", "yyyy-MM-dd'T'HH:mm:ss'Z'", 0),
      ("20990101T100000Z", "yyyyMMdd'T'HHmmss'Z'", 0),
      ("2099/01/01 10:00:00", "yyyy/MM/dd HH:mm:ss", 12),
      ("2099/01/01 10:00:00 +0000", "yyyy/MM/dd HH:mm:ss' +0000'", 0),
    ])
  func beginsEarly(value: String, format: String, hours: Double) async throws {
    let before = Date()
    let sent = try await sent(behind: "\"\(value)\"")
    let formatter = DateFormatter()
    formatter.locale = Locale(identifier: "en_US_POSIX")
    formatter.timeZone = TimeZone(identifier: "UTC")
    formatter.dateFormat = format
    let text = try #require(sent?.string)
    let start = try #require(formatter.date(from: text), "\(text)")
    let earliest = before.addingTimeInterval(-hours * 3600 - 1)
    #expect(start >= earliest && start <= Date().addingTimeInterval(-hours * 3600), "\(text)")
  }

  @Test(
    "16-Increment: a number that is a time of after the run began is no beginning; any other is")
  func beginsEarlyByNumber() async throws {
    let now = Date().timeIntervalSince1970
    for (value, isCut) in [
      (now + 3600, true), ((now + 3600) * 1000, true), ((now + 3600) * 1e6, true),
      ((now + 3600) * 1e9, true), (now - 3600, false), (7, false),
      (now * 2, false),
    ] {
      let sent = try await sent(behind: "\(Int64(value))")
      let start = try #require(sent?.integer)
      #expect((start < Int64(value)) == isCut, "\(value): \(start)")
    }
  }

  @Test("16-Increment: a text with a number that is a time of after the run began is no beginning")
  func beginsEarlyByText() async throws {
    let before = Int(Date().timeIntervalSince1970)
    for (head, unit, tail) in [("", 1, ".000000"), ("", 1000, ""), ("/Date(", 1000, ")/")] {
      func number(in text: String) -> Int? {
        guard text.hasPrefix(head), text.hasSuffix(tail) else { return nil }
        return Int(text.dropFirst(head.count).dropLast(tail.count))
      }
      for (time, isCut) in [(before + 3600, true), (before - 3600, false)] {
        let value = "\(head)\(time * unit)\(tail)"
        let text = try #require(try await sent(behind: "\"\(value)\"")?.string)
        let start = try #require(number(in: text), "\(text)")
        #expect(isCut ? (before * unit..<time * unit).contains(start) : text == value, "\(text)")
      }
    }
  }

  @Test("16-Increment: a time of ASP.NET is no beginning, however far ahead it is")
  func beginsEarlyByScriptTime() async throws {
    let before = Int(Date().timeIntervalSince1970)
    for zone in ["", "+0200"] {
      let sent = try await sent(
        behind: "\"/Date(253402300799999\(zone))/\"", lookBack: .seconds(60))
      let text = try #require(sent?.string)
      let start = try #require(Int(text.dropFirst(6).dropLast(2 + zone.utf8.count)), "\(text)")
      #expect(text == "/Date(\(start)\(zone))/")
      let now = Int(Date().timeIntervalSince1970)
      #expect((before - 61...now - 59).contains(start / 1000))
    }
    // Compared as times, not as texts.
    let (sink, asked) = (MemorySink(mode: .append), Asked())
    let items = [999_999_999_999, 1_000_000_000_000].map {
      "{\"id\":\($0),\"t\":\"/Date(\($0))/\"}"
    }
    for _ in 0..<2 {
      try await Export(to: sink, increment: Increment("/t", key: "/id")) {
        asked.append($0)
        return Cursor(listing([items]))
      }.run()
    }
    #expect(asked.values.lazy.compactMap(\.self).first == "/Date(1000000000000)/")
  }

  @Test("16-Increment: a look-back reaches back from the beginning of a run, too")
  func looksBackFromBeginning() async throws {
    let now = Date().timeIntervalSince1970
    for (second, ahead) in [(1.0, 60.0), (1000, 60), (1, 604_800), (1000, 604_800)] {
      let sent = try await sent(
        behind: "\(Int64((now + ahead) * second))", lookBack: .seconds(600))
      let start = Double(try #require(sent?.integer)) / second
      #expect(start >= now - 601 && start < Date().timeIntervalSince1970 - 599)
    }
    // Farther than numbers go.
    await #expect(throws: SinkError.self) {
      try await sent(behind: "\(Int64((now + 60) * 1000))", lookBack: .seconds(Int64.max))
    }
  }
}

/// What was asked for.
private final class Asked: Sendable {
  private let state = Mutex<[JSONValue?]>([])
  var values: [JSONValue?] { state.withLock { $0 } }
  func append(_ value: JSONValue?) { state.withLock { $0.append(value) } }
}

@Suite("Items that are gone")
struct TombstoneTests {
  @Test("16-Changes: what is gone goes from a sink with a key, in the order in which it came")
  func takesAway() async throws {
    let sink = MemorySink(key: "/id")
    for lines in [
      [#"{"id":1,"n":1}"#, #"{"id":2}"#, #"{"id":3}"#],
      [
        #"{"id":2,"gone":true}"#, #"{"id":4}"#, #"{"id":3,"gone":{}}"#, #"{"id":3,"n":2}"#,
        #"{"id":4,"gone":1}"#, #"{"id":1,"gone":false}"#, #"{"id":7,"gone":true}"#,
      ],
    ] {
      var export = Export(Cursor(listing([lines])), to: sink)
      export.deleted = Tombstone("/gone")
      try await export.run()
    }
    #expect(sink.items == [#"{"id":1,"gone":false}"#, #"{"id":3,"n":2}"#])
  }

  @Test("16-Changes, 16-Increment: half a surrogate pair in what items are told by stops no export")
  func takesHalfPairs() async throws {
    let lines = [#"{"id":"a\ud83d","t":1}"#, #"{"id":2,"t":"\ud83d"}"#]
    for sink in [MemorySink(key: "/id"), MemorySink(mode: .append)] {
      for _ in 0..<2 {
        try await Export(to: sink, increment: Increment("/t", key: "/id")) { _ in
          Cursor(listing([lines]))
        }.run()
      }
      // What has no value to be told by comes again.
      #expect(sink.items == lines + (sink.mode == .append ? [lines[1]] : []))
    }
    let sink = MemorySink(key: "/id")
    for gone in ["null", #""\ud83d""#] {
      var export = Export(Cursor(listing([[#"{"id":"a\ud83d","gone":\#(gone)}"#]])), to: sink)
      export.deleted = Tombstone("/gone")
      try await export.run()
      #expect(sink.items.count == (gone == "null" ? 1 : 0))
    }
  }

  @Test("16-Changes: a sink without a key holds what came, as it came")
  func keeps() async throws {
    let sink = MemorySink()
    let lines = [#"{"id":2}"#, #"{"id":2,"s":"cancelled"}"#]
    var export = Export(Cursor(listing([lines])), to: sink)
    export.deleted = Tombstone("/s", is: "cancelled")
    try await export.run()
    #expect(sink.items == lines)
  }

  @Test(
    "16-Changes: an expired cursor begins again into a sink with a key, three times, and is reported"
  )
  func restarts() async throws {
    let source = ExpiringSource()
    let sink = MemorySink(key: "/id")
    var export = Export(Cursor(source), to: sink)
    await #expect { try await export.run() } throws: { ($0 as? PageError)?.code == .cursorExpired }
    export.restartsExpired = true
    let report = try await export.run()
    #expect(report.recoveries == [.restarted, .restarted] && report.isComplete)
    #expect(sink.items.count == 4 && report.checkpoint?.items == 4)
    source.expires(10)
    export.restarts = true
    let failed = await export.outcome()
    #expect(failed.recoveries.count == 3 && !failed.isComplete)
    var other = Export(Cursor(source), to: MemorySink())
    other.restartsExpired = true
    #expect(await other.outcome().recoveries.isEmpty)
  }
}

/// Two pages of two, of which the second expires a few times.
private final class ExpiringSource: PageSource {
  private let left = Mutex(3)

  func expires(_ times: Int) { left.withLock { $0 = times } }

  func page(at position: Position?) throws -> Page<RawItem>? {
    let start = position?.value?.integer ?? 0
    if start > 0 {
      let isExpired = left.withLock { left in
        left -= 1
        return left >= 0
      }
      if isExpired { throw PageError(.cursorExpired, "The cursor is too old.") }
    }
    let items = try (start..<start + 2).map { try RawItem(Array("{\"id\":\($0)}".utf8)) }
    return Page(items, next: start == 0 ? Position(.number("2")) : nil)
  }
}
