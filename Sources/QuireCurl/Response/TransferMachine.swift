import QuireCore
import QuireHTTP
import QuirePagination

/// Decides what a transfer's events mean: whether it may go on, whether it is complete, whether it
/// is worth one more connection. It performs nothing and knows no clock.
///
/// libcurl's "OK" is no proof: pages rely on the completeness rules of `ended(_:answers:)`.
struct TransferMachine {
  /// The answer that libcurl gets after an event.
  enum Verdict: Equatable {
    case proceed
    /// Go on, but close the connection afterwards.
    case proceedThenClose
    case abort
  }

  /// The result of a transfer.
  enum Ending {
    case complete
    /// Try once more, over a new connection or over any.
    case again(isFresh: Bool)
    case failed(PageError)
  }

  let host: String
  /// The proxy that connections go to, such as `http://proxy:3128`; nil if there is none.
  let proxy: String?
  let timeouts: Timeouts
  let limits: TransferLimits

  private(set) var head: ResponseHead?
  /// The body bytes on the wire.
  private(set) var wireBytes = 0
  /// The requests on the wire, silent replays included.
  private(set) var wireRequests = 0
  /// The number of them that the end of an HTTP/2 connection gave back, while others were answered.
  private(set) var returnedRequests = 0
  /// The answers of the origin over HTTP/2 when the request was last sent.
  private var answersBefore = 0

  private(set) var parser: ResponseHeadParser
  private var hasRetried = false
  private var mustStartAfresh = false
  /// Whether no socket could be opened for a connection.
  private(set) var lacksDescriptors = false
  private var failure: PageError?
  private var sent: ContinuousClock.Instant?
  private var stall: StallMeter?
  /// The time since which the body waits for its reader.
  private var pause: ContinuousClock.Instant?
  private let isHead: Bool
  /// Whether it does no harm to repeat the request.
  let isRepeatable: Bool

  /// The most requests to send. libcurl would replay a request as long as kept connections die
  /// under it, or streams are refused. Once is enough for a connection that was dead, and not
  /// allowed at all for a request that is not safe to repeat.
  private let maximumRequests: Int

  init(
    host: String, isHead: Bool, timeouts: Timeouts, limits: TransferLimits, replays: Int,
    isRepeatable: Bool, memory: HeadMemory? = nil, proxy: String? = nil
  ) {
    self.host = host
    self.proxy = proxy
    self.isHead = isHead
    self.timeouts = timeouts
    self.limits = limits
    self.isRepeatable = isRepeatable
    maximumRequests = replays > 0 ? 2 : 1
    parser = ResponseHeadParser(host: host, isHead: isHead, limits: limits, memory: memory)
  }

  /// The most times that a request may be given back: a server that ends each connection after one
  /// answer gives it back once for each request in front of it.
  static let mostSentBack = 32

  /// Whether the request may be sent, or sent once more.
  var maySend: Bool { wireRequests - returnedRequests < maximumRequests }

  /// Whether the request may have been given back, and may be sent again for that reason.
  var mayBeSentBack: Bool {
    isRepeatable && returnedRequests < min(wireRequests, Self.mostSentBack) && parser.bytes == 0
  }

  /// Notes that the connection ended under the request, and returns whether that gave it back: the
  /// origin has answered other requests since, so it renews its connections (GOAWAY,
  /// REFUSED_STREAM) and is not down.
  private mutating func noteSentBack(_ answers: Int) -> Bool {
    guard mayBeSentBack, answers > answersBefore else { return false }
    returnedRequests += 1
    answersBefore = answers
    return true
  }

  /// Notes that the address must not be reached.
  mutating func refused(_ objection: String) {
    if failure == nil { failure = PageError.refusedAddress(of: host, objection) }
  }

  /// Notes that the process has too few descriptors for a connection.
  mutating func lackedDescriptors() { lacksDescriptors = true }

  /// Notes that the connection stands and the request is about to be sent, to an origin that has
  /// given `answers` answers over HTTP/2.
  mutating func requestSent(at now: ContinuousClock.Instant, answers: Int = 0) -> Verdict {
    _ = noteSentBack(answers)
    guard maySend else { return abort(dropped) }
    wireRequests += 1
    answersBefore = answers
    if sent == nil { sent = now }
    return .proceed
  }

  /// Notes that the kept connection was closed, or held bytes before the request was sent, which
  /// must not become its answer.
  mutating func connectionIsSpent() -> Verdict {
    mustStartAfresh = true
    return .abort
  }

