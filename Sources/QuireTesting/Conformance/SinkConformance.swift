import QuireCore
public import QuireExport
import QuireJSON
import QuirePagination

/// Checks the promises that every `Sink` makes, at every point where an export may be killed.
///
/// ```swift
/// @Test func sinkKeepsItsPromises() async throws {
///   try await SinkConformance.check({ MySink(newFolder()) }, items: { $0.storedLines() })
/// }
/// ```
/// Items are objects with an `id`, which is unique in a run, and a `name`.
public enum SinkConformance {
  /// Checks every promise in turn.
  ///
  /// - Parameters:
  ///   - make: Creates a sink with a new, empty destination. Opening one sink twice opens the same
  ///     destination.
  ///   - items: Returns the items that a reader of the destination sees, as compact JSON, in any
  ///     order.
  /// - Throws: The first `ConformanceFailure`, or the sink's own error.
  public static func check<Destination: Sink>(
    _ make: () async throws -> Destination, items: (Destination) async throws -> [String]
  ) async throws {
    try await checkDeaths(make, items)
    try await checkExclusion(make)
    try await checkRestart(make, items)
    try await checkNextRun(make, items)
    try await checkShortRun(make, items)
    try await checkDeletions(make, items)
  }

  /// A step of an export.
  private enum Step { case write(Int), commit(Int) }

  private static let steps: [Step] = [
    .commit(0), .write(1), .commit(1), .write(2), .write(3), .commit(3), .write(4), .commit(4),
    .commit(4),
  ]

  private static func page(_ number: Int, run: Int = 1) throws -> SinkPage {
    let items = try (0..<3).map { index in
      try RawItem(Array(text(3 * number + index, run: run).utf8))
    }
    return SinkPage(items, index: number, position: Position(.number("\(number)")))
  }

  private static func text(_ id: Int, run: Int = 1) -> String {
    "{\"id\":\(id),\"name\":\"run \(run), \\\"item\\\" \(id)\"}"
  }

  private static func texts(of pages: Range<Int>, run: Int = 1) -> [String] {
    pages.flatMap { page in (0..<3).map { text(3 * page + $0, run: run) } }
  }

  /// Returns the checkpoint after a number of pages of a run.
  private static func checkpoint(
    after pages: Int, _ sequence: Int, run: Int = 1, isComplete: Bool = false
  ) -> Checkpoint {
    var checkpoint = Checkpoint(sequence: sequence, run: run, listing: ["path": "conformance"])
    (checkpoint.pages, checkpoint.items) = (pages, 3 * pages)
    checkpoint.position = isComplete ? nil : Position(.number("\(pages + 1)"))
    checkpoint.memory = ["greatest": .number("9007199254740993")]
    return checkpoint
  }

  /// Checks that an export killed after any step leaves the state of its last commit.
  private static func checkDeaths<Destination: Sink>(
    _ make: () async throws -> Destination, _ items: (Destination) async throws -> [String]
  ) async throws {
    for count in 0...steps.count {
      let sink = try await make()
      var session = try await sink.open(SinkOpening())
      try expect(
        session.checkpoint == nil, "A destination that is new has no checkpoint.",
        evidence: "It has.")
      let (last, committed) = try await play(steps.prefix(count), in: session)
      await session.close()
      let what = "An export ended after step \(count) of \(steps.count)."
      session = try await sink.open(SinkOpening())
      let found = session.checkpoint
      try expect(
        found == last, "A destination that is opened has the checkpoint that was committed last.",
        evidence: "\(what) It has \(found.map { "the one of commit \($0.sequence)" } ?? "none").")
      try await expectItems(
        try await items(sink), texts(of: 1..<committed + 1),
        "A destination holds the items up to its checkpoint and no others.", what)
      for number in committed + 1..<6 { try await session.write(page(number)) }
      try await session.commit(checkpoint(after: 5, 100, isComplete: true))
      await session.close()
      try await expectItems(
        try await items(sink), texts(of: 1..<6),
        "An export that goes on loses and repeats nothing.",
        what)
    }
  }

