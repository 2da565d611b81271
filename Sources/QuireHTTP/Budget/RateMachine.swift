import QuirePagination

/// Decides when the next request of a lane may go out: by the client's own rate, the limits that
/// the server has stated, and the intervals that descriptions ask for.
///
/// Pure: the caller passes the time, measured from any beginning.
struct RateMachine {
  /// The time at which a request may go out.
  enum Verdict: Hashable {
    case now
    /// Not before this time. `isServers` says whether the server is the reason.
    case at(Duration, isServers: Bool)
    /// Not before a request in flight is answered.
    case afterAnswer
  }

  /// A request that was allowed to go out.
  struct Grant {
    /// The number of the grant, from 1.
    var number: Int
    var cost: Double
  }

  private var bucket = TokenBucket()
  private var windows: [ServerWindow] = []
  /// The longest pause that a server can cause: programs run for months, and a server that asks for
  /// ten years by mistake would never be asked again.
  static let longestPause = Duration.seconds(7 * 86_400)
  /// The time before which the server wants no request.
  private var asked = Duration.zero
  /// The time before which descriptions want no request.
  private var paced = Duration.zero
  /// Whether a single request must find out if the server takes more.
  private var isUnsure = false
  /// The number of requests in flight without an answer, and their cost.
  private(set) var (onWire, costOnWire) = (0, 0.0)
  private var granted = 0
  /// The maximum number of requests in flight; halved when the server throttles without stating a
  /// limit.
  private var width = Int.max
  private var (sinceHalving, successes) = (0, 0)
  /// The time of the last throttling answer.
  private var throttledAt: Duration?
  /// The learnt limit of a server that throttles with nothing but a time to come back.
  private var learnt = LearntWindow()
  /// The expected cost of the next request; nil before an answer states one.
  private var usualCost: Double?

  /// Whether nothing limits requests.
  var isFree: Bool {
    windows.isEmpty && width == .max && !isUnsure && asked == .zero && paced == .zero
  }

  /// Returns whether the lane can be forgotten without exceeding a known limit. Limits learnt from
  /// throttling have no end of their own, so they count for an hour.
  func isForgettable(_ budget: RequestBudget, at now: Duration) -> Bool {
    guard onWire == 0, asked <= now, paced <= now else { return false }
    if let throttledAt, now - throttledAt < .seconds(3_600) { return false }
    if let rate = budget.rate, !bucket.isFull(rate, at: now) { return false }
    return windows.allSatisfy { $0.isOver(at: now) || $0.isRested(at: now) }
  }

  func cost(_ budget: RequestBudget) -> Double { usualCost ?? budget.cost }

  /// Returns the time at which a request may go out.
  func verdict(_ budget: RequestBudget, at now: Duration) -> Verdict {
    var time = max(paced, asked)
    var isServers = asked > now && asked >= paced
    if let rate = budget.rate {
      let own = bucket.time(for: cost(budget), rate, at: now)
      if own > time { (time, isServers) = (own, false) }
    }
    var waitsForAnswer = onWire > 0 && (isUnsure || learnt.isNearEnd(cost(budget) + costOnWire))
    waitsForAnswer = waitsForAnswer || onWire >= width
    if budget.heedsServer {
      for window in windows {
        switch window.verdict(
          cost(budget), reserve: budget.reserve, costOnWire: costOnWire, onWire: onWire, at: now)
        {
        case .now: break
        case .at(let reset, _): if reset > time { (time, isServers) = (reset, true) }
        case .afterAnswer: waitsForAnswer = true
        }
      }
      if let end = learnt.end(for: cost(budget) + costOnWire), end > time {
        (time, isServers) = (end, true)
      }
    }
    if time > now { return .at(time, isServers: isServers) }
    return waitsForAnswer ? .afterAnswer : .now
  }

  /// Counts a request that goes out.
  mutating func grant(_ budget: RequestBudget, interval: Duration, at now: Duration) -> Grant {
    let cost = cost(budget)
    granted += 1
    onWire += 1
    costOnWire += cost
    if let rate = budget.rate { bucket.take(cost, rate, at: now) }
    if interval > .zero { paced = max(paced, now + interval) }
    learnt.granted(at: now)
    for index in windows.indices { windows[index].grant(at: now, granted: granted) }
    return Grant(number: granted, cost: cost)
  }

