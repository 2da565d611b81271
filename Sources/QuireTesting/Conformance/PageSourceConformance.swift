import Foundation
public import QuireCore

/// Checks the promises of `PageSource` on an implementation.
///
/// ```swift
/// try await PageSourceConformance { MyDatabase.people(pageSize: 10) }.check()
/// ```
/// The listing must have at least two pages and must not change during the check. Every page is
/// requested at most four times, and the walk is resumed from 16 of them, for 16 pages each: a
/// check makes a few hundred requests more than that, however long the listing is.
public struct PageSourceConformance<Source: PageSource>: Sendable {
  private let makeSource: @Sendable () async throws -> Source
  private let fingerprint: @Sendable (Source.Item) -> String
  private let maxPages: Int
  private let makeHeldSource: (@Sendable (Gate) async throws -> Source)?

  /// Creates a check of the sources that `makeSource` creates, all of the same listing.
  ///
  /// - Parameters:
  ///   - maxPages: The number of pages after which a listing counts as endless. Default 1,000.
  ///   - fingerprint: Identifies an item. Default: its description.
  ///   - makeHeldSource: Creates a source whose request for the first page waits at the gate, so
  ///     that it can be cancelled while it runs. Default nil: only a request cancelled before it
  ///     starts is checked, which a source in memory may answer.
  ///   - makeSource: Creates an unused source.
  public init(
    maxPages: Int = 1000,
    fingerprint: @escaping @Sendable (Source.Item) -> String = { String(describing: $0) },
    makeHeldSource: (@Sendable (Gate) async throws -> Source)? = nil,
    makeSource: @escaping @Sendable () async throws -> Source
  ) {
    self.maxPages = maxPages
    self.fingerprint = fingerprint
    self.makeHeldSource = makeHeldSource
    self.makeSource = makeSource
  }

  /// Checks every promise. Throws a `ConformanceFailure` for the first broken one.
  public func check() async throws {
    let source = try await makeSource()
    let pages = try await walkByHand(source)
    await source.close(at: nil)
    try checkPositions(pages, mayRepeat: source.repeatedPositions == .allowed)
    try await checkRepetition(pages)
    try await checkCursor(pages)
    try await checkResumption(pages)
    try await checkCancellation()
    try await checkCancellationWhileRunning()
  }

  private func walkByHand(_ source: Source) async throws -> [Page<Source.Item>] {
    var pages: [Page<Source.Item>] = []
    var position: Position?
    while let page = try await source.page(at: position) {
      pages.append(page)
      try expect(
        pages.count <= maxPages, "A listing ends.",
        evidence: "\(maxPages) pages came, and another one follows.")
      guard let next = page.next else { break }
      position = next
    }
    try expect(
      pages.count >= 2, "The listing under test has two pages or more.",
      evidence: "It has \(pages.count).")
    return pages
  }

  private func checkPositions(_ pages: [Page<Source.Item>], mayRepeat: Bool) throws {
    for position in pages.compactMap(\.next) {
      try expect(
        position.itemOffset == 0, "A source leads to pages, not inside them.",
        evidence: "It leads to \(position).")
      let stored = try JSONEncoder().encode(position)
      try expect(
        try JSONDecoder().decode(Position.self, from: stored) == position,
        "A position survives JSON.", evidence: "\(position) came back as something else.")
    }
    let positions = pages.compactMap(\.next)
    try expect(
      Set(positions).count == positions.count || mayRepeat,
      "Every page has a position of its own, unless repeated positions are allowed.",
      evidence: "\(positions.count) pages share \(Set(positions).count) positions.")
  }

  private func checkRepetition(_ pages: [Page<Source.Item>]) async throws {
    let source = try await makeSource()
    guard source.repeatedPositions == .refused else { return }
    var position: Position?
    for (index, page) in pages.enumerated() {
      for attempt in 1...2 {
        let again = try await source.page(at: position)
        try expect(
          again.map(prints) == prints(page) && again?.next == page.next,
          "The same position always asks for the same page.",
          evidence: "Page \(index) was another one when asked for again (\(attempt)).")
      }
      position = page.next
    }
    await source.close(at: nil)
  }

  private func checkCursor(_ pages: [Page<Source.Item>]) async throws {
    var walked: [[String]] = []
    for try await page in Cursor(try await makeSource()) { walked.append(prints(page)) }
    try expect(
      walked == pages.map(prints), "A cursor delivers the source's pages.",
      evidence: "It delivered \(walked.count) pages of \(pages.count), or other items.")
  }

  private func checkResumption(_ pages: [Page<Source.Item>]) async throws {
    guard try await makeSource().repeatedPositions == .refused else { return }
    for index in Self.sample(of: pages.count) {
      guard let next = pages[index].next else { continue }
      let expected = pages[(index + 1)...].prefix(Self.sampleSize)
      let cursor = Cursor(try await makeSource()).resuming(from: next)
        .limited(to: Limits(pages: expected.count))
      var rest: [String] = []
      for try await item in cursor.items { rest.append(fingerprint(item)) }
      try expect(
        rest == expected.flatMap(prints), "A new source goes on at any position of an old one.",
        evidence: "Behind page \(index) came other items than before.")
    }
  }

  private static var sampleSize: Int { 16 }

  /// Returns at most 16 indices of pages, evenly spread from the first to the second last.
  private static func sample(of count: Int) -> [Int] {
    let last = count - 2
    guard last >= sampleSize else { return Array(0...last) }
    return (0..<sampleSize).map { $0 * last / (sampleSize - 1) }
  }

  private func checkCancellation() async throws {
    let source = try await makeSource()
    let gate = Gate()
    let task = Task {
      try? await gate.wait()
      return try await source.page(at: nil)
    }
    task.cancel()
    if case .failure(let error) = await task.result {
      try expect(
        error is CancellationError, "A cancelled source throws CancellationError, if it throws.",
        evidence: "It threw \(error).")
    }
    await source.close(at: nil)
  }

  private func checkCancellationWhileRunning() async throws {
    guard let makeHeldSource else { return }
    let gate = Gate()
    let source = try await makeHeldSource(gate)
    let task = Task {
      // A request that ends before the gate must not block the check.
      defer { gate.arrive() }
      return try await source.page(at: nil)
    }
    try await gate.waitForArrival()
    task.cancel()
    // A source that has not noticed the cancellation by now never will.
    gate.openUp()
    let promise = "A request ends with CancellationError when its task is cancelled."
    switch await task.result {
    case .success: throw ConformanceFailure(promise, evidence: "It went on and brought its page.")
    case .failure(let error):
      try expect(error is CancellationError, promise, evidence: "It threw \(error).")
    }
    await source.close(at: nil)
  }

  private func prints(_ page: Page<Source.Item>) -> [String] { page.items.map(fingerprint) }
}
