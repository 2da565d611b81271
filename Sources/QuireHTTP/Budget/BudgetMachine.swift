import QuireCore
import QuirePagination

/// Decides which of a client's requests go out and when, by the limits of its hosts and its own.
///
/// Pure: the caller passes the time, measured from any beginning. A request asks, may wait, is
/// granted or refused, gets an answer or is lost, and ends when its body was read.
struct BudgetMachine {
  /// A host and a credential: requests of one lane share what the server allows.
  struct Lane: Hashable {
    var host: Origin
    /// The number of the credential; 0 for none.
    var account: Int
  }

  /// A request that asks to go out.
  struct Request {
    var lane: Lane
    var walk: Int
    var urgency: ReadUrgency.Level
    /// The longest time that it waits for the server.
    var longest: Duration
    /// The interval until the next request of its listing.
    var interval: Duration
  }

  enum Answer {
    /// The request may go, and is not counted because nothing limits it.
    case free
    case granted(RateMachine.Grant)
    /// The request waits for this reason, at least until the time if that is known.
    case wait(until: Duration?, PageEvent.Wait.Reason)
    /// The request is refused, because it would have to wait this long for the server.
    case refused(Duration)
  }

  /// The effects of an event on waiting requests.
  struct Effects {
    var granted: [(id: Int, grant: RateMachine.Grant)] = []
    var refused: [(id: Int, wait: Duration)] = []
    /// The times at which `tick` is due for these hosts; nil if no timer is needed.
    var wakes: [(host: Origin, time: Duration?)] = []
  }

  private struct Host {
    /// The limits and the waiting requests of one lane.
    struct LaneState {
      var rate = RateMachine()
      var queue = UrgencyQueue()
    }

    /// The lanes by their accounts.
    var lanes: [Int: LaneState] = [:]
    var waiting = 0
    /// The account of the lane whose waiting request was granted last; lanes take turns.
    var turn = 0
    var inFlight = 0
    /// The number of requests that the transport sends concurrently; nil if it does not say.
    var atOnce: Int?
    var hasAnswered = false
    /// The number of lanes above which forgettable ones are removed; then twice the number of the
    /// others.
    var mostLanes = BudgetMachine.fewLanes

    /// The limit before the transport says how many requests it sends concurrently.
    static let beginning = 32

    func capacity(_ budget: RequestBudget) -> Int {
      max(1, min(budget.requestsPerHost ?? .max, hasAnswered ? atOnce ?? .max : Self.beginning))
    }

    mutating func forgetLanes(_ budget: RequestBudget, at now: Duration) {
      lanes = lanes.filter { _, lane in
        !lane.queue.isEmpty || !lane.rate.isForgettable(budget, at: now)
      }
      mostLanes = max(BudgetMachine.fewLanes, lanes.count * 2)
    }

    /// Asks for a request to go out, if the limits on all hosts together let it (`mayGo`).
    mutating func ask(
      _ request: Request, id: Int, _ budget: RequestBudget, isFull: Bool, mayGo: Bool,
      at now: Duration
    ) -> Answer {
      let account = request.lane.account
      if lanes.count >= mostLanes { forgetLanes(budget, at: now) }
      let isUnlimited =
        budget.rate == nil && budget.requestsPerHost == nil && budget.requestsTotal == nil
        && !isFull
      let isKnown = hasAnswered && atOnce == nil && waiting == 0
      if isUnlimited, isKnown, request.interval == .zero, lanes[account]?.rate.isFree ?? true {
        return .free
      }
      // Changed in the dictionary, because a copy would copy all waiting requests.
      let verdict = lanes[account, default: LaneState()].rate.verdict(budget, at: now)
      if case .at(let time, true) = verdict, time - now > request.longest {
        return .refused(time - now)
      }
      // Waiting requests of other lanes need no check: while there is room, they only wait for the
      // server.
      if verdict == .now, mayGo, lanes[account]?.queue.isEmpty ?? true,
        inFlight < capacity(budget)
      {
        inFlight += 1
        return .granted(grant(account, budget, interval: request.interval, at: now))
      }
      lanes[account, default: LaneState()].queue.add(id, request)
      waiting += 1
      switch verdict {
      case .at(let time, let isServers): return .wait(until: time, isServers ? .limit : .rate)
      case .afterAnswer: return .wait(until: nil, .limit)
      case .now where mayGo: return .wait(until: nil, .connections)
      case .now: return .wait(until: nil, isFull ? .bytes : .total)
      }
    }

