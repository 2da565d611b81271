import HTTPTypes
import QuireCore
import QuirePagination
import Synchronization

/// The budget that all walks of a client share: runs `BudgetMachine`, and knows the health of each
/// host.
final class ClientBudget: Sendable {
  private struct State {
    var machine = BudgetMachine()
    var limits = RequestBudget()
    var clock: any Clock<Duration> = ContinuousClock()
    var stopwatch: Stopwatch?
    /// The waiting requests, by their numbers in the machine.
    var waiting: [Int: Wait] = [:]
    var alarms: [Origin: (time: Duration, task: Task<Void, Never>)] = [:]
    var count = 0
    /// For each host, the number of requests in flight of each walk; empty without an observer.
    var holders: [Origin: [Int: Int]] = [:]

    mutating func hold(_ host: Origin, _ walk: Int?, _ count: Int) {
      guard let walk else { return }
      let number = (holders[host]?[walk] ?? 0) + count
      holders[host, default: [:]][walk] = number > 0 ? number : nil
      if holders[host]?.isEmpty == true { holders[host] = nil }
    }

    /// Returns the time on a stopwatch that uses the clock of the client's first request.
    mutating func now() -> Duration {
      if let stopwatch { return stopwatch.elapsed() }
      let new = Stopwatch(clock)
      stopwatch = new
      return new.elapsed()
    }
  }

  private let state = Mutex(State())
  /// Buffered bytes of the bodies that are being read.
  private let bytes = Atomic<Int>(0)
  private let hosts = Mutex<[Origin: HostHealth]>([:])

  /// The number of hosts above which healthy ones are forgotten.
  private static let mostHosts = 4_096

  /// Returns the health of a host, which all walks share.
  func health(of host: Origin) -> HostHealth {
    hosts.withLock { hosts in
      if let known = hosts[host] { return known }
      if hosts.count >= Self.mostHosts { hosts = hosts.filter { !$0.value.isForgettable } }
      let new = HostHealth()
      hosts[host] = new
      return new
    }
  }

  // MARK: Asking

  /// The answer to a request that asks to go out.
  enum Asked {
    /// The request may go, and is not counted because nothing limits it.
    case free
    case granted(RequestPermit)
    case waits(Wait)
  }

  /// A waiting request. `walk` is nil without an observer.
  final class Wait: Sendable {
    fileprivate let id: Int
    fileprivate let lane: BudgetMachine.Lane
    fileprivate let walk: Int?
    /// The longest time that the request waits for the server.
    fileprivate let longest: Duration
    fileprivate let waiter = Suspension<RateMachine.Grant>()
    fileprivate let reason: PageEvent.Wait.Reason
    fileprivate let start: Duration
    fileprivate let behind: [Int]

    fileprivate init(
      _ id: Int, _ request: BudgetMachine.Request, _ walk: Int?, _ reason: PageEvent.Wait.Reason,
      start: Duration, behind: [Int]
    ) {
      self.id = id
      lane = request.lane
      longest = request.longest
      self.walk = walk
      self.reason = reason
      self.start = start
      self.behind = behind
    }
  }

  /// Asks for a request to go out. If it has to wait, calls `willWait` with the shortest wait, if
  /// that is known.
  ///
  /// Throws `throttled` at once if the server asks for more than the request's longest wait.
  func ask(
    _ request: BudgetMachine.Request, _ client: PageClient.Shared,
    willWait: (Duration) -> Void
  ) throws -> Asked {
    let (host, walk) = (
      request.lane.host, client.configuration.observer == nil ? nil : request.walk
    )
    let (asked, pause) = try state.withLock { state -> (Asked, Duration?) in
      if state.stopwatch == nil { state.clock = client.configuration.clock }
      state.limits = client.configuration.budget
      let now = state.now()
      state.count += 1
      let answer = state.machine.ask(
        request, id: state.count, state.limits, isFull: isFull(state.limits), at: now)
      switch answer {
      case .free: return (.free, nil)
      case .granted(let grant):
        state.hold(host, walk, 1)
        return (.granted(RequestPermit(self, request.lane, grant, walk: walk)), nil)
      case .refused(let wait): throw Self.tooLong(wait, request.longest)
      case .wait(let time, let reason):
        let behind = walk == nil ? [] : state.holders[host].map { $0.keys.sorted() } ?? []
        let wait = Wait(state.count, request, walk, reason, start: now, behind: behind)
        state.waiting[wait.id] = wait
        if let time { setTimer(of: host, at: time, from: now, &state) }
        return (.waits(wait), time.map { $0 - now })
      }
    }
    if let pause, pause > .zero { willWait(pause) }
    return asked
  }

