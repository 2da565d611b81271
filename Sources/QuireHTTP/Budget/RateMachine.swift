import QuirePagination

/// Decides when the next request with one credential may go to one host: by the limits that are one's
/// own, by those that the server has stated, and by what descriptions ask for.
///
/// Pure: times are given, measured from any beginning.
struct RateMachine {
  /// When a request may go out.
  enum Verdict: Hashable {
    case now
    /// Not before then. `isServers` where the server is the reason.
    case at(Duration, isServers: Bool)
    /// Not before one of those on the wire is answered.
    case afterAnswer
  }

  /// A request that went out.
  struct Grant {
    /// Counted from 1.
    var number: Int
    var cost: Double
  }

  private var bucket = TokenBucket()
  private var windows: [ServerWindow] = []
  /// When the server lets the next request come.
  private var asked = Duration.zero
  /// When descriptions let it.
  private var paced = Duration.zero
  /// Whether it has to be tried out by a single request that the server takes more.
  private var isUnsure = false
  /// Requests on the wire without an answer, and what they cost.
  private(set) var (onWire, costOnWire) = (0, 0.0)
  private var granted = 0
  /// How many may be on the wire; halved when the server says that it is too much without saying what is not.
  private var width = Int.max
  private var (sinceHalving, successes) = (0, 0)
  /// When it said so the last time, or when to come back.
  private var throttledAt: Duration?
  /// What a server is found to take that says no more than when to come back.
  private var learnt = LearntWindow()
  /// What the next request is expected to cost; nil before an answer told.
  private var usualCost: Double?

  /// Whether nothing holds any request back.
  var isFree: Bool {
    windows.isEmpty && width == .max && !isUnsure && asked == .zero && paced == .zero
  }

  /// Whether no limit that is known would be passed if it were forgotten. What a refusal taught counts for an hour:
  /// none of it has an end of its own.
  func isForgettable(_ budget: RequestBudget, at now: Duration) -> Bool {
    guard onWire == 0, asked <= now, paced <= now else { return false }
    if let throttledAt, now - throttledAt < .seconds(3_600) { return false }
    if let rate = budget.rate, !bucket.isFull(rate, at: now) { return false }
    return windows.allSatisfy { $0.isOver(at: now) || $0.isRested(at: now) }
  }

  func cost(_ budget: RequestBudget) -> Double { usualCost ?? budget.cost }

  /// When a request may go out.
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
    }
    if time > now { return .at(time, isServers: isServers) }
    return waitsForAnswer ? .afterAnswer : .now
  }

  /// A request goes out.
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

  /// A request has been answered, or will not be. `grant` is nil for one that went out while nothing was
  /// counted.
  mutating func answered(
    _ grant: Grant?, _ allowance: ServerAllowance, isThrottling: Bool, at now: Duration
  ) {
    settle(grant)
    let number = grant?.number ?? 0
    if !isThrottling { isUnsure = false }
    if let wait = allowance.wait, isThrottling, allowance.windows.isEmpty {
      learnt.refused(until: now + wait, at: now)
    } else if !isThrottling {
      learnt.taken(grant?.cost ?? 1)
    }
    merge(allowance, number: number, isThrottling: isThrottling, at: now)
    if let wait = allowance.wait { asked = max(asked, now + wait) }
    if isThrottling {
      throttledAt = now
      isUnsure = isUnsure || allowance.wait != nil
      if allowance.isEmpty { narrow(number) }
    } else if width < .max {
      successes += 1
      if successes >= width { (width, successes) = (width + 1, 0) }
    }
  }

  /// A request came to no answer: the server may have counted it.
  mutating func lost(_ grant: Grant?) {
    settle(grant)
    guard let grant else { return }
    for index in windows.indices { windows[index].spend(grant.cost) }
  }

  /// A request was given back before it went out.
  mutating func returned(_ grant: Grant) { settle(grant) }

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

  /// The server said that it was too much, and not how much is not.
  private mutating func narrow(_ number: Int) {
    guard number >= sinceHalving else { return }
    width = max(1, min(width, onWire + 1) / 2)
    (sinceHalving, successes) = (granted + 1, 0)
  }

  /// Nothing goes out for a while, as a page asks.
  mutating func pause(until time: Duration) { asked = max(asked, time) }

  /// A body said what its request cost, and what is left.
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

/// The limit of a server that never states it, and when it refuses says when to come back: as many requests
/// as it took the last time. Beyond them one goes at a time.
struct LearntWindow {
  private var limit: Double?
  private var taken = 0.0
  private var began: Duration?
  private var length: Duration?
  private var closedUntil = Duration.zero

  /// Whether so much more may be too much.
  func isNearEnd(_ more: Double) -> Bool { limit.map { taken + more > $0 } ?? false }

  mutating func granted(at now: Duration) {
    guard now >= closedUntil else { return }
    if let begin = began, let length, now - begin >= length { (began, taken) = (nil, 0) }
    if began == nil { began = now }
  }

  mutating func taken(_ cost: Double) {
    taken += cost
    // What it takes beyond the limit shows that there is more.
    if let most = limit, taken > most { limit = taken * 1.02 }
  }

