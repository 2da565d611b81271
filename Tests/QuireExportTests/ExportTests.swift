import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct ExportTests {
  @Test("16-Exact: a run commits every item once, in order, and says that it is complete")
  func exportsAll() async throws {
    let sink = MemorySink()
    let report = try await Export(Cursor(ScriptedSource(sizes: 3, 0, 2)), to: sink).run()
    #expect(sink.items == ["0", "1", "2", "3", "4"])
    #expect(report.isComplete)
    #expect("\(report.end)" == "complete")
    #expect((report.pages, report.items, report.checkpoint?.items) == (3, 5, 5))
    #expect(sink.checkpoint?.isComplete == true)
  }

  @Test("16-Exact: a run that failed is continued behind what was committed, at every page")
  func goesOn() async throws {
    for page in 1...4 {
      let sink = MemorySink()
      let source = ScriptedSource(sizes: 2, 2, 2, 2)
      source.fail(page)
      var export = Export(Cursor(source), to: sink)
      export.lookAhead = page % 2
      await #expect(throws: PageError.self) { try await export.run() }
      #expect(sink.items == (0..<2 * (page - 1)).map(String.init))
      let report = try await export.run()
      #expect(report.isResumed == (page > 1))
      #expect(sink.items == (0..<8).map(String.init))
      #expect(report.items == 8 - 2 * (page - 1))
      #expect(sink.checkpoint?.items == 8)
    }
  }

  @Test("16-Exact: a complete destination is left alone, and nothing is requested")
  func isComplete() async throws {
    let sink = MemorySink()
    let source = ScriptedSource(sizes: 2, 1)
    let export = Export(Cursor(source), to: sink)
    try await export.run()
    let requests = source.requests
    let report = try await export.run()
    #expect("\(report.end)" == "already complete")
    #expect(report.isComplete)
    #expect(source.requests == requests)
    #expect(sink.items == ["0", "1", "2"])
  }

  @Test("16-Exact: restarting keeps what was there until the first page is committed")
  func restarts() async throws {
    let sink = MemorySink()
    let source = ScriptedSource(sizes: 2, 1)
    var export = Export(Cursor(source), to: sink)
    try await export.run()
    export.restarts = true
    source.fail(1)
    await #expect(throws: PageError.self) { try await export.run() }
    #expect(sink.items == ["0", "1", "2"])
    try await export.run()
    #expect(sink.items == ["0", "1", "2"])
    #expect(sink.checkpoint?.run == 1)
  }

  @Test("16-Exact: two exports into one destination: the second is refused before it requests")
  func refusesSecond() async throws {
    let sink = MemorySink()
    let source = ScriptedSource(sizes: 1, 1)
    source.hold(1)
    let first = Task { try await Export(Cursor(source), to: sink).run() }
    try await source.wait { $0.requests == [1] }
    let other = ScriptedSource(sizes: 1)
    await #expect { try await Export(Cursor(other), to: sink).run() } throws: {
      SinkError.Code.inUse ~= $0
    }
    #expect(other.requests == [])
    source.release(1)
    _ = try await first.value
  }

  @Test("16-Exact: a cancelled run commits what has come, and goes on later")
  func cancels() async throws {
    let sink = MemorySink()
    let source = ScriptedSource(sizes: 2, 2, 2)
    source.hold(2)
    let export = Export(Cursor(source), to: sink)
    let task = Task { try await export.run() }
    try await source.wait { $0.requests == [1, 2] }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(sink.items == ["0", "1"])
    source.release(2)
    try await export.run()
    #expect(sink.items == (0..<6).map(String.init))
  }

  @Test("16-Exact: what has come is committed while a page is waited for")
  func commitsWhileWaiting() async throws {
    let (sink, clock) = (MemorySink(), ManualClock())
    let source = ScriptedSource(sizes: 2, 2)
    source.hold(2)
    let export = Export(Cursor(source), to: sink, clock: clock)
    let task = Task { try await export.run() }
    try await source.wait { $0.requests == [1, 2] }
    try await clock.waitForSleepers()
    #expect(sink.items == [])
    clock.advance(by: .seconds(5))
    while sink.commits == 0 { await Task.yield() }
    #expect(sink.items == ["0", "1"])
    source.release(2)
    #expect(try await task.value.commits == 2)
    #expect(sink.items == ["0", "1", "2", "3"])
  }

  @Test("16-Exact: a caller's limit counts over all calls of a run")
  func countsLimits() async throws {
    let sink = MemorySink()
    let source = ScriptedSource(sizes: 2, 2, 2, 2)
    var cursor = Cursor(source).limited(to: Limits(items: 5))
    source.fail(2)
    await #expect(throws: PageError.self) { try await Export(cursor, to: sink).run() }
    let report = try await Export(cursor, to: sink).run()
    #expect("\(report.end)" == "limit (items)")
    #expect(sink.items == (0..<5).map(String.init))
    let requests = source.requests
    #expect(try await "\(Export(cursor, to: sink).run().end)" == "limit (items)")
    #expect(source.requests == requests)
    cursor.limits.items = 7
    try await Export(cursor, to: sink).run()
    #expect(sink.items == (0..<7).map(String.init))
  }

  /// A listing that declares so many items and has as many as there are numbers in its pages.
  private func listing(_ pages: [[Int]], declares total: Int) -> Cursor<Int> {
    Cursor { position in
      let index = position?.value?.integer ?? 0
      return Page(
        pages[index], next: index + 1 < pages.count ? Position(integerLiteral: index + 1) : nil,
        total: Total(total))
    }
  }

  @Test(
    "16-Exact, G10: an export that was continued is held to the server's total as one in one piece is",
    arguments: [1, 2, 3])
  func fallsShort(limit: Int) async throws {
    for (declared, isComplete) in [(7, true), (9, false)] {
      let sink = MemorySink()
      let cursor = listing([[1, 2], [3, 4], [5, 6], [7]], declares: declared)
      let first = try await Export(cursor.limited(to: Limits(pages: limit)), to: sink).run()
      #expect("\(first.end)" == "limit (pages)")
      let rest = try await Export(cursor, to: sink).run()
      #expect(rest.isResumed && rest.isComplete == isComplete, "\(rest)")
      #expect("\(rest.end)" == (isComplete ? "complete" : "truncation suspected"))
      #expect(sink.checkpoint?.missing == (isComplete ? nil : 2))
      #expect(sink.items == (1...7).map(String.init))
      // It is said of the destination as long as it stays so.
      #expect(try await Export(cursor, to: sink).run().isComplete == isComplete)
    }
  }

  @Test("16-Exact, G10: an export that only hears the end is held to what earlier calls were told")
  func fallsShortBehindPages() async throws {
    let cursor = Cursor<Int> { position in
      let index = position?.value?.integer ?? 0
      guard index < 2 else { throw PageError(.exhausted, "There is no such page.") }
      return Page([index], next: Position(integerLiteral: index + 1), total: Total(3))
    }
    let sink = MemorySink()
    _ = try await Export(cursor.limited(to: Limits(pages: 2)), to: sink).run()
    let report = try await Export(cursor, to: sink).run()
    #expect(report.isResumed && !report.isComplete, "\(report)")
    #expect(sink.checkpoint?.missing == 1)
  }

  @Test(
    "16-Short: a complete destination is not replaced by a listing that falls short, and by the next whole one is",
    arguments: ["memory", "a.jsonl", "a.json", "a.csv", "a.jsonl.gz"])
  func replacesByNoShort(name: String) async throws {
    let folder = try Folder()
    let memory = MemorySink(mode: .replace)
    let sink: any Sink = name == "memory" ? memory : FileSink(folder(name), mode: .replace)
    func held() throws -> [Int] {
      let text =
        name == "memory"
        ? memory.items.joined(separator: "\n")
        : name.hasSuffix("gz") ? try folder.unzipped(name) : folder.text(name)
      return text.split { !$0.isNumber }.compactMap { Int($0) }
    }
    func run(_ pages: [[Int]], _ declared: Int, until limit: Int? = nil) async throws
      -> ExportReport
    {
      var cursor = listing(pages, declares: declared)
      if let limit { cursor = cursor.limited(to: Limits(pages: limit)) }
      var export = Export(cursor, to: sink)
      export.commits = .eachPage
      return try await export.run()
    }
    #expect(try await run([[1, 2], [3]], 3).isComplete)
    // In one call, and in two.
    for limit in [nil, 1] {
      if let limit { _ = try await run([[11], [12]], 4, until: limit) }
      let short = try await run([[11], [12]], 4)
      #expect("\(short.end)" == "truncation suspected" && !short.isComplete)
      #expect(short.checkpoint?.missing == 2 && short.checkpoint?.isOver == true)
      #expect(try held() == [1, 2, 3])
    }
    // The next run begins anew, and takes the place of all.
    #expect(try await run([[21], [22], [23], [24]], 4).isComplete)
    #expect(try held() == [21, 22, 23, 24])
    // One that has always lacked an item lacks it in later runs, too.
    var anew = Export(listing([[1, 2]], declares: 3), to: sink)
    anew.restarts = true
    #expect(try await !anew.run().isComplete)
    #expect(try held() == [1, 2])
    #expect(try await run([[3, 4]], 3).checkpoint?.isComplete == true)
    #expect(try held() == [3, 4])
    if name != "memory" {
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names.sorted() == [name, name + ".checkpoint"])
    }
  }

  @Test(
    "16-Short: what is to replace a destination and fell short is not gone on with by another mode")
  func refusesOtherMode() async throws {
    let folder = try Folder()
    let path = folder("a.jsonl")
    try await Export(listing([[1]], declares: 1), to: FileSink(path)).run()
    try await Export(listing([[2]], declares: 9), to: FileSink(path, mode: .replace)).run()
    await #expect {
      try await Export(listing([[3]], declares: 1), to: FileSink(path, mode: .append)).run()
    } throws: { SinkError.Code.otherRequest ~= $0 }
    #expect(folder.text("a.jsonl") == "1\n")
  }

  @Test(
    "16-Exact: a page that has changed since a limit cut it loses no item: it is an error, or read again",
    arguments: [[], [8], [1], [2], Array(1...7), Array(1...8)])
  func noticesChangedPage(gone: [Int]) async throws {
    for sink in [MemorySink(mode: .append), MemorySink(key: "/id")] {
      let items = Mutex(Array(1...8))
      let cursor = Cursor<RawItem> { position in
        let left = items.withLock { $0 }.filter { $0 > position?.value?.integer ?? 0 }
        let found = Array(left.prefix(3))
        // Encoders may write members in any order.
        let isWhole = items.withLock { $0.count == 8 }
        return Page(
          try found.map {
            try RawItem(Array((isWhole ? "{\"id\":\($0),\"n\":1}" : "{\"n\":1,\"id\":\($0)}").utf8))
          }, next: left.count > 3 ? Position(integerLiteral: found[2]) : nil)
      }
      let cut = try await Export(cursor.limited(to: Limits(items: 2)), to: sink).run()
      #expect("\(cut.end)" == "limit (items)" && cut.items == 2)
      items.withLock { $0.removeAll(where: gone.contains) }
      let report = await Export(cursor, to: sink).outcome()
      let isSame = gone.isEmpty || gone == [8]
      if sink.mode == .append, !isSame {
        guard case .failed(let error as PageError) = report.end else {
          Issue.record("\(report.end)")
          continue
        }
        #expect(error.code == .pageChanged && sink.items.count == 2, "\(error)")
      } else {
        #expect(report.isComplete, "\(report.end)")
        #expect(sink.items.count == Set(1...8).subtracting(gone).union([1, 2]).count)
        #expect(Set(sink.items).count == sink.items.count)
      }
    }
  }

  @Test(
    "16-Exact: an export goes on behind an item that has changed and is the same by its identity, and says so",
    arguments: [true, false])
  func goesOnBehindChangedItem(isUpsert: Bool) async throws {
    for (id, isSame) in [("2", true), ("9", false)] {
      let changed = Mutex<String?>(nil)
      let cursor = Cursor<RawItem> { _ in
        let second = changed.withLock { $0 } ?? #"{"id":2,"n":1}"#
        let texts = [#"{"id":1,"n":1}"#, second, #"{"id":3,"n":1}"#]
        return Page(try texts.map { try RawItem(Array($0.utf8)) })
      }
      let sink = isUpsert ? MemorySink(key: "/id") : MemorySink()
      try await Export(cursor.limited(to: Limits(items: 2)), to: sink).run()
      let new = #"{"id":\#(id),"n":2}"#
      changed.withLock { $0 = new }
      let report = await Export(cursor, to: sink).outcome()
      #expect(report.isComplete == (isUpsert || isSame), "\(report)")
      let isTold = report.walk.warnings.contains { $0.code == .changedItem }
      #expect(isTold == (!isUpsert && isSame), "\(report.walk.warnings)")
      #expect(sink.items.contains(new) == isUpsert)
      #expect(sink.items.count == (isUpsert ? isSame ? 3 : 4 : isSame ? 3 : 2))
    }
  }

  @Test("16-Exact: what a limit cuts out of a page, or a filter drops, is not missing")
  func isNotShort() async throws {
    let sink = MemorySink()
    let cursor = listing([[1, 2, 3], [4, 5, 6], [7]], declares: 7)
    let odd = cursor.filter { !$0.isMultiple(of: 2) }
    try await Export(odd.limited(to: Limits(pages: 1)), to: sink).run()
    #expect(try await Export(odd, to: sink).run().isComplete)
    let other = MemorySink()
    try await Export(cursor.limited(to: Limits(items: 4)), to: other).run()
    #expect(try await Export(cursor, to: other).run().isComplete)
    #expect(other.items == (1...7).map(String.init))
    let short = listing([[1, 2], [3]], declares: 5).filter { !$0.isMultiple(of: 2) }
    #expect(try await Export(short, to: MemorySink()).run().checkpoint?.missing == 2)
    let midway = MemorySink()
    let part = cursor.resuming(from: Position(1))
    try await Export(part.limited(to: Limits(pages: 1)), to: midway).run()
    #expect(try await Export(part, to: midway).run().isComplete)
  }

  @Test("16-Exact: a later run appends, replaces at once, or takes the place of equal keys")
  func runsAgain() async throws {
    for mode in [SinkMode.append, .replace, .upsert] {
      let sink = MemorySink(mode: mode, key: mode == .upsert ? "" : nil)
      let source = ScriptedSource(sizes: 2, 2)
      let export = Export(Cursor(source), to: sink)
      try await export.run()
      source.fail(2)
      var each = export
      each.commits = .eachPage
      await #expect(throws: PageError.self) { try await each.run() }
      #expect(sink.items.count == (mode == .append ? 6 : 4), "\(mode)")
      try await each.run()
      #expect(sink.items.count == (mode == .append ? 8 : 4), "\(mode)")
      #expect(sink.checkpoint?.run == 2)
    }
  }
}