  /// Notes the answer to a request. `grant` is nil for a request that went out uncounted.
  mutating func answered(
    _ grant: Grant?, _ allowance: ServerAllowance, isThrottling: Bool, at now: Duration
  ) {
    settle(grant)
    let number = grant?.number ?? 0
    if !isThrottling { isUnsure = false }
    let wait = allowance.wait.map { min($0, Self.longestPause) }
    if isThrottling, allowance.windows.isEmpty {
      learnt.refused(until: wait.map { now + $0 }, granted: granted, at: now)
    } else if !isThrottling {
      learnt.add(grant?.cost ?? 1, number: grant?.number ?? .max, at: now)
    }
    merge(allowance, number: number, isThrottling: isThrottling, at: now)
    if let wait { asked = max(asked, now + wait) }
    if isThrottling {
      throttledAt = now
      isUnsure = isUnsure || wait != nil
      if allowance.isEmpty { narrow(number) }
    } else if width < .max {
      successes += 1
      if successes >= width { (width, successes) = (width + 1, 0) }
    }
  }

  /// Notes that a request got no answer. `wentOut` says whether the server may have counted it.
  mutating func lost(_ grant: Grant, wentOut: Bool) {
    settle(grant)
    guard wentOut else { return }
    for index in windows.indices { windows[index].spend(grant.cost) }
  }

  private mutating func settle(_ grant: Grant?) {
    guard let grant else { return }
    onWire -= 1
    costOnWire = onWire == 0 ? 0 : max(0, costOnWire - grant.cost)
  }

  private mutating func merge(
    _ allowance: ServerAllowance, number: Int, isThrottling: Bool, at now: Duration
  ) {
    for said in allowance.windows {
      if let index = windows.firstIndex(where: { $0.name == said.name }) {
        windows[index].learn(
          said, number: number, granted: granted, isThrottling: isThrottling, at: now)
      } else if windows.count < 16 {
        windows.append(ServerWindow(said, granted: granted, isThrottling: isThrottling, at: now))
      }
    }
    if windows.count > 1 {
      let names = allowance.windows.map(\.name)
      windows.removeAll { $0.isOver(at: now) && !names.contains($0.name) }
    }
  }

  /// Halves the number of requests in flight after throttling without a stated limit. Ignores
  /// answers to requests from before the last halving.
  private mutating func narrow(_ number: Int) {
    guard number >= sinceHalving else { return }
    width = max(1, min(width, onWire + 1) / 2)
    (sinceHalving, successes) = (granted + 1, 0)
  }

  /// Holds all requests until `time`, because a page asked for it.
  mutating func pause(until time: Duration) { asked = max(asked, time) }

  /// Notes the cost of a request, and the remaining allowance, from the body of its answer.
  mutating func learn(
    _ allowance: ServerAllowance, cost: Double?, of grant: Grant?, _ budget: RequestBudget,
    at now: Duration
  ) {
    merge(allowance, number: grant?.number ?? 0, isThrottling: false, at: now)
    guard let cost else { return }
    usualCost = cost
    if let grant, budget.rate != nil { bucket.take(cost - grant.cost) }
  }
}

/// The limit of a server that does not state it but throttles, with a time to come back or without:
/// the number of requests that it took before, and the time from the first of them until it took
/// more.
///
/// Above that number, one request goes at a time. A server that has refused at the same number
/// twice is not asked for more in the next two windows, then in the next four, and so on up to 32:
/// in between, a window is tried out, because the limit may be higher by now.
struct LearntWindow {
  private var limit: Double?
  private var taken = 0.0
  private var began: Duration?
  private var length: Duration?
  private var closedUntil = Duration.zero
  /// The beginning of the window that a refusal has closed, until a request is taken again.
  private var closed: Duration?
  /// The number of requests granted before the last refusal.
  private var grantedBefore = 0
  /// Whether the last refusal did not say for how long.
  private var isOpenEnded = false
  /// The longest time from the beginning of a window to the first request taken after it that is
  /// used as the window's length. In a longer one, the server may have taken requests much earlier.
  private static let longestMeasured = Duration.seconds(120)
  /// The shortest time after which the server took more, although it had not said when.
  private var measured: Duration?
  /// The number of times in a row that the server refused at this limit.
  private var refusals = 0
  /// The number of windows to come that keep to the limit, and whether this one does.
  private var (kept, isKept) = (0, false)

  /// Returns whether this additional cost may exceed the limit.
  func isNearEnd(_ more: Double) -> Bool { limit.map { taken + more > $0 } ?? false }

  /// Returns the time before which a request of this cost would be refused; nil if it may be taken.
  func end(for more: Double) -> Duration? {
    guard isKept, isNearEnd(more), let began, let length else { return nil }
    return began + length
  }