  mutating func refused(until time: Duration, at now: Duration) {
    if now >= closedUntil {
      limit = max(1, taken)
      length = began.map { time - $0 }
      (began, taken) = (nil, 0)
    }
    closedUntil = max(closedUntil, time)
  }
}

/// A limit of one's own: tokens that come back evenly. Source: J. Turner, "New directions in
/// communications" (1986).
struct TokenBucket {
  /// What is there; nil for a full bucket.
  private var tokens: Double?
  private var filled = Duration.zero

  /// When there will be `cost` tokens, or as many as there can be.
  func time(for cost: Double, _ rate: RequestBudget.Rate, at now: Duration) -> Duration {
    let missing = min(cost, rate.burst) - level(rate, at: now)
    // Less than a millionth is an error of rounding.
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

  /// Corrects what was taken.
  mutating func take(_ more: Double) { tokens = tokens.map { $0 - more } }

  private func level(_ rate: RequestBudget.Rate, at now: Duration) -> Double {
    guard let tokens else { return rate.burst }
    guard rate.period > .zero else { return rate.burst }
    return min(rate.burst, tokens + max(0, (now - filled) / rate.period) * rate.count)
  }
}

/// A limit that a server keeps, as far as its answers tell.
///
/// What remains is what the answers said at least, less what is on the wire: answers overtake each other,
/// and each of them tells of the moment when its request was counted.
struct ServerWindow {
  let name: String
  private var unit: ServerAllowance.Unit
  private var limit: Double?
  private var remaining: Double?
  private var resetAt: Duration?
  private var length: Duration?
  /// How much later than it said the server has been found to begin a window.
  private var margin = Duration.zero
  /// Requests that had been granted when this was learnt: answers to later ones know better.
  private var knownAt = 0
  /// Requests that had been granted before the present window.
  private var beganAt = -1
  /// What spaces requests where the server never says what is left.
  private var bucket = TokenBucket()
  /// Whether the present window was begun by reckoning, and no answer has confirmed it.
  private var isReckoned = false
  /// Whether a reckoned beginning was right once.
  private var isProven = false

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

  /// Whether it only spaces requests, and the next one need not wait.
  func isRested(at now: Duration) -> Bool {
    bucketRate.map { bucket.isFull($0, at: now) } ?? false
  }

  /// An answer told.
  mutating func learn(
    _ said: ServerAllowance.Window, number: Int, granted: Int, isThrottling: Bool, at now: Duration
  ) {
    unit = said.unit
    limit = said.limit ?? limit
    length = said.length ?? length
    var left = said.remaining
    // A refusal for this very reason.
    if isThrottling, left == nil, said.reset != nil { left = 0 }
    let reset = said.reset.map { now + $0 }
    // It tells of a window that is over.
    guard number > beganAt else { return }
    let isLater = number > knownAt
    if isReckoned, isLater {
      if isThrottling, left ?? 0 < 1 {
        // It was too early.
        margin = min(.seconds(5), max(.seconds(1), margin * 2))
      } else {
        isProven = true
      }
      isReckoned = false
    }
    guard let left else {
      if let reset { resetAt = reset }
      return
    }
    let isRefilled = isLater && left > remaining ?? -1
    if isLater { remaining = left } else { remaining = min(remaining ?? left, left) }
    if let reset {
      // Seconds are rounded: the earliest of one window is the truest.
      let isSame = !isRefilled && resetAt.map { reset <= $0 + .milliseconds(1500) } ?? false
      resetAt = isSame ? min(resetAt ?? reset, reset) : isLater || resetAt == nil ? reset : resetAt
    } else if let length, isRefilled || resetAt == nil {
      resetAt = nil
      if left < 1, let limit, limit > 0 {
        resetAt = now + RequestBudget.Rate(limit, per: length).time(for: 1)
      }
    }
    if isLater { knownAt = granted }
  }

  /// The server may have counted a request that nothing was heard of.
  mutating func spend(_ cost: Double) { remaining = remaining.map { max(0, $0 - cost) } }

  /// A request goes out; where the window is over, it is the first of a new one.
  mutating func grant(at now: Duration, granted: Int) {
    if let rate = bucketRate { bucket.take(1, rate, at: now) }
    guard let reset = resetAt, now >= reset + margin else { return }
    isReckoned = true
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
    if isOver || isReckoned {
      // Until an answer tells what the new window has, one request tries it.
      let isUnsure = limit == nil || !isProven
      if isUnsure, isOver || onWire > 0 { return onWire > 0 ? .afterAnswer : .now }
    }
    guard let remaining = isOver ? limit : remaining else { return paced(at: now) }
    if unit == .other {
      guard remaining < 1, let resetAt, !isOver else { return .now }
      return .at(resetAt + margin, isServers: true)
    }
    // A request that costs more than there ever is goes out when there is most.
    let most = limit ?? .infinity
    let needed = min(cost, most)
    let kept = min(reserve, max(0, most - needed))
    if remaining - kept - costOnWire >= needed { return .now }
    if remaining - kept >= needed || resetAt == nil, onWire > 0 { return .afterAnswer }
    guard let resetAt else { return .now }
    return .at(resetAt + margin, isServers: true)
  }

  /// A server that names a limit and its time, and never what is left.
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
