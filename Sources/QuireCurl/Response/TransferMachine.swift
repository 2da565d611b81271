import QuireCore
import QuireHTTP
import QuirePagination

/// Decides what a transfer's events mean: whether it may go on, whether it is whole, whether it is
/// worth one more connection. It performs nothing and knows no clock.
///
/// libcurl's "OK" is not proof: the completeness rules of `ended` are what a page rests on.
struct TransferMachine {
  /// What libcurl is told after an event.
  enum Verdict: Equatable {
    case proceed
    /// Go on, but close the connection afterwards.
    case proceedThenClose
    case abort
  }

  /// What a transfer came to.
  enum Ending {
    case complete
    /// Once more, over a new connection or any that there is.
    case again(isFresh: Bool)
    case failed(PageError)
  }

  let host: String
  let timeouts: Timeouts
  let limits: TransferLimits

  private(set) var head: ResponseHead?
  /// Body bytes on the wire.
  private(set) var wireBytes = 0
  /// Requests on the wire, silent replays included.
  private(set) var wireRequests = 0
  /// Those of them that the end of an HTTP/2 connection gave back, while others were answered.
  private(set) var sentBack = 0
  /// Answers of the origin over HTTP/2 when the request last went out.
  private var answersBefore = 0

  private(set) var parser: ResponseHeadParser
  private var hasRetried = false
  private var mustStartAfresh = false
  private var failure: PageError?
  private var sent: ContinuousClock.Instant?
  private var stall: StallMeter?
  /// Since when the body has been waiting for its reader.
  private var pause: ContinuousClock.Instant?
  private let isHead: Bool
  /// Whether it does no harm to ask again.
  let isRepeatable: Bool

  /// Requests that may go out. libcurl would replay one as long as kept connections die under it, or
  /// streams are refused; once is enough for a connection that was dead, and is not allowed at all for
  /// what is not safe to repeat.
  private let maximumRequests: Int

  init(
    host: String, isHead: Bool, timeouts: Timeouts, limits: TransferLimits, replays: Int,
    isRepeatable: Bool, memory: HeadMemory? = nil
  ) {
    self.host = host
    self.isHead = isHead
    self.timeouts = timeouts
    self.limits = limits
    self.isRepeatable = isRepeatable
    maximumRequests = replays > 0 ? 2 : 1
    parser = ResponseHeadParser(host: host, isHead: isHead, limits: limits, memory: memory)
  }

  /// How often a request may be given back: as often as others are in front of it, where a server ends each
  /// connection after one answer.
  static let mostSentBack = 32

  /// Whether the request may go out, once more if it already has.
  var mayGoOut: Bool { wireRequests - sentBack < maximumRequests }

  /// Whether it may have been given back, and go out again for that.
  var mayBeSentBack: Bool {
    isRepeatable && sentBack < min(wireRequests, Self.mostSentBack) && parser.bytes == 0
  }

  /// Notes that the connection ended under the request, if the origin has answered others since: then it
  /// renews its connections (GOAWAY, REFUSED_STREAM), and is not away.
  private mutating func noteSentBack(_ answers: Int) -> Bool {
    guard mayBeSentBack, answers > answersBefore else { return false }
    sentBack += 1
    answersBefore = answers
    return true
  }

  /// The address must not be reached.
  mutating func refused(_ objection: String) {
    if failure == nil { failure = PageError.refusedAddress(of: host, objection) }
  }

  /// The connection stands and the request is about to go out, to an origin that has given so many
  /// answers over HTTP/2.
  mutating func requestSent(at now: ContinuousClock.Instant, answers: Int = 0) -> Verdict {
    _ = noteSentBack(answers)
    guard mayGoOut else { return abort(dropped) }
    wireRequests += 1
    answersBefore = answers
    if sent == nil { sent = now }
    return .proceed
  }

  /// The kept connection was closed, or bytes had come on it before the request, which must not become
  /// its answer: the request has not gone out.
  mutating func connectionIsSpent() -> Verdict {
    mustStartAfresh = true
    return .abort
  }

  /// A line of a head, or a trailer.
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

  /// Bytes of the body, content coding still on.
  mutating func body(_ count: Int, at now: ContinuousClock.Instant) -> Verdict {
    guard head != nil else {
      return abort(PageError(.protocolViolation, "\(host) sent a body without a head."))
    }
    wireBytes += count
    stall?.received(count, at: now)
    return wireBytes <= limits.wireBytes ? .proceed : abort(tooManyBytes())
  }

  /// The body waits for its reader: from now on time is the reader's.
  mutating func paused(at now: ContinuousClock.Instant) {
    if pause == nil { pause = now }
  }

  /// The body goes on.
  mutating func resumed(at now: ContinuousClock.Instant) {
    guard let begin = pause.take() else { return }
    sent = sent.map { $0 + (now - begin) }
    stall?.rested(for: now - begin)
  }

  /// The instant at which `expired` will have something to say.
  var deadline: ContinuousClock.Instant? {
    guard let sent, pause == nil else { return nil }
    let phase = stall.map { $0.good + timeouts.stall } ?? sent + timeouts.head
    return min(phase, sent + timeouts.total)
  }

  /// The error of a deadline that has passed.
  func expired(at now: ContinuousClock.Instant) -> PageError? {
    guard let sent, let deadline, now >= deadline else { return nil }
    let (what, limit) =
      if now >= sent + timeouts.total {
        ("The response of \(host) took longer than \(timeouts.total)", "total")
      } else if head == nil {
        ("\(host) sent no response head within \(timeouts.head)", "head")
      } else {
        ("The body of \(host) all but stopped for \(timeouts.stall)", "stall")
      }
    return counted(
      PageError(
        .timedOut, what + ", \(wireBytes) body bytes received.",
        remedies: [.raise(.init("Timeouts.\(limit)"))]))
  }

  /// libcurl is done with the transfer.
  mutating func ended(_ result: CurlResult, answers: Int = 0) -> Ending {
    if let failure { return .failed(counted(failure)) }
    if mustStartAfresh {
      mustStartAfresh = false
      return .again(isFresh: true)
    }
    if result.isBrokenConnection, noteSentBack(answers) { return .again(isFresh: false) }
    if result.isPoisonedConnection, parser.bytes == 0, !hasRetried {
      hasRetried = true
      // Once it is on the wire, the server may have acted on it.
      if mayGoOut { return .again(isFresh: true) }
    }
    if let failure = failure(result) ?? incompleteness() { return .failed(counted(failure)) }
    return .complete
  }

  /// The error with what the transfer took.
  private func counted(_ error: PageError) -> PageError {
    var error = error
    error.attempts = max(1, wireRequests - sentBack)
    error.traffic.requests = sentBack
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

/// Tells since when a body has been arriving too slowly: fewer than 64 bytes a second.
struct StallMeter {
  static let floor = 64

  /// The last instant until which the rate was good enough.
  private(set) var good: ContinuousClock.Instant
  private var bytes = 0

  init(at now: ContinuousClock.Instant) {
    good = now
  }

  /// Nothing could arrive for so long.
  mutating func rested(for duration: Duration) { good += duration }

  /// A burst of any size makes up for the time before it, never for the time after.
  mutating func received(_ count: Int, at now: ContinuousClock.Instant) {
    bytes += count
    let seconds = max(1, (now - good) / .seconds(1))
    if Double(bytes) >= Double(Self.floor) * seconds {
      good = now
      bytes = 0
    }
  }
}
