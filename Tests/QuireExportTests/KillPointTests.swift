import Foundation
import QuireCore
@testable import QuireExport
import QuirePagination
import QuireTesting
import Synchronization
import Testing

/// An export into a simulated file, and what must have become of it.
struct KillScenario: CustomTestStringConvertible, Sendable {
  var name: String
  var mode = SinkMode.once
  /// Complete runs in front of the one that is looked at.
  var before = 1
  var pages = ProcessInfo.processInfo.environment["PAGES"].flatMap { Int($0) } ?? 6
  var testDescription: String { "\(name) \(mode) behind \(before)" }

  static let all: [KillScenario] =
    ["a.jsonl", "a.json", "a.csv", "a.tsv", "a.jsonl.gz", "a.json.gz", "a.csv.gz", "a.tsv.gz"]
    .flatMap {
      [
        KillScenario(name: $0, before: 0), KillScenario(name: $0, mode: .replace),
        .init(name: $0, mode: .replace, before: 2), .init(name: $0, mode: .append),
      ]
    }

  var path: String { "/d/\(name)" }

  /// Two items a page; from the fourth page on they have a member that earlier ones lack.
  static func items(run: Int, pages: Int) -> [[String]] {
    (0..<pages).map { page in
      (0..<2).map { index in
        let late = page > 2 ? ",\"late\":\(page)" : ""
        return "{\"run\":\(run),\"n\":\(2 * page + index)\(late)}"
      }
    }
  }

  /// Runs the export as often as it takes, the first time with something that goes wrong.
  func run(
    _ number: Int, in files: SimulatedFiles, restarts: Bool = false
  ) async -> ExportReport {
    let sink = FileSink(
      path, format: nil, columns: nil, guardsFormulas: false, mode: mode, calls: files.calls,
      isLocked: false)
    var export = Export(
      Cursor(listing(Self.items(run: number, pages: pages))), to: sink)
    export.commits = .eachPage
    export.lookAhead = 0
    export.restarts = restarts
    return await export.outcome()
  }

  /// The items that the file must hold after so many complete runs, as the format writes them.
  func expected(runs: Int) -> [String] {
    let numbers = mode == .append ? Array(1...runs) : [mode == .replace ? runs : 1]
    let items = numbers.flatMap { Self.items(run: $0, pages: pages).joined() }
    guard FileFormat(path: path)?.isTable == true else { return items }
    let comma = name.contains("csv") ? "," : "\t"
    let rows = numbers.flatMap { run in
      (0..<2 * pages).map { "\(run)\(comma)\($0)\(comma)\($0 / 2 > 2 ? "\($0 / 2)" : "")" }
    }
    return ["run\(comma)n\(comma)late"] + rows
  }

  /// The items that the file holds.
  func found(in files: SimulatedFiles) throws -> [String] {
    var bytes = files.content(path) ?? []
    if name.hasSuffix(".gz") {
      let packed = bytes
      bytes = []
      try GzipReader().add(packed) { bytes += $0 }
    }
    let text = String(decoding: bytes, as: UTF8.self)
    if name.contains(".json") && !name.contains("jsonl") {
      let lines = text.split(separator: "\n")
      #expect(lines.first == "[" && lines.last == "]")
      return lines.dropFirst().dropLast().map { String($0.hasSuffix(",") ? $0.dropLast() : $0) }
    }
    return text.split(whereSeparator: \.isNewline).map(String.init)
  }
}

@Suite("Exports that are killed, at every call", .timeLimit(.minutes(120)))
struct KillPointTests {
  /// The file system after the runs before the one that is looked at.
  private func prepared(_ scenario: KillScenario) async -> (SimulatedFiles, run: Int) {
    let files = SimulatedFiles()
    for run in 0..<scenario.before {
      files.restart()
      _ = await scenario.run(run + 1, in: files)
    }
    return (files, scenario.before + 1)
  }

  private func calls(of run: Int, _ scenario: KillScenario, from files: SimulatedFiles) async -> Int
  {
    let copy = files.copy()
    copy.restart()
    _ = await scenario.run(run, in: copy)
    return copy.count
  }

  /// Until a run that replaces is complete, a reader sees what was there, and then all of what is there now.
  private func checkShown(
    _ scenario: KillScenario, _ files: SimulatedFiles, _ what: String
  ) throws {
    guard scenario.mode == .replace else { return }
    let found = try scenario.found(in: files)
    let isWhole = [scenario.before, scenario.before + 1].contains {
      found == scenario.expected(runs: $0)
    }
    #expect(isWhole, "\(what): \(found)")
  }

