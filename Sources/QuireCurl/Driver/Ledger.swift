import Synchronization

/// Counts what is open, so that tests can prove that nothing is left.
package final class Ledger: Sendable {
  private let sockets = Atomic<Int>(0)
  private let everOpened = Atomic<Int>(0)
  private let transfers = Atomic<Int>(0)
  private let handles = Atomic<Int>(0)

  /// Sockets that libcurl has open, idle connections included.
  package var openSockets: Int { sockets.load(ordering: .acquiring) }
  /// Sockets opened since the start.
  package var socketsOpened: Int { everOpened.load(ordering: .acquiring) }
  /// Transfers in flight.
  package var runningTransfers: Int { transfers.load(ordering: .acquiring) }
  /// Easy handles that exist, kept ones included.
  package var easyHandles: Int { handles.load(ordering: .acquiring) }

  func socketOpened() {
    sockets.add(1, ordering: .acquiringAndReleasing)
    everOpened.add(1, ordering: .acquiringAndReleasing)
  }

  func socketClosed() {
    sockets.subtract(1, ordering: .acquiringAndReleasing)
  }

  func transferStarted() { transfers.add(1, ordering: .acquiringAndReleasing) }
  func transferEnded() { transfers.subtract(1, ordering: .acquiringAndReleasing) }
  func handleMade() { handles.add(1, ordering: .acquiringAndReleasing) }
  func handleFreed() { handles.subtract(1, ordering: .acquiringAndReleasing) }
}
