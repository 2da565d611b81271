import QuireHTTP

/// Limits the requests to each origin that run at a time; the others wait in order.
///
/// libcurl would queue them itself, but with a handle for each, and would look at each in every
/// round. This way a thousand cursors on one host cost no more than the few that can be served.
///
/// If a server ends its HTTP/2 connections after a few requests and gives the others back, fewer
/// are sent at a time: half as many, and one more for every second answer.
struct AdmissionQueue<Request> {
  private struct Lane {
    var running = 0
    /// The most requests that may run at a time.
    var window: Int
    /// The number of answers over HTTP/2 since the origin last had no running request.
    var answers = 0
    /// The number of answers when requests were last given back.
    var answersAtLoss = 0
    var waiting = Queue<(id: ObjectIdentifier, request: Request)>()
  }

  private let limit: Int
  private var lanes: [String: Lane] = [:]
  private var waitingIDs: Set<ObjectIdentifier> = []

  init(limit: Int) {
    self.limit = limit
  }

  /// Adds a request; returns whether it may start now.
  mutating func arrived(_ request: Request, id: ObjectIdentifier, origin: String) -> Bool {
    let (running, window) = lanes[origin].map { ($0.running, $0.window) } ?? (0, limit)
    guard running < window else {
      // Added in the dictionary, because a copy would copy all waiting requests.
      lanes[origin, default: Lane(window: limit)].waiting.add((id, request))
      waitingIDs.insert(id)
      return false
    }
    lanes[origin, default: Lane(window: limit)].running += 1
    return true
  }

  /// Notes that a running request is over. Returns the request that may start in its place.
  mutating func ended(origin: String) -> Request? {
    guard let index = lanes.index(forKey: origin) else { return nil }
    lanes.values[index].running -= 1
    let next = next(at: index)
    if lanes.values[index].running == 0 { lanes.remove(at: index) }
    return next
  }

  /// Returns another request that may start.
  mutating func next(origin: String) -> Request? {
    lanes.index(forKey: origin).flatMap { next(at: $0) }
  }

  private mutating func next(at index: Dictionary<String, Lane>.Index) -> Request? {
    guard lanes.values[index].running < lanes.values[index].window else { return nil }
    while let next = lanes.values[index].waiting.take() {
      guard waitingIDs.remove(next.id) != nil else { continue }
      lanes.values[index].running += 1
      return next.request
    }
    return nil
  }

  /// Notes that a request to the origin was answered over HTTP/2.
  mutating func answered(origin: String) {
    guard let index = lanes.index(forKey: origin) else { return }
    lanes.values[index].answers += 1
    let (window, answers) = (lanes.values[index].window, lanes.values[index].answers)
    if window < limit, answers.isMultiple(of: 2) { lanes.values[index].window += 1 }
  }

  /// Notes that the end of a connection gave a request back.
  mutating func sentBack(origin: String) {
    guard let index = lanes.index(forKey: origin) else { return }
    let lane = lanes.values[index]
    // The end of one connection gives back many requests, and counts once.
    guard lane.answers > lane.answersAtLoss else { return }
    lanes.values[index].window = max(1, min(lane.window, lane.running) / 2)
    lanes.values[index].answersAtLoss = lane.answers
  }

  /// Returns the number of answers over HTTP/2 since the origin last had no running request.
  func answers(origin: String) -> Int { lanes[origin]?.answers ?? 0 }

  /// Withdraws a request that has not started; returns false if it has.
  mutating func withdraw(_ id: ObjectIdentifier) -> Bool {
    waitingIDs.remove(id) != nil
  }

  /// Withdraws all requests that have not started, and returns them.
  mutating func withdrawAll() -> [Request] {
    defer {
      waitingIDs = []
      lanes = lanes.mapValues { Lane(running: $0.running, window: $0.window) }
    }
    return lanes.values.flatMap { lane in
      lane.waiting.rest.filter { waitingIDs.contains($0.id) }.map(\.request)
    }
  }
}