  /// Runs the export again, as after any death. Where the one that died had come to its end already, an
  /// export that replaces or appends begins another run with it.
  private func checkWhole(
    _ scenario: KillScenario, _ run: Int, _ files: SimulatedFiles, _ what: String
  ) async throws {
    files.restart()
    let report = await scenario.run(run, in: files)
    #expect(report.isComplete, "\(what): \(report.end)")
    var expected = scenario.expected(runs: run)
    if scenario.mode == .append, report.checkpoint?.run == run + 1 {
      expected += expected.suffix(2 * scenario.pages)
    }
    #expect(try scenario.found(in: files) == expected, "\(what)")
    let left = files.names.filter { $0.contains(".quire-") || $0.hasSuffix(".new") }
    #expect(left.isEmpty, "\(what)")
  }

  @Test(
    "K1: an export that is killed at any call is whole after the next run",
    arguments: KillScenario.all)
  func killed(scenario: KillScenario) async throws {
    let (files, run) = await prepared(scenario)
    let count = await calls(of: run, scenario, from: files)
    #expect(count > 15)
    for call in 1...count {
      let copy = files.copy()
      copy.restart(fault: (call, .killed))
      _ = await scenario.run(run, in: copy)
      try checkShown(scenario, copy, "\(scenario) killed at call \(call)")
      try await checkWhole(scenario, run, copy, "\(scenario) killed at call \(call) of \(count)")
    }
  }

  @Test("K1: an export that begins anew and is killed at any call stands in the way of no other")
  func killedAnew() async throws {
    let scenario = KillScenario(name: "a.jsonl", mode: .replace)
    let (files, run) = await prepared(scenario)
    // What it finds is in the middle of a run that replaces.
    let count = await calls(of: run, scenario, from: files)
    files.restart(fault: (count / 2, .killed))
    _ = await scenario.run(run, in: files)
    #expect(files.names.contains { $0.contains(".quire-") })
    let whole = files.copy()
    whole.restart()
    _ = await scenario.run(run, in: whole, restarts: true)
    for call in 1...whole.count {
      let copy = files.copy()
      copy.restart(fault: (call, .killed))
      _ = await scenario.run(run, in: copy, restarts: true)
      try await checkWhole(scenario, run, copy, "begun anew and killed at call \(call)")
    }
  }

  @Test("K1, K9: a file that takes the destination's place when it is opened next is locked")
  func locksWhatTookPlace() async throws {
    let folder = try Folder()
    func sink(_ calls: FileCalls) -> FileSink {
      FileSink(
        folder("a.jsonl"), format: nil, columns: nil, guardsFormulas: false, mode: .replace,
        calls: calls, isLocked: true)
    }
    _ = await Export(Cursor(listing([["1"]])), to: sink(.system)).outcome()
    // Dies between the last commit and the new name.
    var calls = FileCalls.system
    calls.rename = { $1.hasSuffix(".jsonl") ? -EIO : FileCalls.system.rename($0, $1) }
    let report = await Export(Cursor(listing([["2"]])), to: sink(calls)).outcome()
    #expect(!report.isComplete)
    let session = try sink(.system).open(SinkOpening())
    let descriptor = open(folder("a.jsonl"), O_RDWR)
    // The lock of an open file (`F_OFD_SETLK`), which those of its own process keep out as others would.
    var lock = flock(
      l_type: Int16(F_WRLCK), l_whence: Int16(SEEK_SET), l_start: 0, l_len: 0, l_pid: 0)
    #expect(fcntl(descriptor, 37, &lock) == -1)
    close(descriptor)
    await session.close()
    #expect(folder.text("a.jsonl") == "2\n")
  }