    mutating func grant(
      _ account: Int, _ budget: RequestBudget, interval: Duration, at now: Duration
    ) -> RateMachine.Grant {
      lanes[account, default: LaneState()].rate.grant(budget, interval: interval, at: now)
    }
  }

  private var hosts: [Origin: Host] = [:]
  private var inFlight = 0
  /// Hosts whose requests wait only because of the client's own totals (requests or bytes).
  private var held: [Origin] = []

  /// The number of hosts above which forgettable ones are removed; then twice the number of the
  /// others.
  private var mostHosts = Self.fewHosts

  /// The numbers of hosts, and of lanes of a host, up to which none is forgotten.
  private static let (fewHosts, fewLanes) = (4_096, 256)

  /// The number of waiting requests.
  var waiting: Int { hosts.values.reduce(0) { $0 + $1.waiting } }

  /// The number of known lanes.
  var lanes: Int { hosts.values.reduce(0) { $0 + $1.lanes.count } }

  // MARK: Asking

  /// Asks for a request to go out. If it has to wait, later calls name it by `id`.
  mutating func ask(
    _ request: Request, id: Int, _ budget: RequestBudget, isFull: Bool, at now: Duration
  ) -> Answer {
    if hosts.count > mostHosts { forget(budget, at: now) }
    let mayGo = hasRoom(budget, isFull)
    let answer = with(request.lane.host) {
      $0.ask(request, id: id, budget, isFull: isFull, mayGo: mayGo, at: now)
    }
    if case .granted = answer { inFlight += 1 }
    // Requests to other hosts can make this room, too.
    if case .wait(nil, let reason) = answer, reason == .total || reason == .bytes,
      !held.contains(request.lane.host)
    {
      held.append(request.lane.host)
    }
    return answer
  }

  private mutating func with<Result>(
    _ origin: Origin, _ body: (inout Host) -> Result
  ) -> Result {
    body(&hosts[origin, default: Host()])
  }

  private func hasRoom(_ budget: RequestBudget, _ isFull: Bool) -> Bool {
    // If bytes are full but no request is in flight, nothing could make room, so one may go.
    inFlight < max(1, budget.requestsTotal ?? .max) && (!isFull || inFlight == 0)
  }

  private mutating func forget(_ budget: RequestBudget, at now: Duration) {
    hosts = hosts.filter { _, host in
      host.inFlight > 0 || host.waiting > 0
        || host.lanes.values.contains { !$0.rate.isForgettable(budget, at: now) }
    }
    mostHosts = max(Self.fewHosts, hosts.count * 2)
  }

  // MARK: Events

  /// Raises the urgency of a waiting request.
  mutating func raise(_ id: Int, _ lane: Lane, to urgency: ReadUrgency.Level) {
    hosts[lane.host]?.lanes[lane.account]?.queue.raise(id, to: urgency)
  }

  /// Removes a waiting request.
  mutating func withdraw(
    _ id: Int, _ lane: Lane, _ budget: RequestBudget, isFull: Bool, at now: Duration
  ) -> Effects {
    guard hosts[lane.host]?.lanes[lane.account]?.queue.withdraw(id) != nil else { return Effects() }
    hosts[lane.host]?.waiting -= 1
    return pump(lane.host, budget, isFull, at: now)
  }

  /// Notes that the head of an answer came. `grant` is nil for a request that was `free`.
  mutating func answered(
    _ lane: Lane, _ grant: RateMachine.Grant?, _ allowance: ServerAllowance, isThrottling: Bool,
    atOnce: Int?, _ budget: RequestBudget, isFull: Bool, at now: Duration
  ) -> Effects {
    let isWaited = with(lane.host) { host in
      host.hasAnswered = true
      host.atOnce = atOnce
      if grant != nil || isThrottling || !allowance.isEmpty {
        host.lanes[lane.account, default: Host.LaneState()].rate
          .answered(grant, allowance, isThrottling: isThrottling, at: now)
      }
      return host.waiting > 0
    }
    return isWaited ? pump(lane.host, budget, isFull, at: now) : Effects()
  }

  /// Notes that a request got no answer. `wentOut` says whether the server may have counted it.
  mutating func lost(_ lane: Lane, _ grant: RateMachine.Grant, wentOut: Bool) {
    hosts[lane.host]?.lanes[lane.account]?.rate.lost(grant, wentOut: wentOut)
  }

  /// Notes that the body of an answer was read or dropped, which makes room for other requests.
  mutating func ended(
    _ lane: Lane, _ budget: RequestBudget, isFull: Bool, at now: Duration
  ) -> Effects {
    inFlight -= 1
    hosts[lane.host]?.inFlight -= 1
    guard !held.isEmpty else {
      return hosts[lane.host]?.waiting ?? 0 > 0
        ? pump(lane.host, budget, isFull, at: now) : Effects()
    }
    return pumpHeld(behind: lane.host, budget, isFull, at: now)
  }

