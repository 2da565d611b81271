import Synchronization

/// Counts what is open, so that tests can prove that nothing is left.
package final class Ledger: Sendable {
  private let sockets = Mutex(SocketTable())
  private let transfers = Atomic<Int>(0)
  private let handles = Atomic<Int>(0)

  /// Sockets that libcurl has open, idle connections included.
  package var openSockets: Int { sockets.withLock { $0.count } }
  /// Sockets opened since the start.
  package var socketsOpened: Int { sockets.withLock { $0.opened } }
  /// Transfers in flight.
  package var runningTransfers: Int { transfers.load(ordering: .acquiring) }
  /// Easy handles that exist, kept ones included.
  package var easyHandles: Int { handles.load(ordering: .acquiring) }

  func withSockets<Result: Sendable>(_ body: (inout SocketTable) -> Result) -> Result {
    sockets.withLock { body(&$0) }
  }

  func transferStarted() { transfers.add(1, ordering: .acquiringAndReleasing) }
  func transferEnded() { transfers.subtract(1, ordering: .acquiringAndReleasing) }
  func handleMade() { handles.add(1, ordering: .acquiringAndReleasing) }
  func handleFreed() { handles.subtract(1, ordering: .acquiringAndReleasing) }
}
