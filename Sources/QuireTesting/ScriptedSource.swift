public import QuireCore

/// A listing in memory with scripted failures and stalls, and a log of requests.
///
/// ```swift
/// let source = ScriptedSource(sizes: 10, 10, 10)   // 0…9, 10…19, 20…29
/// source.fail(2)
/// ```
/// Pages are numbered from 1. Each page links to the next and to the previous one, unless it has
/// links of its own.
public final class ScriptedSource<Item: Sendable>: PageSource {
  /// A log of requests.
  public struct Log: Sendable {
    /// The numbers of the requested pages, in order.
    public var requests: [Int] = []
    /// The number of requests that are running.
    public var running = 0
    /// The most requests that ran at the same time.
    public var maxConcurrent = 0
    /// The numbers of the pages whose requests were cancelled.
    public var cancelled: [Int] = []
    /// The positions at which the source was closed.
    public var closes: [Position?] = []
  }

  private struct Failure: Sendable {
    var times: Int
    var error: any Error
  }

  private struct State: Sendable {
    var log = Log()
    var held: [Int: Bool] = [:]
    var failures: [Int: Failure] = [:]
    var isClosingHeld = false
  }

  /// Whether walks close this source.
  public let needsClosing: Bool
  /// What walks do with a repeated position.
  public let repeatedPositions: Position.Repetition
  private let pages: [Page<Item>]
  private let state = Watched(State())

  /// Creates a listing of these pages; without any, page 1 is nil.
  public init(
    _ pages: [Page<Item>], needsClosing: Bool = false,
    repeatedPositions: Position.Repetition = .refused
  ) {
    self.pages = pages.enumerated().map { index, page in
      var page = page
      if page.next == nil, page.nextFailure == nil, index + 1 < pages.count {
        page.next = Position(integerLiteral: index + 2)
      }
      if page.previous == nil, index > 0 { page.previous = Position(integerLiteral: index) }
      return page
    }
    self.needsClosing = needsClosing
    self.repeatedPositions = repeatedPositions
  }

  /// Creates a listing with pages of these items.
  public convenience init(items: [[Item]], needsClosing: Bool = false) {
    self.init(items.map { Page($0) }, needsClosing: needsClosing)
  }

  /// The log so far.
  public var log: Log { state.value.log }

  /// The numbers of the requested pages, in order.
  public var requests: [Int] { log.requests }

  /// Holds requests for a page until `release`. `stubborn` requests also ignore cancellation.
  public func hold(_ page: Int, stubborn: Bool = false) {
    state.update { $0.held[page] = stubborn }
  }

  /// Releases the held requests for a page.
  public func release(_ page: Int) { state.update { $0.held[page] = nil } }

  /// Makes the next `times` requests for a page fail with `error`.
  public func fail(_ page: Int, times: Int = 1, with error: any Error = ScriptedFailure()) {
    state.update { $0.failures[page] = Failure(times: times, error: error) }
  }

  /// Holds closing until `releaseClosing`, even if it is cancelled.
  public func holdClosing() { state.update { $0.isClosingHeld = true } }

  /// Releases closing.
  public func releaseClosing() { state.update { $0.isClosingHeld = false } }

  /// Waits until the log meets a condition. Throws `CancellationError` when the task is cancelled.
  public func wait(until condition: @escaping @Sendable (Log) -> Bool) async throws {
    try await state.wait { condition($0.log) }
  }

  /// Returns a page of the script. Throws the scripted failure of the page, or `CancellationError`.
  public func page(at position: Position?) async throws -> Page<Item>? {
    let number = position?.value?.integer ?? 1
    begin(number)
    defer { state.update { $0.log.running -= 1 } }
    do {
      try Task.checkCancellation()
      try await passHold(number)
    } catch {
      state.update { $0.log.cancelled.append(number) }
      throw error
    }
    if let error = takeFailure(number) { throw error }
    return pages.indices.contains(number - 1) ? pages[number - 1] : nil
  }

  /// Records the call in the log.
  public func close(at position: Position?) async {
    state.update { $0.log.closes.append(position) }
    await state.waitUncancelled { !$0.isClosingHeld }
  }

  private func begin(_ number: Int) {
    state.update { state in
      state.log.requests.append(number)
      state.log.running += 1
      state.log.maxConcurrent = max(state.log.maxConcurrent, state.log.running)
    }
  }

  private func passHold(_ number: Int) async throws {
    guard let stubborn = state.value.held[number] else { return }
    if stubborn {
      await state.waitUncancelled { $0.held[number] == nil }
    } else {
      try await state.wait { $0.held[number] == nil }
    }
  }

  private func takeFailure(_ number: Int) -> (any Error)? {
    state.update { state in
      guard var failure = state.failures[number], failure.times > 0 else { return nil }
      failure.times -= 1
      state.failures[number] = failure
      return failure.error
    }
  }
}

extension ScriptedSource where Item == Int {
  /// Creates a listing with pages of consecutive numbers from 0.
  public convenience init(sizes: Int..., needsClosing: Bool = false) {
    self.init(sizes: sizes, needsClosing: needsClosing)
  }

  /// Creates a listing with pages of consecutive numbers from 0.
  public convenience init(sizes: [Int], needsClosing: Bool = false) {
    var start = 0
    let pages = sizes.map { size in
      defer { start += size }
      return Array(start..<start + size)
    }
    self.init(items: pages, needsClosing: needsClosing)
  }
}

/// The error of a scripted source.
public struct ScriptedFailure: Error, Hashable {
  /// The name of the failure in the test.
  public var name: String

  /// Creates a failure.
  public init(_ name: String = "scripted") { self.name = name }
}