  /// Grants requests of a host whose wait is over. Called at the times in `Effects.wakes`.
  mutating func tick(
    _ host: Origin, _ budget: RequestBudget, isFull: Bool, at now: Duration
  ) -> Effects {
    pump(host, budget, isFull, at: now)
  }

  /// Holds all requests of a lane until `time`, because a page asked for it.
  mutating func pause(_ lane: Lane, until time: Duration) {
    with(lane.host) {
      $0.lanes[lane.account, default: Host.LaneState()].rate.pause(until: time)
    }
  }

  /// Notes the cost of a request, and the remaining allowance, from the body of its answer.
  mutating func learn(
    _ allowance: ServerAllowance, cost: Double?, _ lane: Lane, _ grant: RateMachine.Grant?,
    _ budget: RequestBudget, at now: Duration
  ) {
    with(lane.host) {
      $0.lanes[lane.account, default: Host.LaneState()].rate
        .learn(allowance, cost: cost, of: grant, budget, at: now)
    }
  }

  // MARK: Waiting requests

  /// Grants requests of the hosts in `held`, one for each in turn. `host`, whose request ended, is
  /// last.
  private mutating func pumpHeld(
    behind host: Origin, _ budget: RequestBudget, _ isFull: Bool, at now: Duration
  ) -> Effects {
    var effects = Effects()
    let turns = held + (held.contains(host) ? [] : [host])
    held = []
    for (index, origin) in turns.enumerated() {
      guard hasRoom(budget, isFull) else {
        held = Array(turns[index...]) + held
        break
      }
      effects.add(pump(origin, budget, isFull, at: now, most: 1))
    }
    return effects
  }

  /// Grants waiting requests of a host, the most urgent first, at most `most` of them.
  private mutating func pump(
    _ origin: Origin, _ budget: RequestBudget, _ isFull: Bool, at now: Duration, most: Int = .max
  ) -> Effects {
    var effects = Effects()
    guard var host = hosts[origin], host.waiting > 0 else {
      effects.wakes = [(origin, nil)]
      return effects
    }
    // Removed from the dictionary while it changes, which avoids a copy.
    hosts[origin] = nil
    defer { hosts[origin] = host }
    let capacity = host.capacity(budget)
    var wake: Duration?
    while host.waiting > 0, host.inFlight < capacity {
      guard hasRoom(budget, isFull), effects.granted.count < most else {
        if !held.contains(origin) { held.append(origin) }
        break
      }
      wake = nil
      guard let account = next(in: &host, &effects, &wake, budget, at: now),
        let (id, request) = host.lanes[account]?.queue.take()
      else { break }
      let grant = host.grant(account, budget, interval: request.interval, at: now)
      effects.granted.append((id, grant))
      host.turn = account
      host.waiting -= 1
      host.inFlight += 1
      inFlight += 1
    }
    effects.wakes = [(origin, host.waiting > 0 ? wake : nil)]
    return effects
  }

  /// Returns the account of the lane that may go now and has the most urgent request; of equal
  /// ones, the next in turn. Sets `wake` to the earliest time at which another lane may go, and
  /// refuses requests that do not wait for the server that long.
  private func next(
    in host: inout Host, _ effects: inout Effects, _ wake: inout Duration?,
    _ budget: RequestBudget, at now: Duration
  ) -> Int? {
    var best: (account: Int, rank: (ReadUrgency.Level, UInt))?
    for account in host.lanes.keys {
      guard let urgency = host.lanes[account]?.queue.first,
        let verdict = host.lanes[account]?.rate.verdict(budget, at: now)
      else { continue }
      switch verdict {
      case .afterAnswer: break
      case .now:
        let rank = (urgency, UInt(bitPattern: account &- host.turn &- 1))
        if best.map({ rank < $0.rank }) ?? true { best = (account, rank) }
      case .at(let time, let isServers):
        if isServers, let refused = host.lanes[account]?.queue.takeImpatient(than: time - now) {
          effects.refused += refused.map { ($0, time - now) }
          host.waiting -= refused.count
        }
        wake = min(wake ?? time, time)
      }
    }
    return best?.account
  }
}

extension BudgetMachine.Effects {
  fileprivate mutating func add(_ other: Self) {
    granted += other.granted
    refused += other.refused
    wakes += other.wakes
  }
}
