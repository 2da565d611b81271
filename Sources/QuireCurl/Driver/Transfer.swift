import HTTPTypes
import QuirePagination
import CCurl
import QuireCore
import QuireHTTP

/// A transfer in flight: applies the machine's decisions to its handle, and collects what arrives
/// until the end of the round.
///
/// Only the driver's thread uses it.
final class Transfer {
  let exchange: WireExchange
  let handle: EasyHandle
  // Unchecked: the machine calls no other code, and every line of every head asks it.
  @exclusivity(unchecked) var machine: TransferMachine
  /// Whether something happened since the last delivery.
  @exclusivity(unchecked) private(set) var isTouched = false

  private let clock: RoundClock
  private unowned let driver: CurlDriver
  private let started: ContinuousClock.Instant
  private var headArrived: ContinuousClock.Instant?
  private var isHeadDelivered = false
  private var bytes: [UInt8] = []
  /// The declared bytes of the body that have not come yet; 0 if the head declares no length.
  private var announced = 0

  /// Whether libcurl holds the body back until the reader has taken the bytes that are here.
  private var isPaused = false

  /// How bytes that libcurl has read are treated.
  enum Reception {
    case taken
    /// libcurl keeps them, stops reading, and passes them again once it is resumed.
    case later
    case refused
  }

  /// The unread bytes at which the server has to wait: fewer for lower limits on the body, because
  /// thousands of such transfers may run.
  let readAhead: Int
  /// How long a head waits for its body: one that is read ahead as a whole is delivered with its
  /// head, and neither wakes its reader again nor is copied once more.
  static let patience = Duration.milliseconds(1)

  init(
    _ exchange: WireExchange, handle: EasyHandle, clock: RoundClock, driver: CurlDriver
  ) {
    self.exchange = exchange
    self.handle = handle
    self.clock = clock
    self.driver = driver
    started = clock.now
    let request = exchange.request
    readAhead = min(1 << 20, max(64 << 10, request.limits.decodedBytes / 512))
    machine = TransferMachine(
      host: request.host, isHead: request.method == "HEAD", timeouts: request.timeouts,
      limits: request.limits, replays: request.replays, isRepeatable: request.isRepeatable,
      memory: handle.headMemory, proxy: exchange.route.proxy?.url)
  }

  // MARK: Callbacks

  /// Whether a connection may be made for the request. One for a replay that is not allowed would
  /// be made, and waited for, in vain.
  var mayConnect: Bool {
    machine.maySend || machine.mayBeSentBack && driver.answers(to: exchange) > 0
  }

  /// Whether a connection may be made to an address; nil stands for neither IPv4 nor IPv6.
  func mayConnect(to address: IPAddress?) -> Bool {
    // The caller chose the proxy, so its address is not checked.
    if exchange.route.proxy != nil { return true }
    if let address {
      let port = exchange.request.port
      guard let objection = exchange.request.addresses.objection(to: address, port: port) else {
        return true
      }
      machine.refused(objection)
    } else {
      machine.refused("no address")
    }
    return false
  }

  func requestIsAboutToGo(along route: SocketTable.Route) -> Bool {
    touch()
    // A kept connection of another walk may lead to an address that this request must not reach.
    guard mayConnect(to: IPAddress(route.remoteAddress)) else { return false }
    handle.connected(along: route)
    guard !handle.connectionIsSpent else { return perform(machine.connectionIsSpent()) }
    let before = machine.returnedRequests
    let verdict = machine.requestSent(at: clock.now, answers: driver.answers(to: exchange))
    if machine.returnedRequests > before { driver.sentBack(exchange) }
    return perform(verdict)
  }

  func receivedHeadLine(_ line: UnsafeRawBufferPointer) -> Bool {
    touch()
    let verdict = machine.headLine(line, at: clock.now)
    // An empty line ends a head.
    if line.count <= 2, headArrived == nil, let head = machine.head {
      headArrived = clock.now
      handle.headArrived(isHTTP2: head.isHTTP2)
      // A redirect may lead to the same host again, which then needs the connection.
      if !exchange.request.keepsConnection,
        ![301, 302, 303, 307, 308].contains(head.response.status.code)
      {
        handle.set(CURLOPT_FORBID_REUSE, 1)
      }
      if head.isHTTP2 { driver.answered(exchange) }
      announced = head.contentLength ?? 0
    }
    return perform(verdict)
  }

  func received(_ slice: UnsafeRawBufferPointer) -> Reception {
    touch()
    if mustWait {
      isPaused = true
      machine.paused(at: clock.now)
      return .later
    }
    let verdict = machine.body(slice.count, at: clock.now)
    if verdict != .abort {
      // Room for the whole body, because a decoder appends the rest to what comes first, and for a
      // few bytes that it may need behind the page. A declared length may be false.
      if bytes.isEmpty, announced > 0 {
        bytes.reserveCapacity(min(announced, 16 * readAhead) + 16)
      }
      announced -= min(announced, slice.count)
      bytes.append(contentsOf: slice)
    }
    return perform(verdict) ? .taken : .refused
  }

  /// Whether the reader has enough for now. On HTTP/2 it never has: libcurl 7.88.1 announces a
  /// window of 32 MiB to the server, and would have to keep as much itself.
  private var mustWait: Bool {
    guard bytes.count + exchange.unread >= readAhead else { return false }
    return machine.head?.isHTTP2 == false
  }

  /// Goes on with a paused transfer, because the reader has taken everything.
  func resume() -> CURLcode {
    guard isPaused else { return CURLE_OK }
    isPaused = false
    machine.resumed(at: clock.now)
    touch()
    // libcurl calls back at once with the bytes that it kept.
    return curl_easy_pause(handle.raw, CURLPAUSE_CONT)
  }

  /// Whether the transfer is paused and its reader has taken all bytes. A reader that has not
  /// resumes the transfer when it takes them.
  var isPausedWithoutUnreadBytes: Bool { isPaused && !exchange.requestResume() }

  /// Has what arrived delivered at the end of this round; called there, of the next one.
  func touch() {
    guard !isTouched else { return }
    isTouched = true
    driver.touched(self)
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

  /// Delivers what arrived in this round; returns false if it is better to wait a moment for the
  /// rest.
  func deliver() -> Bool {
    isTouched = false
    guard let headArrived else { return true }
    if !isHeadDelivered {
      guard bytes.count >= readAhead || clock.now - headArrived >= Self.patience else {
        return false
      }
    } else if bytes.isEmpty, !isPaused {
      return true
    }
    deliver(end: nil)
    return true
  }

  /// Delivers everything that arrived, and the end if there is one.
  func deliver(end: Result<Void, any Error>?) {
    let slice = bytes
    bytes = []
    let head = isHeadDelivered ? nil : machine.head
    isHeadDelivered = machine.head != nil
    var metrics = TransferMetrics(
      wireBytes: machine.wireBytes, wireRequests: machine.wireRequests,
      reusedConnection: handle.reusedConnection,
      timeToHead: headArrived.map { $0 - started } ?? .zero, duration: clock.now - started)
    metrics.sentBack = machine.returnedRequests
    exchange.deliver(head: head, bytes: slice, end: end, metrics: metrics)
  }
}
