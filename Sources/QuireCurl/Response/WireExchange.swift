import QuirePagination
import QuireCore
import QuireHTTP
import Synchronization

/// One request and its response, between the driver that delivers it and the one task that reads
/// it.
final class WireExchange: Sendable {
  let request: WireRequest
  let route: RequestRoute
  private let inbox = Mutex(Inbox())

  private struct Inbox {
    var head: ResponseHead?
    /// Body bytes that are not taken yet.
    var bytes: [UInt8] = []
    var end: Result<Void, any Error>?
    var metrics = TransferMetrics(wireRequests: 0)
    var waiter: Suspension<Void>?
    /// Whether the transfer waits until `bytes` are taken.
    var pausesTransfer = false
  }

  /// The answer to a reader.
  enum Supply: Sendable {
    /// Some bytes, and whether the transfer waits until they are taken.
    case bytes([UInt8], pausesTransfer: Bool)
    case complete
    case failed(any Error)
    /// Nothing yet: wait for this, then look again.
    case nothing(Suspension<Void>)
  }

  init(_ request: WireRequest, along route: RequestRoute) {
    self.request = request
    self.route = route
  }

  var metrics: TransferMetrics { inbox.withLock { $0.metrics } }
  var isOver: Bool { inbox.withLock { $0.end != nil } }
  /// Whether the body is complete and its bytes were taken.
  var isTaken: Bool {
    inbox.withLock { inbox in
      guard case .success = inbox.end else { return false }
      return inbox.bytes.isEmpty
    }
  }
  /// The number of body bytes that are not taken yet.
  var unread: Int { inbox.withLock { $0.bytes.count } }

  /// Returns whether there are bytes to take; then the reader that takes them resumes the transfer.
  func requestResume() -> Bool {
    inbox.withLock { inbox in
      inbox.pausesTransfer = !inbox.bytes.isEmpty
      return inbox.pausesTransfer
    }
  }

  /// Delivers what came since the last delivery, and wakes the reader once for all of it.
  func deliver(
    head: ResponseHead?, bytes: consuming [UInt8], end: Result<Void, any Error>?,
    metrics: TransferMetrics
  ) {
    let waiter = inbox.withLock { [bytes] inbox in
      if let head { inbox.head = head }
      if inbox.bytes.isEmpty { inbox.bytes = bytes } else { inbox.bytes += bytes }
      if inbox.end == nil { inbox.end = end }
      inbox.metrics = metrics
      defer { inbox.waiter = nil }
      return inbox.waiter
    }
    waiter?.resume(returning: ())
  }

  /// Ends the exchange with an error before any request was sent.
  func fail(_ error: any Error) {
    deliver(head: nil, bytes: [], end: .failure(error), metrics: TransferMetrics(wireRequests: 0))
  }

  /// Returns what to wait for before looking again; nil once the head or the end is here.
  func waitForHead() -> Suspension<Void>? {
    inbox.withLock { inbox in
      guard inbox.head == nil, inbox.end == nil else { return nil }
      let waiter = Suspension<Void>()
      inbox.waiter = waiter
      return waiter
    }
  }

  /// Returns the head, after the wait for it.
  func head() throws -> ResponseHead {
    try inbox.withLock { inbox in
      if let head = inbox.head { return head }
      if case .failure(let error) = inbox.end { throw error }
      preconditionFailure("WireExchange: a response without a head")
    }
  }

  /// Returns all body bytes that are here or, after them, the end.
  func takeBytes() -> Supply {
    inbox.withLock { inbox in
      if !inbox.bytes.isEmpty {
        defer { (inbox.bytes, inbox.pausesTransfer) = ([], false) }
        return .bytes(inbox.bytes, pausesTransfer: inbox.pausesTransfer)
      }
      switch inbox.end {
      case .success: return .complete
      case .failure(let error): return .failed(error)
      case nil: return Self.wait(&inbox)
      }
    }
  }

  private static func wait(_ inbox: inout Inbox) -> Supply {
    guard inbox.waiter == nil else {
      return .failed(
        PageError(.concurrentIteration, "Two tasks read one response body at the same time."))
    }
    let waiter = Suspension<Void>()
    inbox.waiter = waiter
    return .nothing(waiter)
  }
}