@Suite(.timeLimit(.minutes(15))) struct CheckpointTests {
  static let checkpoint = {
    var checkpoint = Checkpoint(sequence: 7, run: 2, start: "a", listing: ["path": "1a2b3c4d"])
    checkpoint.position = Position(.number("9007199254740993.10"), itemOffset: 3)
    (checkpoint.pages, checkpoint.items) = (12, 345)
    checkpoint.memory = ["since": "2026-01-01", "n": .number("1e400")]
    (checkpoint.tally.received, checkpoint.tally.declared) = (350, 360)
    return checkpoint
  }()

  @Test("K6: a stored checkpoint comes back without loss")
  func comesBack() throws {
    let checkpoint = Self.checkpoint
    #expect(try Checkpoint(bytes: checkpoint.bytes) == checkpoint)
    #expect(try Checkpoint(bytes: Checkpoint().bytes) == Checkpoint())
    #expect(try Checkpoint(bytes: checkpoint.bytes).isComplete == false)
  }

  @Test("K6: no bit of a stored checkpoint can change, and no byte be lost, unnoticed")
  func noticesDamage() {
    let bytes = Self.checkpoint.bytes
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        #expect(throws: SinkError.self, "bit \(bit) of byte \(index)") {
          try Checkpoint(bytes: damaged)
        }
      }
      #expect(throws: SinkError.self) { try Checkpoint(bytes: bytes.prefix(index)) }
    }
  }

  @Test("K6: a checkpoint of a later form is refused by its number")
  func refusesLaterForm() {
    let text = String(decoding: Self.checkpoint.bytes, as: UTF8.self)
      .replacing("{\"quire\":1", with: "{\"quire\":2")
    #expect { try Checkpoint(bytes: text.utf8) } throws: { SinkError.Code.unsupported ~= $0 }
  }
}
