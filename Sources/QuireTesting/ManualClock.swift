import QuireCore

/// A clock that only moves when a test advances it.
///
/// Sleepers wake in the order of their deadlines, within the call that advances the clock.
public final class ManualClock: Clock {
  /// An instant of the clock, counted from its creation.
  public struct Instant: InstantProtocol, Hashable {
    /// The time since the clock's creation.
    public var offset: Duration

    /// Creates the instant `offset` after the clock's creation.
    public init(offset: Duration = .zero) { self.offset = offset }

    /// Returns the instant `duration` later.
    public func advanced(by duration: Duration) -> Instant {
      Instant(offset: offset + duration)
    }

    /// Returns the time from here to `other`.
    public func duration(to other: Instant) -> Duration { other.offset - offset }

    /// Returns whether `left` is earlier.
    public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
  }

  private struct Sleeper: Sendable {
    var deadline: Instant
    var suspension: Suspension<Void>
  }

  private struct State: Sendable {
    var now = Instant()
    var sleepers: [Sleeper] = []
  }

  private let state = Watched(State())

  /// Creates a clock at offset zero.
  public init() {}

  /// The current instant.
  public var now: Instant { state.value.now }

  /// Zero: the clock is exact.
  public var minimumResolution: Duration { .zero }

  /// The number of sleeping tasks.
  public var sleepers: Int { state.value.sleepers.count }

  /// Sleeps until the clock is advanced to `deadline`; the tolerance is ignored. Throws
  /// `CancellationError` when the task is cancelled.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let sleeper = Sleeper(deadline: deadline, suspension: Suspension())
    let isDue = state.update { state in
      if deadline <= state.now { return true }
      state.sleepers.append(sleeper)
      return false
    }
    if isDue { return }
    defer {
      state.update { $0.sleepers.removeAll { $0.suspension === sleeper.suspension } }
    }
    try await sleeper.suspension.value()
  }

  /// Advances the clock, and wakes the sleepers that are due.
  public func advance(by duration: Duration) {
    let due = state.update { state in
      state.now = state.now.advanced(by: duration)
      let now = state.now
      let due = state.sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
      state.sleepers.removeAll { $0.deadline <= now }
      return due
    }
    for sleeper in due { sleeper.suspension.resume(returning: ()) }
  }

  /// Advances the clock to the earliest deadline, and wakes the sleepers that are due. Returns
  /// false if no task sleeps.
  @discardableResult
  public func advanceToNextDeadline() -> Bool {
    let current = state.value
    guard let next = current.sleepers.map(\.deadline).min() else { return false }
    advance(by: max(.zero, next.offset - current.now.offset))
    return true
  }

  /// Waits until at least `count` tasks sleep. Throws `CancellationError` when the task is
  /// cancelled.
  public func waitForSleepers(_ count: Int = 1) async throws {
    try await state.wait { $0.sleepers.count >= count }
  }
}

/// A barrier that holds tasks back until a test opens it, in place of sleeping.
public final class Gate: Sendable {
  private let open = Watched(false)
  private let arrivals = Watched(0)

  /// Creates a closed gate.
  public init() {}

  /// Opens the gate for good.
  public func openUp() { open.update { $0 = true } }

  /// Waits until the gate is open. Throws `CancellationError` when the task is cancelled.
  public func wait() async throws {
    arrive()
    try await open.wait { $0 }
    // A task that was cancelled does not pass, even if the gate opened in the same moment.
    try Task.checkCancellation()
  }

  /// Waits until a task has reached the gate.
  func waitForArrival() async throws { try await arrivals.wait { $0 > 0 } }

  func arrive() { arrivals.update { $0 += 1 } }
}

/// Random numbers that a seed reproduces, so that a failure can be repeated.
///
/// SplitMix64. Source: G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number
/// generators" (2014).
public struct SeededGenerator: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// Creates the generator of a seed.
  public init(seed: UInt64) { state = seed }

  /// Returns the next number.
  public mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