  @Test("K1: a table that a limit ended goes on where it died before the filled one took its place")
  func goesOnWithFilledTable() async throws {
    let folder = try Folder()
    let pages = [[#"{"a":1}"#], [#"{"b":2}"#], [#"{"a":3}"#]]
    func export(_ calls: FileCalls, _ limits: Limits) async -> ExportReport {
      let sink = FileSink(
        folder("a.csv"), format: nil, columns: nil, guardsFormulas: false, mode: .once,
        calls: calls, isLocked: true)
      var export = Export(Cursor(listing(pages)).limited(to: limits), to: sink)
      export.commits = .eachPage
      return await export.outcome()
    }
    var calls = FileCalls.system
    calls.rename = { $1.hasSuffix(".csv") ? -EIO : FileCalls.system.rename($0, $1) }
    let report = await export(calls, Limits(pages: 2))
    #expect(report.checkpoint?.pages == 2)
    #expect(folder.text("a.csv") == "a\r\n1\r\n,2\r\n")
    let rest = await export(.system, Limits())
    #expect(rest.isComplete && rest.pages == 1, "\(rest.end)")
    #expect(folder.text("a.csv") == "a,b\r\n1,\r\n,2\r\n3,\r\n")
  }

  @Test(
    "16-Files: short items of a wide table are written in pieces, and so is a table that is filled",
    arguments: ["a.csv", "a.csv.gz"])
  func writesPieces(name: String) async throws {
    let folder = try Folder()
    let wide = "{\((0..<10_000).map { "\"m\($0)\":0" }.joined(separator: ","))}"
    let short = Array(repeating: "{}", count: 2_000)
    let longest = Mutex(0)
    var calls = FileCalls.system
    calls.write = { descriptor, bytes, offset in
      longest.withLock { $0 = max($0, bytes.count) }
      return FileCalls.system.write(descriptor, bytes, offset)
    }
    for (path, pages) in [("wide-", [[wide], short]), ("filled-", [short, [wide]])] {
      let sink = FileSink(
        folder(path + name), format: nil, columns: nil, guardsFormulas: false, mode: .once,
        calls: calls, isLocked: true)
      var export = Export(Cursor(listing(pages)), to: sink)
      export.commits = .eachPage
      #expect(try await export.run().isComplete)
      let text =
        name.hasSuffix(".gz") ? try folder.unzipped(path + name) : folder.text(path + name)
      let rows = text.split(separator: "\r\n", omittingEmptySubsequences: false)
      #expect(rows.count == 2_003)
      #expect(rows.dropLast().allSatisfy { $0.utf8.count { $0 == 0x2C } == 9_999 })
    }
    #expect(longest.withLock { $0 } < 2 << 20)
  }

  @Test(
    "K3: a table without room to be written once more leaves no copy, and no row that counts for nothing"
  )
  func dropsUnfinishedCopy() async throws {
    let folder = try Folder()
    func sink(_ calls: FileCalls) -> FileSink {
      FileSink(
        folder("a.csv"), format: nil, columns: nil, guardsFormulas: false, mode: .once,
        calls: calls,
        isLocked: true)
    }
    func run(_ calls: FileCalls) async -> ExportReport {
      var export = Export(
        Cursor(listing([[#"{"id":1}"#], [#"{"id":2,"late":3}"#]])), to: sink(calls))
      export.commits = .eachPage
      return await export.outcome()
    }
    let copy = Mutex<Int32>(-1)
    var calls = FileCalls.system
    calls.open = { path, flags in
      let descriptor = FileCalls.system.open(path, flags)
      if path.hasSuffix("-filled") { copy.withLock { $0 = descriptor } }
      return descriptor
    }
    calls.write = {
      $0 == copy.withLock { $0 } ? -Int(ENOSPC) : FileCalls.system.write($0, $1, $2)
    }
    let full = await run(calls)
    #expect(full.end.description == "failed (writeFailed)" && full.pages == 1)
    #expect(folder.text("a.csv") == "id\r\n1\r\n")
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    #expect(names == ["a.csv", "a.csv.checkpoint"])
    #expect(await run(.system).isComplete)
    #expect(folder.text("a.csv") == "id,late\r\n1,\r\n2,3\r\n")
  }

  @Test(
    "K1, K4: a complete file still to take its name stays where it cannot be opened, or its name not confirmed",
    arguments: [true, false])
  func keepsWhatIsStaged(opens: Bool) async throws {
    let folder = try Folder()
    func sink(_ calls: FileCalls) -> FileSink {
      FileSink(
        folder("a.jsonl"), format: nil, columns: nil, guardsFormulas: false, mode: .replace,
        calls: calls, isLocked: true)
    }
    _ = await Export(Cursor(listing([[]])), to: sink(.system)).outcome()
    #expect(folder.text("a.jsonl") == "")
    // Dies between the last commit and the new name.
    var calls = FileCalls.system
    calls.rename = { $1.hasSuffix(".jsonl") ? -EIO : FileCalls.system.rename($0, $1) }
    _ = await Export(Cursor(listing([["1"]])), to: sink(calls)).outcome()
    calls = .system
    if opens {
      // The name was given to a new, empty file meanwhile.
      try FileManager.default.removeItem(atPath: folder("a.jsonl"))
      calls.syncFolder = { _ in -EIO }
    } else {
      calls.open = { $0.hasSuffix("-replacement") ? -EIO : FileCalls.system.open($0, $1) }
    }
    let report = await Export(Cursor(listing([["2"]])), to: sink(calls)).outcome()
    #expect(!report.isComplete && report.pages == 0)
    let session = try sink(.system).open(SinkOpening())
    await session.close()
    #expect(folder.text("a.jsonl") == "1\n")
  }

  @Test(
    "K1, K4: a call that fails when an export is gone on with costs nothing that was committed",
    arguments: [SinkMode.once, .append, .replace])
  func failingResumed(mode: SinkMode) async throws {
    let scenario = KillScenario(name: "a.jsonl", mode: mode)
    let (files, run) = await prepared(scenario)
    let whole = await calls(of: run, scenario, from: files)
    // In the middle of the run.
    files.restart(fault: (whole / 2, .killed))
    _ = await scenario.run(run, in: files)
    let count = await calls(of: run, scenario, from: files)
    for call in 1...count {
      let copy = files.copy()
      copy.restart(fault: (call, .error(EIO)))
      _ = await scenario.run(run, in: copy)
      try await checkWhole(scenario, run, copy, "gone on with, EIO at call \(call) of \(count)")
    }
  }

  @Test("Q1: a file that cannot be opened for want of descriptors is named, and what to do")
  func fewDescriptors() throws {
    let folder = try Folder()
    var calls = FileCalls.system
    calls.open = { _, _ in -EMFILE }
    let error = #expect(throws: SinkError.self) { try GenerationFile(folder("a"), calls) }
    #expect(error?.code == .writeFailed && error?.reason == EMFILE)
    #expect(error?.message.contains(folder("a")) == true)
    #expect(error?.message.contains("ulimit -n") == true)
  }

  @Test("K6: a checkpoint that is damaged is not left open")
  func closesDamaged() throws {
    let folder = try Folder()
    try "x".write(toFile: folder("a"), atomically: false, encoding: .utf8)
    let held = Mutex(0)
    var calls = FileCalls.system
    calls.open = { path, flags in
      held.withLock { $0 += 1 }
      return FileCalls.system.open(path, flags)
    }
    calls.close = { descriptor in
      held.withLock { $0 -= 1 }
      FileCalls.system.close(descriptor)
    }
    #expect(throws: SinkError.self) { try GenerationFile(folder("a"), calls) }
    #expect(held.withLock { $0 } == 0)
  }

  @Test(
    "K3, K4, K5: a call that fails or writes less costs nothing that the next run does not bring",
    arguments: KillScenario.all)
  func failing(scenario: KillScenario) async throws {
    let (files, run) = await prepared(scenario)
    let count = await calls(of: run, scenario, from: files)
    let faults: [SimulatedFiles.Fault] = [
      .error(ENOSPC), .error(EIO), .error(EDQUOT), .error(EROFS), .error(EINTR), .short,
    ]
    for fault in faults {
      for call in 1...count {
        let copy = files.copy()
        copy.restart(fault: (call, fault))
        _ = await scenario.run(run, in: copy)
        try await checkWhole(scenario, run, copy, "\(scenario) \(fault) at call \(call)")
      }
    }
  }

  @Test(
    "K2: an export whose machine loses power at any call is whole after the next run",
    arguments: KillScenario.all)
  func powerless(scenario: KillScenario) async throws {
    // Many states of few pages say more than few states of many.
    var scenario = scenario
    scenario.pages = min(scenario.pages, 12)
    let (files, run) = await prepared(scenario)
    let count = await calls(of: run, scenario, from: files)
    let total = ProcessInfo.processInfo.environment["STATES"].flatMap { Int($0) }
    let states = total.map { ($0 / KillScenario.all.count + count - 1) / count } ?? 3
    let seed = UInt64.random(in: .min ... .max)
    var generator = SeededGenerator(seed: seed)
    for call in 1...count {
      let dead = files.copy()
      dead.restart(fault: (call, .killed))
      _ = await scenario.run(run, in: dead)
      for state in 0..<states {
        let copy = dead.copy()
        copy.losePower(&generator)
        try checkShown(scenario, copy, "power lost at call \(call), state \(state), seed \(seed)")
        try await checkWhole(
          scenario, run, copy,
          "\(scenario) power lost at call \(call), state \(state), seed \(seed)")
      }
    }
    if total != nil { print("  \(scenario): \(count * states) states, seed \(seed)") }
  }
}
