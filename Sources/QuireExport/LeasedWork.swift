import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// A worker that processes the units of a store, one after the other until none is left. Any number
/// of machines can run one.
///
/// The lease of a unit is renewed three times within its time, and losing it cancels the work on
/// the unit. While the store cannot be reached, the work continues: no other worker can lease the
/// unit then, and if one did so before, the token keeps this worker from writing.
public struct LeasedWork: Sendable {
  private let store: any LeaseStore
  private let clock: any Clock<Duration>

  /// Creates a worker. `clock` measures the time between renewals.
  public init(_ store: some LeaseStore, clock: any Clock<Duration> = ContinuousClock()) {
    self.store = store
    self.clock = clock
  }

  /// Works until no unit is open. Waits for units that others hold, because their leases may run
  /// out.
  ///
  /// If `body` throws, the unit fails with its error, and the others continue. Returns what this
  /// worker did. Throws the errors of the store, and `CancellationError` after returning the
  /// current unit.
  public func run(
    _ body: @escaping @Sendable (Lease) async throws -> Void
  ) async throws -> LeasedReport {
    var report = LeasedReport()
    while true {
      try Task.checkCancellation()
      switch try await store.take() {
      case .none: return report
      case .held: try await clock.sleep(for: min(.seconds(1), store.time / 3))
      case .lease(let lease):
        let outcome = try await perform(lease) { lease in
          try await body(lease)
          return .done("")
        }
        report.add(lease, outcome)
        if case .released? = outcome.end { throw CancellationError() }
      }
    }
  }

  /// Works on one unit, and ends its lease as the result of `body` says.
  package func perform(
    _ lease: Lease, _ body: @escaping @Sendable (Lease) async throws -> LeaseEnd
  ) async throws -> LeaseOutcome {
    let task = Task { try await body(lease) }
    let isLost = Atomic(false)
    let heart = Task {
      while !Task.isCancelled {
        try await clock.sleep(for: store.time / 3)
        // If the store cannot be reached, the renewal is tried again after the next interval.
        guard let isKept = try? await store.renew(lease), !isKept, !Task.isCancelled else {
          continue
        }
        isLost.store(true, ordering: .releasing)
        task.cancel()
        return
      }
    }
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      task.cancel()
    }
    heart.cancel()
    // A renewal in progress must complete before the lease ends, or it would extend the ended
    // lease.
    _ = await heart.result
    var (end, failure) = Self.end(of: result)
    if isLost.load(ordering: .acquiring) || failure.map({ SinkError.Code.leaseLost ~= $0 }) == true
    {
      return LeaseOutcome()
    }
    if Task.isCancelled, failure is CancellationError { (end, failure) = (.released, nil) }
    guard try await store.end(lease, as: end) else { return LeaseOutcome() }
    return LeaseOutcome(end: end, failure: failure)
  }

  private static func end(
    of result: Result<LeaseEnd, any Error>
  ) -> (end: LeaseEnd, failure: (any Error)?) {
    do {
      return (try result.get(), nil)
    } catch {
      return (.failed("\(error)"), error)
    }
  }
}

/// The outcome of the work on a unit. `end` is nil if its lease was lost.
package struct LeaseOutcome: Sendable {
  package var end: LeaseEnd?
  /// The error that the body threw.
  package var failure: (any Error)?
}

/// The work of one worker.
public struct LeasedReport: Sendable {
  /// The number of units that it ended as done.
  public internal(set) var done = 0
  /// The units that it ended as failed, and their errors.
  public internal(set) var failures: [(unit: String, error: any Error)] = []
  /// The number of leases that it lost to other workers, which continue the units.
  public internal(set) var lost = 0

  mutating func add(_ lease: Lease, _ outcome: LeaseOutcome) {
    switch outcome.end {
    case nil: lost += 1
    case .done: done += 1
    case .failed(let words):
      failures.append((lease.unit, outcome.failure ?? SinkError(.writeFailed, words)))
    case .released: break
    }
  }
}
