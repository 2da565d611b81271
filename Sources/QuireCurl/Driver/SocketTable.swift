import Synchronization

/// The sockets that libcurl has open, and which connection each of them carries.
///
/// libcurl reports the opening of every socket, but the closing only of those that had become a
/// connection; and before a request goes out it names the connection by its two ends, not by its
/// socket.
struct SocketTable {
  /// A socket opened for an attempt to connect. Descriptors are used again, numbers of attempts are
  /// not.
  struct Attempt {
    var descriptor: Int32
    var number: Int
  }

  /// The two ends of a TCP connection.
  struct Route: Hashable {
    var localAddress: String
    var localPort: Int32
    var remoteAddress: String
    var remotePort: Int32
  }

  private struct Entry {
    var attempt: Int
    var route: Route?
    var speaksHTTP1 = false
  }

  private var entries: [Int32: Entry] = [:]
  private var descriptors: [Route: Int32] = [:]
  /// The number of sockets opened since the start.
  private(set) var opened = 0

  var count: Int { entries.count }

  mutating func open(_ descriptor: Int32) -> Attempt {
    close(descriptor)
    opened += 1
    entries[descriptor] = Entry(attempt: opened)
    return Attempt(descriptor: descriptor, number: opened)
  }

  mutating func close(_ descriptor: Int32) {
    guard let route = entries.removeValue(forKey: descriptor)?.route else { return }
    if descriptors[route] == descriptor { descriptors[route] = nil }
  }

  /// Closes the socket of an attempt that did not become a connection, unless its closing was
  /// reported before.
  mutating func abandon(_ attempt: Attempt) {
    if entries[attempt.descriptor]?.attempt == attempt.number { close(attempt.descriptor) }
  }

  mutating func connect(_ descriptor: Int32, along route: Route) {
    entries[descriptor]?.route = route
    descriptors[route] = descriptor
  }

  func descriptor(along route: Route) -> Int32? { descriptors[route] }

  /// Notes which HTTP version a connection has shown to speak.
  mutating func note(_ descriptor: Int32, speaksHTTP1: Bool) {
    entries[descriptor]?.speaksHTTP1 = speaksHTTP1
  }

  /// Whether a connection speaks HTTP/1, so that bytes between two responses are out of order.
  func speaksHTTP1(_ descriptor: Int32) -> Bool { entries[descriptor]?.speaksHTTP1 ?? false }
}

/// Counts what is open, so that tests can prove that nothing is left open.
final class Ledger: Sendable {
  private let sockets = Mutex(SocketTable())
  private let transfers = Atomic<Int>(0)
  private let handles = Atomic<Int>(0)

  /// The number of sockets that libcurl has open, idle connections included.
  var openSockets: Int { sockets.withLock { $0.count } }
  /// The number of sockets opened since the start.
  var socketsOpened: Int { sockets.withLock { $0.opened } }
  /// The number of transfers in flight.
  var runningTransfers: Int { transfers.load(ordering: .acquiring) }
  /// The number of easy handles, kept ones included.
  var easyHandles: Int { handles.load(ordering: .acquiring) }

  func withSockets<Result: Sendable>(_ body: (inout SocketTable) -> Result) -> Result {
    sockets.withLock { body(&$0) }
  }

  func transferStarted() { transfers.add(1, ordering: .acquiringAndReleasing) }
  func transferEnded() { transfers.subtract(1, ordering: .acquiringAndReleasing) }
  func handleMade() { handles.add(1, ordering: .acquiringAndReleasing) }
  func handleFreed() { handles.subtract(1, ordering: .acquiringAndReleasing) }
}
