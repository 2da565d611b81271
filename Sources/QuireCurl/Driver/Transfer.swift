import CCurl
import QuireCore
import QuireHTTP

/// A transfer in flight: what the machine decides is done to its handle, and what arrived waits for
/// the end of the round.
///
/// Only the driver's thread uses it.
final class Transfer {
  let exchange: Exchange
  let handle: EasyHandle
  var machine: TransferMachine
  /// Whether something happened since the last delivery.
  private(set) var isTouched = false

  private let clock: RoundClock
  private let onTouch: (Transfer) -> Void
  private let started: ContinuousClock.Instant
  private var headArrived: ContinuousClock.Instant?
  private var isHeadDelivered = false
  private var bytes: [UInt8] = []

  /// A body shorter than this is worth a short wait, so that it arrives with its head.
  static let smallBody = 64 << 10
  /// How long a head waits for its small body.
  static let patience = Duration.milliseconds(1)

  init(
    _ exchange: Exchange, handle: EasyHandle, clock: RoundClock,
    onTouch: @escaping (Transfer) -> Void
  ) {
    self.exchange = exchange
    self.handle = handle
    self.clock = clock
    self.onTouch = onTouch
    started = clock.now
    let request = exchange.request
    machine = TransferMachine(
      host: request.host, isHead: request.method == "HEAD", timeouts: request.timeouts,
      limits: request.limits)
  }

  // MARK: Callbacks

  func requestIsAboutToGo(along route: SocketTable.Route) -> Bool {
    touch()
    handle.connected(along: route)
    guard !handle.connectionHasSpoken else { return perform(machine.connectionHasSpoken()) }
    return perform(machine.requestSent(at: clock.now))
  }

  func receivedHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
    touch()
    let verdict = machine.headLine(line, at: clock.now)
    if headArrived == nil, let head = machine.head {
      headArrived = clock.now
      handle.headArrived(isHTTP2: head.isHTTP2)
      if let length = head.contentLength { bytes.reserveCapacity(min(length, 1 << 20)) }
    }
    return perform(verdict)
  }

  func received(_ slice: UnsafeRawBufferPointer) -> Bool {
    touch()
    let verdict = machine.body(slice.count, at: clock.now)
    if verdict != .abort { bytes.append(contentsOf: slice) }
    return perform(verdict)
  }

  /// Looks again in the next round.
  func hold() { touch() }

  private func touch() {
    guard !isTouched else { return }
    isTouched = true
    onTouch(self)
  }

  private func perform(_ verdict: TransferMachine.Verdict) -> Bool {
    switch verdict {
    case .proceed: return true
    case .proceedThenClose:
      handle.set(CURLOPT_FORBID_REUSE, 1)
      return true
    case .abort: return false
    }
  }

  // MARK: Delivery

  /// Hands over what arrived in this round; false when it is better to wait a moment for the rest.
  func deliver() -> Bool {
    isTouched = false
    guard let headArrived else { return true }
    if !isHeadDelivered {
      guard bytes.count >= Self.smallBody || clock.now - headArrived >= Self.patience else {
        return false
      }
    } else if bytes.isEmpty {
      return true
    }
    hand(end: nil)
    return true
  }

  /// Hands over everything and the end.
  func finish(_ end: Result<Void, any Error>) {
    hand(end: end)
  }

  private func hand(end: Result<Void, any Error>?) {
    let slice = bytes
    bytes = []
    let head = isHeadDelivered ? nil : machine.head
    isHeadDelivered = machine.head != nil
    let metrics = TransferMetrics(
      wireBytes: machine.wireBytes, wireRequests: machine.wireRequests,
      reusedConnection: handle.reusedConnection,
      timeToHead: headArrived.map { $0 - started } ?? .zero, duration: clock.now - started)
    exchange.deliver(head: head, bytes: slice, end: end, metrics: metrics)
  }
}