  /// Takes a line of a head, or a trailer.
  mutating func headLine(
    _ line: UnsafeRawBufferPointer, at now: ContinuousClock.Instant
  ) -> Verdict {
    do throws(PageError) {
      guard case .final(let head) = try parser.line(line) else { return .proceed }
      if head.canHaveBody, let length = head.contentLength, length > limits.wireBytes {
        throw tooManyBytes()
      }
      self.head = head
      stall = StallMeter(at: now)
      return head.hasConflictingFraming ? .proceedThenClose : .proceed
    } catch {
      return abort(error)
    }
  }

  /// Counts bytes of the body, before the content coding is removed.
  mutating func body(_ count: Int, at now: ContinuousClock.Instant) -> Verdict {
    guard head != nil else {
      return abort(PageError(.protocolViolation, "\(host) sent a body without a head."))
    }
    wireBytes += count
    stall?.received(count, at: now)
    return wireBytes <= limits.wireBytes ? .proceed : abort(tooManyBytes())
  }

  /// Notes that the body waits for its reader: from now on no timeout runs.
  mutating func paused(at now: ContinuousClock.Instant) {
    if pause == nil { pause = now }
  }

  /// Notes that the body is received again.
  mutating func resumed(at now: ContinuousClock.Instant) {
    guard let begin = pause.take() else { return }
    sent = sent.map { $0 + (now - begin) }
    stall?.rested(for: now - begin)
  }

  /// The time at which `expired(at:)` will return an error; nil while no timeout runs.
  var deadline: ContinuousClock.Instant? {
    guard let sent, pause == nil else { return nil }
    let phase = stall.map { $0.good + timeouts.stall } ?? sent + timeouts.head
    return min(phase, sent + timeouts.total)
  }

  /// Returns the error of a deadline that has passed; nil if none has.
  func expired(at now: ContinuousClock.Instant) -> PageError? {
    guard let sent, let deadline, now >= deadline else { return nil }
    let (what, limit) =
      if now >= sent + timeouts.total {
        ("The response of \(host) took longer than \(timeouts.total.words)", "total")
      } else if head == nil {
        ("\(host) sent no response head within \(timeouts.head.words)", "head")
      } else {
        ("The body of \(host) all but stopped for \(timeouts.stall.words)", "stall")
      }
    return counted(
      PageError(
        .timedOut, what + ", \(wireBytes) body bytes received.",
        remedies: [.raise(.init("Timeouts.\(limit)"))]))
  }

  /// Handles the end of the transfer in libcurl.
  mutating func ended(_ result: CurlResult, answers: Int = 0) -> Ending {
    if let failure { return .failed(counted(failure)) }
    if mustStartAfresh {
      mustStartAfresh = false
      return .again(isFresh: true)
    }
    if result.isBrokenConnection, noteSentBack(answers) { return .again(isFresh: false) }
    if result.isBrokenHTTP2Connection, parser.bytes == 0, !hasRetried {
      hasRetried = true
      // Once the request is on the wire, the server may have acted on it.
      if maySend { return .again(isFresh: true) }
    }
    if let failure = failure(result) ?? incompleteness() { return .failed(counted(failure)) }
    return .complete
  }

  /// Returns the error with the transfer's attempts and requests.
  private func counted(_ error: PageError) -> PageError {
    var error = error
    error.attempts = max(1, wireRequests - returnedRequests)
    error.traffic.requests = returnedRequests
    return error
  }

  private func incompleteness() -> PageError? {
    guard let head else {
      return PageError(
        .truncated, "\(host) closed the connection inside the response head; ask again.")
    }
    guard head.canHaveBody, let length = head.contentLength, length != wireBytes else {
      return nil
    }
    return PageError(
      .truncated, "\(host) sent \(wireBytes) of \(length) declared body bytes; ask again.")
  }

  private func tooManyBytes() -> PageError {
    PageError(
      .limitExceeded,
      "The body of \(host) is longer than \(limits.wireBytes) bytes on the wire. Ask for smaller "
        + "pages.", remedies: [.raise(.init("TransferLimits.wireBytes"))])
  }

  private mutating func abort(_ failure: PageError) -> Verdict {
    if self.failure == nil { self.failure = failure }
    return .abort
  }
}

/// Measures since when a body has been arriving too slowly: at less than 64 bytes a second.
struct StallMeter {
  static let floor = 64

  /// The last time until which the rate was good enough.
  private(set) var good: ContinuousClock.Instant
  private var bytes = 0

  init(at now: ContinuousClock.Instant) {
    good = now
  }

  /// Leaves out a time in which no bytes could arrive.
  mutating func rested(for duration: Duration) { good += duration }

  /// Counts received bytes. A burst of any size makes up for the time before it, never for the time
  /// after.
  mutating func received(_ count: Int, at now: ContinuousClock.Instant) {
    bytes += count
    let seconds = max(1, (now - good) / .seconds(1))
    if Double(bytes) >= Double(Self.floor) * seconds {
      good = now
      bytes = 0
    }
  }
}