  /// Performs steps in a session. Returns the checkpoint and the number of pages committed last.
  private static func play(
    _ steps: some Sequence<Step>, in session: some SinkSession
  ) async throws -> (last: Checkpoint?, committed: Int) {
    var last: Checkpoint?
    var committed = 0
    for (index, step) in steps.enumerated() {
      switch step {
      case .write(let number): try await session.write(page(number))
      case .commit(let pages):
        let checkpoint = checkpoint(after: pages, index + 1)
        try await session.commit(checkpoint)
        (last, committed) = (checkpoint, pages)
        try expect(
          session.checkpoint == last, "A session has the checkpoint that it committed last.",
          evidence: "After step \(index + 1) it has another.")
      }
    }
    return (last, committed)
  }

  private static func checkExclusion<Destination: Sink>(
    _ make: () async throws -> Destination
  ) async throws {
    let sink = try await make()
    let session = try await sink.open(SinkOpening())
    var refusal: (any Error)?
    do {
      try await sink.open(SinkOpening()).close()
    } catch {
      refusal = error
    }
    await session.close()
    try expect(
      refusal.map { SinkError.Code.inUse ~= $0 } ?? false,
      "A destination that an export has open is refused to another, as in use.",
      evidence: refusal.map { "It threw \($0)." } ?? "It was opened twice.")
    try await sink.open(SinkOpening()).close()
  }

  private static func checkRestart<Destination: Sink>(
    _ make: () async throws -> Destination, _ items: (Destination) async throws -> [String]
  ) async throws {
    let sink = try await make()
    try await fill(sink, run: 1)
    var session = try await sink.open(SinkOpening(restarts: true))
    try expect(
      session.checkpoint == nil, "An export that begins anew finds no checkpoint.",
      evidence: "It has.")
    try await session.write(page(1, run: 7))
    await session.close()
    try await expectItems(
      try await items(sink), texts(of: 1..<3),
      "What is to be taken away by an export that begins anew is there until its first commit.", "")
    session = try await sink.open(SinkOpening(restarts: true))
    try await session.write(page(1, run: 7))
    try await session.commit(checkpoint(after: 1, 1))
    await session.close()
    try await expectItems(
      try await items(sink), texts(of: 1..<2, run: 7),
      "The first commit of an export that begins anew takes away what was there.", "")
  }

  /// Commits a complete run of two pages.
  private static func fill(_ sink: some Sink, run: Int) async throws {
    let session = try await sink.open(SinkOpening())
    for number in 1...2 { try await session.write(page(number, run: run)) }
    try await session.commit(checkpoint(after: 2, 10 * run, run: run, isComplete: true))
    await session.close()
  }

  private static func checkNextRun<Destination: Sink>(
    _ make: () async throws -> Destination, _ items: (Destination) async throws -> [String]
  ) async throws {
    let sink = try await make()
    guard sink.mode != .once else { return }
    try await fill(sink, run: 1)
    let session = try await sink.open(SinkOpening())
    try await session.write(page(1, run: 2))
    try await session.commit(checkpoint(after: 1, 11, run: 2))
    await session.close()
    let first = texts(of: 1..<3)
    let begun: [String] =
      switch sink.mode {
      case .append: first + texts(of: 1..<2, run: 2)
      case .upsert: texts(of: 1..<2, run: 2) + texts(of: 2..<3)
      case .once, .replace: first
      }
    try await expectItems(
      try await items(sink), begun,
      "A run by \(sink.mode) that is not complete shows what its mode says.",
      "")
    let rest = try await sink.open(SinkOpening())
    try expect(
      rest.checkpoint?.run == 2, "A later run that was begun is continued.", evidence: "It is not.")
    try await rest.write(page(2, run: 2))
    try await rest.commit(checkpoint(after: 2, 12, run: 2, isComplete: true))
    await rest.close()
    let second = texts(of: 1..<3, run: 2)
    try await expectItems(
      try await items(sink), sink.mode == .append ? first + second : second,
      "A run by \(sink.mode) that is complete shows what its mode says.", "")
  }