  /// Returns once a waiting request may go out, with a description of its wait.
  func permit(
    after wait: Wait, _ urgency: ReadUrgency?
  ) async throws -> (permit: RequestPermit, wait: PageEvent.Wait) {
    let observer = urgency?.observe { [weak self] level in
      self?.raise(wait.id, wait.lane, to: level)
    }
    defer { urgency?.ignore(observer) }
    if let urgency { raise(wait.id, wait.lane, to: urgency.level) }
    do {
      return granted(try await wait.waiter.value(), after: wait)
    } catch {
      withdraw(wait.id, wait.lane)
      throw error
    }
  }

  @inline(never)
  private func granted(
    _ grant: RateMachine.Grant, after wait: Wait
  ) -> (permit: RequestPermit, wait: PageEvent.Wait) {
    let end = state.withLock { state in
      state.hold(wait.lane.host, wait.walk, 1)
      return state.now()
    }
    return (
      RequestPermit(self, wait.lane, grant, walk: wait.walk),
      .init(reason: wait.reason, duration: end - wait.start, behind: wait.behind)
    )
  }

  private func isFull(_ limits: RequestBudget) -> Bool {
    bytes.load(ordering: .relaxed) > limits.bytes
  }

  private static func tooLong(_ wait: Duration, _ longest: Duration) -> PageError {
    PageError(
      .throttled,
      "The server asked to wait \(wait.words), longer than \(longest.words). Nothing was requested. Resume "
        + "later from the checkpoint.", remedies: [.longerRetryAfter],
      underlying: ServerPause(wait: wait))
  }

  private func raise(_ id: Int, _ lane: BudgetMachine.Lane, to level: ReadUrgency.Level) {
    state.withLock { $0.machine.raise(id, lane, to: level) }
  }

  private func withdraw(_ id: Int, _ lane: BudgetMachine.Lane) {
    act { state, now in
      state.waiting[id] = nil
      return state.machine.withdraw(
        id, lane, state.limits, isFull: self.isFull(state.limits), at: now)
    }
  }

  // MARK: Events

  /// Notes that the head of an answer came, to a request with or without a permit.
  func answered(
    _ lane: BudgetMachine.Lane, _ grant: RateMachine.Grant?, _ allowance: ServerAllowance,
    isThrottling: Bool, atOnce: Int?
  ) {
    act { state, now in
      state.machine.answered(
        lane, grant, allowance, isThrottling: isThrottling, atOnce: atOnce, state.limits,
        isFull: self.isFull(state.limits), at: now)
    }
  }

  /// Notes that a request got no answer. `wentOut` says whether the server may have counted it.
  func lost(_ lane: BudgetMachine.Lane, _ grant: RateMachine.Grant, wentOut: Bool) {
    state.withLock { $0.machine.lost(lane, grant, wentOut: wentOut) }
  }

  /// Notes that the body of an answer was read or dropped.
  func ended(_ lane: BudgetMachine.Lane, bytes count: Int, walk: Int? = nil) {
    if count > 0 { bytes.subtract(count, ordering: .relaxed) }
    act { state, now in
      state.hold(lane.host, walk, -1)
      return state.machine.ended(
        lane, state.limits, isFull: self.isFull(state.limits), at: now)
    }
  }

  /// Counts received bytes of a body.
  func received(bytes count: Int) { bytes.add(count, ordering: .relaxed) }

  /// Holds all requests of a lane for a time, because a page asked for it.
  func pause(_ lane: BudgetMachine.Lane, for wait: Duration) {
    state.withLock { $0.machine.pause(lane, until: $0.now() + wait) }
  }

  /// Notes the cost of a request, and the remaining allowance, from the body of its answer.
  func learn(
    _ allowance: ServerAllowance, cost: Double?, _ lane: BudgetMachine.Lane,
    _ grant: RateMachine.Grant?
  ) {
    state.withLock {
      $0.machine.learn(allowance, cost: cost, lane, grant, $0.limits, at: $0.now())
    }
  }

  /// The number of waiting requests.
  var waiting: Int { state.withLock { $0.machine.waiting } }

  // MARK: Performing

