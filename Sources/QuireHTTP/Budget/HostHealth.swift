import QuireCore
import QuirePagination
import Synchronization

/// The health of one host, shared by all fetches of a client: what its retries have cost, and
/// during an outage which fetch probes it. Other fetches wait for the result of the probe.
final class HostHealth: Sendable {
  /// The role of a fetch whose host may be in an outage.
  enum Role: Hashable, Sendable {
    /// The host is not in an outage, or no longer: send the request.
    case go
    /// Probe the host after this time.
    case probe(after: Duration)
  }

  private struct State {
    var quota = RetryQuota()
    var debt = RetryDebt()
    var outage = OutageMachine()
    var waiters: [Int: (suspension: Suspension<Role>, walk: Int?)] = [:]
    var count = 0
    /// The number of the walk whose fetch probes the host.
    var prober: Int?
    var error: PageError?
  }

  private let state = Mutex(State())
  /// A copy of `outage.isAway`, so that the usual case costs one load instead of a lock.
  private let mayBeAway = Atomic(false)

  /// The number of retries that no page has paid for.
  var debt: Int { state.withLock(\.debt.count) }

  /// Whether forgetting the host would lose no state.
  var isForgettable: Bool {
    state.withLock { $0.debt.count == 0 && !$0.outage.isAway && $0.quota.isFull }
  }

  // MARK: Retry costs

  /// Takes the cost of a retry from the quota. Returns false if too little is left.
  func pay(_ cost: Int, of capacity: Int?) -> Bool {
    state.withLock { $0.quota.pay(cost, of: capacity) }
  }

  /// Counts a retry.
  func retried() { state.withLock { $0.debt.retried() } }

  /// Counts a page. `refund` is the cost of its last retry.
  func pageReceived(refund: Int = 0) {
    state.withLock {
      $0.debt.pageReceived()
      $0.quota.earn(refund)
    }
    if mayBeAway.load(ordering: .relaxed) { recovered() }
  }

  // MARK: Outages

  /// Whether the host is in an outage and a fetch probes it.
  var isAway: Bool { mayBeAway.load(ordering: .acquiring) }

  /// The number of failed probes in this outage.
  var probes: Int { state.withLock { $0.outage.probes } }

  /// Notes that a fetch found the host in an outage. Returns whether that fetch probes it from now
  /// on.
  func failed(_ error: PageError, isProbe: Bool) -> Bool {
    state.withLock { state in
      state.error = error
      mayBeAway.store(true, ordering: .releasing)
      let probes = state.outage.failed(isProbe: isProbe)
      if probes { state.prober = WalkReading.walkNumber }
      return probes
    }
  }

  /// The number of the walk that probes the host; nil if none does.
  var prober: Int? { state.withLock { $0.outage.isAway ? $0.prober : nil } }

  /// Notes that the host has answered, and resumes all waiting fetches.
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

  /// Notes that the probing fetch ends, and lets the longest waiting one take its place.
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
      // A fetch that was cancelled at the same time does not probe.
      if waiter.resume(returning: .probe(after: wait)) { return }
    }
  }

  /// Waits while another fetch probes the host, but no longer than `patience`.
  ///
  /// Throws the error with which the host could not be reached if the time is over.
  func waitForProbe(patience: Duration, _ clock: any Clock<Duration>) async throws -> Role {
    let waiter = Suspension<Role>()
    let number = state.withLock { state -> Int? in
      guard state.outage.isAway else { return nil }
      state.count += 1
      state.waiters[state.count] = (waiter, WalkReading.walkNumber)
      return state.count
    }
    guard let number else { return .go }
    defer { state.withLock { $0.waiters[number] = nil } }
    return try await waiter.value(within: patience, by: clock) {
      .failure(self.overdue(patience))
    }
  }

  private func overdue(_ patience: Duration) -> PageError {
    let known = state.withLock { $0.error }
    var error = PageError(known?.code ?? .connectFailed, known?.message ?? "The server is away.")
    error.attempts = 0
    error.addPatience(patience)
    return error
  }
}

/// Decides which fetch probes a host in an outage.
struct OutageMachine {
  private(set) var isAway = false
  /// The number of failed probes.
  private(set) var probes = 0

  /// Notes that a fetch found the host in an outage. Returns whether that fetch probes it.
  mutating func failed(isProbe: Bool) -> Bool {
    if isProbe { probes += 1 }
    defer { isAway = true }
    return isProbe || !isAway
  }

  /// Notes that the host has answered.
  mutating func recovered() { self = OutageMachine() }

  /// Notes that the probing fetch ends. Returns how long its successor waits before the next probe.
  mutating func gaveUp(hasHeir: Bool, random: Double) -> Duration {
    guard isAway, hasHeir else {
      self = OutageMachine()
      return .zero
    }
    return RetryPolicy.wait(beforeProbe: probes + 1, random: random)
  }
}

/// The remaining quota for retries to one host: failures spend tokens and answers return them, so
/// that an outage does not cause a flood of retries.
///
/// Source: the retry quota of Amazon's SDKs, "standard mode".
struct RetryQuota {
  /// The cost of a retry after a failure, and after the server asked to slow down.
  static let (failure, throttling) = (14, 5)

  private var spent = 0

  var isFull: Bool { spent == 0 }

  /// Takes the cost of a retry if that much of `capacity` is left; nil is an unlimited capacity.
  mutating func pay(_ cost: Int, of capacity: Int?) -> Bool {
    guard let capacity else { return true }
    guard spent + cost <= capacity else { return false }
    spent += cost
    return true
  }

  /// Returns tokens after a success: the cost of the page's last retry, but at least one.
  mutating func earn(_ refund: Int) { spent = max(0, spent - max(1, refund)) }
}

/// The retries to a host that no page has paid for: ten pages pay for one retry.
struct RetryDebt: Sendable {
  private var tenths = 0

  /// Counts a retry.
  mutating func retried() { tenths += 10 }

  /// Counts a page.
  mutating func pageReceived() { tenths = max(0, tenths - 1) }

  /// The number of owed retries.
  var count: Int { tenths / 10 }
}