  /// Checks that a run which was to replace a complete one but fell short is kept beside it, and
  /// dropped by the next run.
  private static func checkShortRun<Destination: Sink>(
    _ make: () async throws -> Destination, _ items: (Destination) async throws -> [String]
  ) async throws {
    let sink = try await make()
    guard sink.mode == .replace else { return }
    try await fill(sink, run: 1)
    var short = checkpoint(after: 1, 21, run: 2)
    (short.position, short.fellShort, short.missing) = (short.start, true, 3)
    let session = try await sink.open(SinkOpening())
    try await session.write(page(1, run: 2))
    try await session.commit(short)
    await session.close()
    try await expectItems(
      try await items(sink), texts(of: 1..<3),
      "A run that fell short does not replace what is there.",
      "")
    try await fill(sink, run: 3)
    try await expectItems(
      try await items(sink), texts(of: 1..<3, run: 3),
      "What fell short is dropped by the run that is begun after it (Checkpoint.isOver).", "")
  }

  /// Checks that a sink with a key removes deleted items, whether they were written in an earlier
  /// commit or in the same one.
  private static func checkDeletions<Destination: Sink>(
    _ make: () async throws -> Destination, _ items: (Destination) async throws -> [String]
  ) async throws {
    let sink = try await make()
    guard sink.mode == .upsert else { return }
    let session = try await sink.open(SinkOpening())
    try await session.write(page(1))
    try await session.commit(checkpoint(after: 1, 1))
    var second = try page(2)
    second.deleted = try [text(3), text(7), text(99)].map { try RawItem(Array($0.utf8)) }
    try await session.write(second)
    var third = SinkPage(try [RawItem(Array(text(7, run: 2).utf8))])
    third.deleted = [try RawItem(Array("{\"id\":8}".utf8))]
    try await session.write(third)
    try await session.commit(checkpoint(after: 2, 2, isComplete: true))
    await session.close()
    try await expectItems(
      try await items(sink), [text(4), text(5), text(6), text(7, run: 2)],
      "What is gone goes from a sink whose mode is upsert, in the order in which it came.", "")
  }

  private static func expectItems(
    _ found: [String], _ expected: [String], _ promise: String, _ what: String
  ) async throws {
    try expect(
      found.sorted() == expected.sorted(), promise,
      evidence: "\(what) Expected \(expected.count) items, found \(found.count): \(found.sorted())."
    )
  }
}

/// Checks the promises that every `CheckpointStore` makes.
public enum CheckpointStoreConformance {
  /// Checks every promise in turn. `store` has to be empty.
  ///
  /// Throws the first `ConformanceFailure`, or the store's own error.
  public static func check(_ store: some CheckpointStore) async throws {
    var last: Checkpoint?
    for number in 1...5 {
      let session = try await store.open("one")
      try expect(
        session.checkpoint == last, "A store has the checkpoint that was saved last.",
        evidence: "Before save \(number) it has another.")
      var checkpoint = Checkpoint(sequence: number, listing: ["path": "conformance"])
      // Larger each time, so that the store has to grow.
      let token = String(repeating: "x", count: number * number * 400)
      checkpoint.position = Position(.string(token))
      try await session.save(checkpoint)
      last = checkpoint
      try expect(
        session.checkpoint == last, "A session has the checkpoint that it saved.",
        evidence: "After save \(number) it has another.")
      await session.close()
    }
    let other = try await store.open("two")
    try expect(
      other.checkpoint == nil, "Checkpoints of two names are two.", evidence: "They are one.")
    var refusal: (any Error)?
    do {
      try await store.open("two").close()
    } catch {
      refusal = error
    }
    await other.close()
    try expect(
      refusal.map { SinkError.Code.inUse ~= $0 } ?? false,
      "A checkpoint that an export has open is refused to another, as in use.",
      evidence: refusal.map { "It threw \($0)." } ?? "It was opened twice.")
  }
}
