import QuireCore
import QuirePagination
import Synchronization

/// What the fetches of a client share about one host: what its retries have cost, and, while it is away,
/// which one of them probes it. The others wait for what that finds.
final class HostHealth: Sendable {
  /// What a fetch does that would ask a host which is away.
  enum Role: Hashable, Sendable {
    /// Ask: the host is not away, or not any more.
    case go
    /// Probe, after so long.
    case probe(after: Duration)
  }

  private struct State {
    var quota = RetryQuota()
    var debt = RetryDebt()
    var outage = OutageMachine()
    var waiters: [Int: (suspension: Suspension<Role>, walk: Int?)] = [:]
    var count = 0
    /// The walk that probes.
    var prober: Int?
    var error: PageError?
  }

  private let state = Mutex(State())
  /// One load for the usual case.
  private let mayBeAway = Atomic(false)

  /// Retries that no page has paid for.
  var debt: Int { state.withLock(\.debt.count) }

  /// Whether nothing would be lost if it were forgotten.
  var isRested: Bool {
    state.withLock { $0.debt.count == 0 && !$0.outage.isAway && $0.quota.isFull }
  }

  // MARK: What retries cost

  /// Takes what a retry costs from the quota; false where there is not as much.
  func pay(_ cost: Int, of capacity: Int?) -> Bool {
    state.withLock { $0.quota.pay(cost, of: capacity) }
  }

  /// A request was made again.
  func retried() { state.withLock { $0.debt.retried() } }

  /// A page came; `refund` is what its last retry had cost.
  func paid(refund: Int = 0) {
    state.withLock {
      $0.debt.paid()
      $0.quota.earn(refund)
    }
    if mayBeAway.load(ordering: .relaxed) { recovered() }
  }

  // MARK: Outages

  /// Whether a fetch probes the host.
  var isAway: Bool { mayBeAway.load(ordering: .acquiring) }

  /// How often the host was probed in vain.
  var probes: Int { state.withLock { $0.outage.probes } }

  /// The host was away for a fetch; true where that fetch is to probe it from now on.
  func failed(_ error: PageError, isProbe: Bool) -> Bool {
    state.withLock { state in
      state.error = error
      mayBeAway.store(true, ordering: .releasing)
      let probes = state.outage.failed(isProbe: isProbe)
      if probes { state.prober = WalkReading.walkNumber }
      return probes
    }
  }

  /// The walk that probes the host; nil where none does.
  var prober: Int? { state.withLock { $0.outage.isAway ? $0.prober : nil } }

  /// The host has answered: all that wait ask for themselves.
  func recovered() {
    let waiters = state.withLock { state in
      mayBeAway.store(false, ordering: .releasing)
      state.outage.recovered()
      state.error = nil
      defer { state.waiters = [:] }
      return state.waiters.sorted { $0.key < $1.key }.map(\.value.suspension)
    }
    for waiter in waiters { waiter.resume(returning: .go) }
  }

  /// The fetch that probes does not go on: another one takes its place, if one waits.
  func gaveUp(random: Double) {
    while true {
      let (waiter, wait) = state.withLock { state -> (Suspension<Role>?, Duration) in
        let heir = state.waiters.keys.min()
        let wait = state.outage.gaveUp(hasHeir: heir != nil, random: random)
        mayBeAway.store(state.outage.isAway, ordering: .releasing)
        let next = heir.flatMap { state.waiters.removeValue(forKey: $0) }
        state.prober = next?.walk
        return (next?.suspension, wait)
      }
      guard let waiter else { return }
      // One that was cancelled in the same moment does not probe.
      if waiter.resume(returning: .probe(after: wait)) { return }
    }
  }

  /// Waits while another fetch probes the host, but not for longer than `patience`.
  ///
  /// Throws why the host could not be reached when that is over.
  func clearance(patience: Duration, _ clock: any Clock<Duration>) async throws -> Role {
    let waiter = Suspension<Role>()
    let number = state.withLock { state -> Int? in
      guard state.outage.isAway else { return nil }
      state.count += 1
      state.waiters[state.count] = (waiter, WalkReading.walkNumber)
      return state.count
    }
    guard let number else { return .go }
    let alarm = Task {
      // A century at most: a clock cannot reckon with any time.
      do { try await clock.sleep(for: patience.times(1)) } catch { return }
      waiter.resume(throwing: self.overdue(patience))
    }
    defer {
      alarm.cancel()
      state.withLock { $0.waiters[number] = nil }
    }
    return try await waiter.value()
  }

  private func overdue(_ patience: Duration) -> PageError {
    let known = state.withLock { $0.error }
    var error = PageError(known?.code ?? .connectFailed, known?.message ?? "The server is away.")
    error.attempts = 0
    error.message +=
      " It was away for longer than the \(patience.words) of patience. Resume later from the checkpoint."
    error.remedies.append(Remedy(.init("RetryPolicy.patience"), condition: "to wait longer"))
    return error
  }
}

/// Decides which fetch probes a host that is away.
struct OutageMachine {
  private(set) var isAway = false
  /// Probes in vain.
  private(set) var probes = 0

  /// The host was away for a fetch; true where that fetch is to probe.
  mutating func failed(isProbe: Bool) -> Bool {
    if isProbe { probes += 1 }
    defer { isAway = true }
    return isProbe || !isAway
  }

  /// The host has answered.
  mutating func recovered() { self = OutageMachine() }

  /// The fetch that probes does not go on. Returns how long its heir waits before the next probe.
  mutating func gaveUp(hasHeir: Bool, random: Double) -> Duration {
    guard isAway, hasHeir else {
      self = OutageMachine()
      return .zero
    }
    return RetryPolicy.longestWait(beforeProbe: probes + 1) * (0.5 + random / 2)
  }
}

/// What is left for retries to one host: tokens that failures use up and answers bring back, so that an
/// outage is not answered by a multitude of requests.
///
/// Source: the retry quota of Amazon's SDKs, "standard mode".
struct RetryQuota {
  /// What a retry costs after a failure, and after the server asked to slow down.
  static let (failure, throttling) = (14, 5)

  private var spent = 0

  var isFull: Bool { spent == 0 }

  /// Takes the cost of a retry, if there is as much of `capacity`; nil is without end.
  mutating func pay(_ cost: Int, of capacity: Int?) -> Bool {
    guard let capacity else { return true }
    guard spent + cost <= capacity else { return false }
    spent += cost
    return true
  }

  /// A request was answered well; `refund` is what it had cost to ask again, nothing for the first time.
  mutating func earn(_ refund: Int) { spent = max(0, spent - max(1, refund)) }
}
