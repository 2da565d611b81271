import QuirePagination
import QuireCore
import QuireHTTP
import Synchronization

/// The reading end of a response: waits, removes the content coding, and stops the transfer when
/// it is dropped before the end.
final class ResponseReader: Sendable {
  let exchange: WireExchange
  /// Kept so that the driver lives as long as a body is read.
  private let transport: CurlTransport
  private let decoder = Mutex(BodyDecoder.undecided)

  init(_ exchange: WireExchange, transport: CurlTransport) {
    self.exchange = exchange
    self.transport = transport
  }

  deinit {
    if !exchange.isOver { cancel() }
  }

  var metrics: TransferMetrics { exchange.metrics }

  /// Whether every slice was taken, and the body has ended.
  var isOver: Bool { exchange.isTaken && decoder.withLock { $0.isDrained } }

  /// Waits until the final head or the end is here.
  func waitForHead() async throws {
    while let suspension = exchange.waitForHead() { try await wait(for: suspension) }
  }

  /// Returns the final head, after the wait for it.
  func head() throws -> ResponseHead {
    let head = try exchange.head()
    decoder.withLock { $0 = BodyDecoder(head, limits: exchange.request.limits) }
    return head
  }

  /// Returns the next slice of the body; nil when it is complete.
  func next() async throws -> [UInt8]? {
    if Task.isCancelled {
      cancel()
      throw CancellationError()
    }
    do {
      return try await pull()
    } catch {
      // The bytes behind a damage in the coding cannot be decoded.
      if !exchange.isOver { cancel() }
      throw error
    }
  }

  private func pull() async throws -> [UInt8]? {
    while true {
      switch try supply() {
      case .slice(let slice): return slice
      case .end: return nil
      case .nothing(let suspension): try await wait(for: suspension)
      }
    }
  }

  /// The part of the body that is here without waiting.
  private enum Supply {
    case slice([UInt8])
    case end
    /// Nothing yet: wait for this, then look again.
    case nothing(Suspension<Void>)
  }

  // Not inlined: the frame of the function that waits should not hold the decoder's work.
  @inline(never)
  private func supply() throws -> Supply {
    while true {
      if let slice = try decoder.withLock({ try $0.next() }) { return .slice(slice) }
      switch exchange.takeBytes() {
      case .bytes(let bytes, let pausesTransfer):
        decoder.withLock { $0.receive(bytes) }
        if pausesTransfer { transport.mailbox.push(.resume(exchange)) }
      case .complete:
        try decoder.withLock { try $0.finish() }
        return .end
      case .failed(let error): throw error
      case .nothing(let suspension): return .nothing(suspension)
      }
    }
  }

  private func wait(for suspension: Suspension<Void>) async throws {
    // The driver first stops the transfer and then wakes the waiter, so that the transfer is gone
    // when the cancellation is noticed.
    try await suspension.value { [self] in cancel() }
  }

  private func cancel() {
    transport.mailbox.push(.cancel(exchange))
  }
}