  mutating func granted(at now: Duration) {
    guard now >= closedUntil else { return }
    if let begin = began, let length, now - begin >= length { (began, taken) = (nil, 0) }
    guard began == nil else { return }
    let longest = isOpenEnded ? Self.longestMeasured : length
    if let longest, now - closedUntil > longest { closed = nil }
    began = now
    isKept = kept > 0
    kept = max(0, kept - 1)
  }

  /// Notes that the server took a request, the `number`th granted.
  mutating func add(_ cost: Double, number: Int, at now: Duration) {
    guard number > grantedBefore else {
      // It went out before the refusal, so it belongs to the window that this closed.
      limit = limit.map { $0 + cost }
      return
    }
    taken += cost
    if isOpenEnded {
      let rest = closed.map { now - $0 }.flatMap { $0 < Self.longestMeasured ? $0 : nil }
      measured = [measured, rest].compactMap(\.self).min()
      length = measured
      if length == nil { limit = nil }
    }
    (closed, isOpenEnded) = (nil, false)
    // A cost above the limit that the server took shows that the limit is higher.
    if let most = limit, taken > most { (limit, refusals) = (taken * 1.02, 0) }
  }

  /// Notes a refusal after `granted` requests. `time` is when the server takes more; nil if it did
  /// not say.
  mutating func refused(until time: Duration?, granted: Int, at now: Duration) {
    grantedBefore = granted
    isOpenEnded = time == nil
    let time = time ?? now
    if now >= closedUntil {
      if taken == 0, let closed {
        // The window is longer than the server said.
        length = time - closed
      } else {
        let isSame = limit.map { abs(taken - $0) <= max(1, $0 / 10) } ?? false
        refusals = isSame ? refusals + 1 : 1
        (limit, closed) = (max(1, taken), began)
        length = began.map { time - $0 }
      }
      if isKept || refusals == 1 { measured = nil }
      kept = refusals > 1 ? 1 << min(refusals - 1, 5) : 0
      (began, taken, isKept) = (nil, 0, false)
    }
    closedUntil = max(closedUntil, time)
  }
}

/// The client's own rate, as tokens that return evenly. Source: J. Turner, "New directions in
/// communications" (1986).
struct TokenBucket {
  /// The number of tokens; nil for a full bucket.
  private var tokens: Double?
  private var filled = Duration.zero

  /// Returns the time at which the bucket has `cost` tokens, or is full.
  func time(for cost: Double, _ rate: RequestBudget.Rate, at now: Duration) -> Duration {
    let missing = min(cost, rate.burst) - level(rate, at: now)
    // A smaller difference is a rounding error.
    guard missing > 1e-6 else { return now }
    return now + rate.time(for: missing)
  }

  func isFull(_ rate: RequestBudget.Rate, at now: Duration) -> Bool {
    time(for: rate.burst, rate, at: now) <= now
  }

  mutating func take(_ cost: Double, _ rate: RequestBudget.Rate, at now: Duration) {
    tokens = level(rate, at: now) - cost
    filled = now
  }

  /// Corrects the cost of a request that was taken before.
  mutating func take(_ more: Double) { tokens = tokens.map { $0 - more } }

  private func level(_ rate: RequestBudget.Rate, at now: Duration) -> Double {
    guard let tokens else { return rate.burst }
    guard rate.period > .zero else { return rate.burst }
    return min(rate.burst, tokens + max(0, (now - filled) / rate.period) * rate.count)
  }
}

/// One limit of a server, as its answers state it.
///
/// The remaining allowance is the lowest one stated, minus the requests in flight: answers overtake
/// each other, and each describes the moment at which its request was counted.
struct ServerWindow {
  let name: String
  private var unit: ServerAllowance.Unit
  private var limit: Double?
  private var remaining: Double?
  private var resetAt: Duration?
  private var length: Duration?
  /// The extra time to wait after a stated reset, because the server was found to begin windows
  /// late.
  private var margin = Duration.zero
  /// The number of requests granted when `remaining` was learnt. Answers to later requests are more
  /// recent.
  private var knownAt = 0
  /// The number of requests granted before this window. Answers to them describe an earlier window.
  private var beganAt = -1
  /// Spaces requests if the server states a limit but never what is left.
  private var bucket = TokenBucket()
  /// Whether this window was begun by computation and no answer has confirmed it.
  private var isAssumed = false
  /// Whether a computed beginning was confirmed once.
  private var hasConfirmedAssumption = false

  init(
    _ said: ServerAllowance.Window, granted: Int, isThrottling: Bool, at now: Duration
  ) {
    name = said.name
    unit = said.unit
    learn(said, number: granted + 1, granted: granted, isThrottling: isThrottling, at: now)
  }

