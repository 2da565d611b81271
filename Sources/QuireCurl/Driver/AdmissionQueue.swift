import QuireHTTP
import Synchronization

/// Lets so many requests to one origin through at a time; the others wait in order.
///
/// libcurl would queue them itself, but at the price of a handle each and of a look at each in every
/// round: a thousand cursors on one host cost no more than the few that can be served.
///
/// Where a server ends its HTTP/2 connections after a few requests and gives back the others, fewer go out
/// at a time: half of them, and one more for every second answer.
struct AdmissionQueue<Request> {
  private struct Lane {
    var running = 0
    /// How many may run at a time.
    var window: Int
    /// Answers over HTTP/2 while any request was running.
    var answers = 0
    /// How many there were when requests were given back.
    var answersAtLoss = 0
    var waiting = Queue<(id: ObjectIdentifier, request: Request)>()
  }

  private let limit: Int
  private var lanes: [String: Lane] = [:]
  private var waitingIDs: Set<ObjectIdentifier> = []

  init(limit: Int) {
    self.limit = limit
  }

  /// A request has come; true when it may start now.
  mutating func arrived(_ request: Request, id: ObjectIdentifier, origin: String) -> Bool {
    var lane = lanes[origin] ?? Lane(window: limit)
    defer { lanes[origin] = lane }
    if lane.running < lane.window {
      lane.running += 1
      return true
    }
    lane.waiting.add((id, request))
    waitingIDs.insert(id)
    return false
  }

  /// A request that had started is over; the one that may start in its place.
  mutating func ended(origin: String) -> Request? {
    guard let index = lanes.index(forKey: origin) else { return nil }
    lanes.values[index].running -= 1
    let next = next(at: index)
    if lanes.values[index].running == 0 { lanes.remove(at: index) }
    return next
  }

  /// Another one that may start.
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

  /// A request to the origin was answered over HTTP/2.
  mutating func answered(origin: String) {
    guard let index = lanes.index(forKey: origin) else { return }
    lanes.values[index].answers += 1
    let (window, answers) = (lanes.values[index].window, lanes.values[index].answers)
    if window < limit, answers.isMultiple(of: 2) { lanes.values[index].window += 1 }
  }

  /// The end of a connection gave a request back.
  mutating func sentBack(origin: String) {
    guard let index = lanes.index(forKey: origin) else { return }
    let lane = lanes.values[index]
    // One end gives back many of them.
    guard lane.answers > lane.answersAtLoss else { return }
    lanes.values[index].window = max(1, min(lane.window, lane.running) / 2)
    lanes.values[index].answersAtLoss = lane.answers
  }

  /// How many were, since the first of those that are running now.
  func answers(origin: String) -> Int { lanes[origin]?.answers ?? 0 }

  /// Takes back a request that has not started; false when it has.
  mutating func withdraw(_ id: ObjectIdentifier) -> Bool {
    waitingIDs.remove(id) != nil
  }

  /// Takes back all requests that have not started.
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

/// Counts what is open, so that tests can prove that nothing is left.
final class Ledger: Sendable {
  private let sockets = Mutex(SocketTable())
  private let transfers = Atomic<Int>(0)
  private let handles = Atomic<Int>(0)

  /// Sockets that libcurl has open, idle connections included.
  var openSockets: Int { sockets.withLock { $0.count } }
  /// Sockets opened since the start.
  var socketsOpened: Int { sockets.withLock { $0.opened } }
  /// Transfers in flight.
  var runningTransfers: Int { transfers.load(ordering: .acquiring) }
  /// Easy handles that exist, kept ones included.
  var easyHandles: Int { handles.load(ordering: .acquiring) }

  func withSockets<Result: Sendable>(_ body: (inout SocketTable) -> Result) -> Result {
    sockets.withLock { body(&$0) }
  }

  func transferStarted() { transfers.add(1, ordering: .acquiringAndReleasing) }
  func transferEnded() { transfers.subtract(1, ordering: .acquiringAndReleasing) }
  func handleMade() { handles.add(1, ordering: .acquiringAndReleasing) }
  func handleFreed() { handles.subtract(1, ordering: .acquiringAndReleasing) }
}