  /// Passes an event to the machine, and applies its effects.
  private func act(_ event: (inout State, Duration) -> BudgetMachine.Effects) {
    var unused = perform(event)
    // Requests that were cancelled at the same time return their grants, which others may get.
    while let (request, grant) = unused.popLast() {
      lost(request.lane, grant, wentOut: false)
      unused += perform { state, now in
        state.machine.ended(
          request.lane, state.limits, isFull: self.isFull(state.limits), at: now)
      }
    }
  }

  /// Applies the effects of an event. Returns the requests that were granted but had been
  /// cancelled.
  private func perform(
    _ event: (inout State, Duration) -> BudgetMachine.Effects
  ) -> [(request: Wait, grant: RateMachine.Grant)] {
    let (granted, refused) = state.withLock {
      state -> (
        [(request: Wait, grant: RateMachine.Grant)], [(request: Wait, wait: Duration)]
      ) in
      let now = state.now()
      let effects = event(&state, now)
      for wake in effects.wakes { setTimer(of: wake.host, at: wake.time, from: now, &state) }
      return (
        effects.granted.compactMap { granted in
          state.waiting.removeValue(forKey: granted.id).map { ($0, granted.grant) }
        },
        effects.refused.compactMap { refused in
          state.waiting.removeValue(forKey: refused.id).map { ($0, refused.wait) }
        }
      )
    }
    for (request, wait) in refused {
      request.waiter.resume(throwing: Self.tooLong(wait, request.longest))
    }
    return granted.filter { !$0.request.waiter.resume(returning: $0.grant) }
  }

  /// Sets the timer of a host, unless an earlier one is set. Nil cancels it.
  private func setTimer(
    of host: Origin, at time: Duration?, from now: Duration, _ state: inout State
  ) {
    guard let time else {
      state.alarms.removeValue(forKey: host)?.task.cancel()
      return
    }
    if let alarm = state.alarms[host], alarm.time <= time { return }
    state.alarms[host]?.task.cancel()
    let clock = state.clock
    let task = Task { [weak self] in
      do { try await clock.sleep(for: time - now) } catch { return }
      self?.timerFired(host, time)
    }
    state.alarms[host] = (time, task)
  }

  private func timerFired(_ host: Origin, _ time: Duration) {
    act { state, now in
      guard state.alarms[host]?.time == time else { return BudgetMachine.Effects() }
      state.alarms[host] = nil
      return state.machine.tick(
        host, state.limits, isFull: self.isFull(state.limits), at: max(now, time))
    }
  }
}

/// The right of one request to be on the wire, until its answer was read or dropped.
final class RequestPermit: Sendable {
  private struct State {
    var isAnswered = false
    var isOver = false
    var bytes = 0
  }

  private let budget: ClientBudget
  private let lane: BudgetMachine.Lane
  let grant: RateMachine.Grant
  /// The walk that holds the permit; nil without an observer.
  private let walk: Int?
  private let state = Mutex(State())

  init(
    _ budget: ClientBudget, _ lane: BudgetMachine.Lane, _ grant: RateMachine.Grant, walk: Int? = nil
  ) {
    self.budget = budget
    self.lane = lane
    self.grant = grant
    self.walk = walk
  }

  deinit { end() }

  /// Notes that the head of the answer came.
  func answered(_ allowance: ServerAllowance, isThrottling: Bool, atOnce: Int?) {
    let isFirst = state.withLock { state in
      defer { state.isAnswered = true }
      return !state.isAnswered
    }
    guard isFirst else { return }
    budget.answered(lane, grant, allowance, isThrottling: isThrottling, atOnce: atOnce)
  }

  /// Counts received bytes of the body until the permit ends. A page that is delivered in parts
  /// ends it with the first part, because later bytes are not buffered.
  func received(bytes: Int) {
    let isOver = state.withLock { state in
      if !state.isOver { state.bytes += bytes }
      return state.isOver
    }
    if !isOver { budget.received(bytes: bytes) }
  }

  /// Ends the permit. `wentOut` says whether the server may have counted a request without an
  /// answer.
  func end(wentOut: Bool = true) {
    let (isFirst, isLost, bytes) = state.withLock { state in
      defer { state.isOver = true }
      return (!state.isOver, !state.isAnswered, state.bytes)
    }
    guard isFirst else { return }
    if isLost { budget.lost(lane, grant, wentOut: wentOut) }
    budget.ended(lane, bytes: bytes, walk: walk)
  }
}
