import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// A worker on the units of a store: takes one after the other until none is left, on as many machines as
/// run it.
///
/// While a unit is worked on, its lease is renewed three times within its time. A lease that was lost cancels
/// the work on it. While the store cannot be reached, the work goes on: no other worker can take the unit
/// then, and should one have done so before, the token keeps this one from writing.
public struct LeasedWork: Sendable {
  private let store: any LeaseStore
  private let clock: any Clock<Duration>

  /// A worker; the clock measures the time between renewals.
  public init(_ store: some LeaseStore, clock: any Clock<Duration> = ContinuousClock()) {
    self.store = store
    self.clock = clock
  }

  /// Works until no unit is open, and waits for those that others hold: they may die.
  ///
  /// A unit whose body throws has failed; it is noted, and the others go on. Returns what this worker did.
  /// Throws what the store throws, and `CancellationError` once the unit at hand was given back.
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

  /// Works on one unit, and ends its lease as `body` says.
  package func perform(
    _ lease: Lease, _ body: @escaping @Sendable (Lease) async throws -> LeaseEnd
  ) async throws -> LeaseOutcome {
    let task = Task { try await body(lease) }
    let isLost = Atomic(false)
    let heart = Task {
      while !Task.isCancelled {
        try await clock.sleep(for: store.time / 3)
        // A store that cannot be reached is asked again at the next beat.
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
    // A beat that is on its way must not renew what is ended behind it.
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

/// How the work on a unit ended; without an end where its lease was lost.
package struct LeaseOutcome: Sendable {
  package var end: LeaseEnd?
  /// What the body threw.
  package var failure: (any Error)?
}

/// What a worker did.
public struct LeasedReport: Sendable {
  /// Units that it has ended as done.
  public internal(set) var done = 0
  /// Units that it has ended as failed, and why.
  public internal(set) var failures: [(unit: String, error: any Error)] = []
  /// Leases that it has lost to another worker, which goes on.
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
