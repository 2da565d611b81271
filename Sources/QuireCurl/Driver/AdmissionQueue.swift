import Synchronization

/// Lets so many requests to one origin through at a time; the others wait in order.
///
/// libcurl would queue them itself, but at the price of a handle each and of a look at each in every
/// round: a thousand cursors on one host cost no more than the few that can be served.
struct AdmissionQueue<Request> {
  private struct Lane {
    var running = 0
    var waiting: [(id: ObjectIdentifier, request: Request)] = []
    /// Where the first of `waiting` is: taking from the front must not move the rest.
    var front = 0

    mutating func takeFirst() -> (id: ObjectIdentifier, request: Request)? {
      guard front < waiting.count else { return nil }
      defer {
        front += 1
        if front > 64, front * 2 > waiting.count {
          waiting.removeFirst(front)
          front = 0
        }
      }
      return waiting[front]
    }
  }

  private let limit: Int
  private var lanes: [String: Lane] = [:]
  private var waitingIDs: Set<ObjectIdentifier> = []

  init(limit: Int) {
    self.limit = limit
  }

  /// A request has come; true when it may start now.
  mutating func arrived(_ request: Request, id: ObjectIdentifier, origin: String) -> Bool {
    var lane = lanes[origin] ?? Lane()
    defer { lanes[origin] = lane }
    if lane.running < limit {
      lane.running += 1
      return true
    }
    lane.waiting.append((id, request))
    waitingIDs.insert(id)
    return false
  }

  /// A request that had started is over; the one that may start in its place.
  mutating func ended(origin: String) -> Request? {
    guard let index = lanes.index(forKey: origin) else { return nil }
    while let next = lanes.values[index].takeFirst() {
      if waitingIDs.remove(next.id) != nil { return next.request }
    }
    lanes.values[index].running -= 1
    if lanes.values[index].running == 0 { lanes.remove(at: index) }
    return nil
  }

  /// Takes back a request that has not started; false when it has.
  mutating func withdraw(_ id: ObjectIdentifier) -> Bool {
    waitingIDs.remove(id) != nil
  }

  /// Takes back all requests that have not started.
  mutating func withdrawAll() -> [Request] {
    defer {
      waitingIDs = []
      lanes = lanes.mapValues { Lane(running: $0.running) }
    }
    return lanes.values.flatMap { lane in
      lane.waiting[lane.front...].filter { waitingIDs.contains($0.id) }.map(\.request)
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