  func isOver(at now: Duration) -> Bool {
    if let resetAt { return resetAt + margin <= now }
    return unit != .concurrency && length == nil && remaining ?? 1 >= 1
  }

  /// Returns whether the window only spaces requests and the next one need not wait.
  func isRested(at now: Duration) -> Bool {
    bucketRate.map { bucket.isFull($0, at: now) } ?? false
  }

  /// Notes what an answer says about the limit. `number` is that of the answer's request.
  mutating func learn(
    _ said: ServerAllowance.Window, number: Int, granted: Int, isThrottling: Bool, at now: Duration
  ) {
    unit = said.unit
    limit = said.limit ?? limit
    length = said.length ?? length
    var left = said.remaining
    // The request was refused because this limit is used up.
    if isThrottling, left == nil, said.reset != nil { left = 0 }
    let reset = said.reset.map { now + min($0, RateMachine.longestPause) }
    // Otherwise the answer describes an earlier window.
    guard number > beganAt else { return }
    let isLater = number > knownAt
    if isAssumed, isLater {
      if isThrottling, left ?? 0 < 1 {
        // The computed window began too early.
        margin = min(.seconds(5), max(.seconds(1), margin * 2))
      } else {
        hasConfirmedAssumption = true
      }
      isAssumed = false
    }
    guard let left else {
      if let reset { resetAt = reset }
      return
    }
    let isRefilled = isLater && left > remaining ?? -1
    if isLater { remaining = left } else { remaining = min(remaining ?? left, left) }
    if let reset {
      // Times are rounded to seconds: of several for one window, the earliest is the most accurate.
      let isSame = !isRefilled && resetAt.map { reset <= $0 + .milliseconds(1500) } ?? false
      resetAt = isSame ? min(resetAt ?? reset, reset) : isLater || resetAt == nil ? reset : resetAt
    } else if let length, isRefilled || resetAt == nil {
      resetAt = nil
      if left < 1, let limit, limit > 0 {
        let wait = RequestBudget.Rate(limit, per: length).time(for: 1)
        resetAt = now + min(wait, RateMachine.longestPause)
      }
    }
    if isLater { knownAt = granted }
  }

  /// Counts a request without an answer, which the server may have counted.
  mutating func spend(_ cost: Double) { remaining = remaining.map { max(0, $0 - cost) } }

  /// Counts a request that goes out; if the window is over, it is the first of a new one.
  mutating func grant(at now: Duration, granted: Int) {
    if let rate = bucketRate { bucket.take(1, rate, at: now) }
    guard let reset = resetAt, now >= reset + margin else { return }
    isAssumed = true
    remaining = limit
    resetAt = length.map { reset + $0 }
    if let next = resetAt, next <= now { resetAt = length.map { now + $0 } }
    (knownAt, beganAt) = (granted - 1, granted - 1)
  }

  func verdict(
    _ cost: Double, reserve: Double, costOnWire: Double, onWire: Int, at now: Duration
  ) -> RateMachine.Verdict {
    if unit == .concurrency {
      return Double(onWire) < max(1, (limit ?? .infinity)) ? .now : .afterAnswer
    }
    let isOver = resetAt.map { now >= $0 + margin } ?? false
    if isOver || isAssumed {
      // One request at a time finds out what the new window allows.
      let isUnsure = limit == nil || !hasConfirmedAssumption
      if isUnsure, isOver || onWire > 0 { return onWire > 0 ? .afterAnswer : .now }
    }
    guard let remaining = isOver ? limit : remaining else { return paced(at: now) }
    if unit == .other {
      guard remaining < 1, let resetAt, !isOver else { return .now }
      return .at(resetAt + margin, isServers: true)
    }
    // A request that costs more than the whole window goes out when the window is full.
    let most = limit ?? .infinity
    let needed = min(cost, most)
    let kept = min(reserve, max(0, most - needed))
    if remaining - kept - costOnWire >= needed { return .now }
    if remaining - kept >= needed || resetAt == nil, onWire > 0 { return .afterAnswer }
    guard let resetAt else { return .now }
    return .at(resetAt + margin, isServers: true)
  }

  /// Spaces requests by a limit and its length if the server never states what is left.
  private func paced(at now: Duration) -> RateMachine.Verdict {
    guard let rate = bucketRate else { return .now }
    let time = bucket.time(for: 1, rate, at: now)
    return time > now ? .at(time, isServers: true) : .now
  }

  private var bucketRate: RequestBudget.Rate? {
    guard unit == .requests, remaining == nil, let limit, limit > 0, let length else { return nil }
    return RequestBudget.Rate(limit, per: length)
  }
}
