import HTTPTypes
import Logging
import QuireCore
import Synchronization

extension PageVisit {
  /// Judges an answer whose status is no success: an end, an empty page or a failure.
  func judge<Item: Sendable>(
    failed response: TransportResponse, hop: RedirectMachine.Hop,
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let body = await beginning(of: response, traffic: &traffic)
    let answer = answer(
      to: response, at: hop, document: document(of: body, response: response, decoder: decoder))
    switch try engine.screen(answer) {
    case .end:
      try engine.brokenPromise(by: answer).map { throw $0 }
      return nil
    case .emptyPage:
      try engine.brokenPromise(by: answer).map { throw $0 }
      var page = Page<Item>([])
      page.traffic = traffic
      return page
    case .failure(let failure):
      throw describe(failure, self.response(response.head, hop, body, decoder))
    case .page: throw describe(status: self.response(response.head, hop, body, decoder))
    }
  }

  /// What an error's body says: JSON, which explains errors beside pages of every format, or else the
  /// format of the pages.
  private func document<Item: Sendable>(
    of body: [UInt8], response: TransportResponse, decoder: any PageDecoder<Item>
  ) -> any PageDocument {
    if let document = try? JSONDocument(body) { return document }
    do {
      var session = try decoder.begin(context(of: response))
      try session.receive(body)
      return try session.finish()
    } catch {
      // The status says enough, and the error quotes the body.
      return EmptyDocument()
    }
  }

  /// How much is kept of a body that explains a failure.
  static let longestRefusal = 64 << 10

  /// How long such a body is waited for.
  static let refusalPatience = Duration.seconds(5)

  /// The first 64 KiB of a body that explains a failure, or what comes of them in time; whatever goes
  /// wrong with it is no news.
  func beginning(of response: TransportResponse, traffic: inout Traffic) async -> [UInt8] {
    let beginning = Beginning()
    let clock = listing.client.environment.refusalClock
    let body = response.body
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while beginning.count < Self.longestRefusal, let slice = try? await body.next() {
          beginning.add(slice)
        }
      }
      group.addTask { try? await clock.sleep(for: Self.refusalPatience) }
      await group.next()
      group.cancelAll()
    }
    let received = beginning.bytes
    traffic.bytes += received.count
    return Array(received.prefix(Self.longestRefusal))
  }

  /// A failure that the description recognised.
  func describe(
    _ failure: PageFailure, _ response: PageClient.Response
  ) -> RetryMachine.Failure {
    let head = response.head
    let words = failure.message.map { " It says: \(redactor.snippet($0.utf8))" } ?? ""
    let wait =
      failure.delay ?? ThrottleSignal.wait(
        in: head.headerFields, now: listing.client.environment.now())
      ?? failure.standardDelay
    let underlying = HTTPFailure(response: response, replacement: failure.cursor)
    func error(_ code: PageError.Code, _ sentence: String, _ advice: String = "") -> PageError {
      PageError(code, "\(sentence)\(words)\(advice)", underlying: underlying)
    }
    switch failure.kind {
    case .expired:
      return RetryMachine.Failure(
        error(
          .cursorExpired, "The server no longer knows the cursor.",
          " Start again, or go on by a key of your own."),
        cure: .none)
    case .throttled:
      return RetryMachine.Failure(
        error(.throttled, "The server asks to slow down."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true)
    case .notReady:
      return RetryMachine.Failure(
        error(.serverReportedFailure, "The page is not ready yet."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true, isPending: true)
    case .window:
      return RetryMachine.Failure(
        error(
          .resultWindowExceeded,
          "The server refuses to page any further, and more data exist.", " Narrow the query."),
        cure: .none)
    case .fatal, .empty:
      return RetryMachine.Failure(
        error(.serverReportedFailure, "The server reports a failure."), cure: .none)
    }
  }

  /// A status that nobody claimed.
  private func describe(status response: PageClient.Response) -> RetryMachine.Failure {
    let (head, body) = (response.head, response.body)
    let status = head.status
    let wait = ThrottleSignal.wait(in: head.headerFields, now: listing.client.environment.now())
    // GitHub and Google throttle with 403; only a signal tells that from a refusal.
    let isThrottling = status.code == 429 || status.code == 403 && wait != nil
    let code: PageError.Code =
      switch status.code {
      case 304: .unexpectedNotModified
      case 410 where position != .start: .cursorExpired
      default: isThrottling ? .throttled : .status
      }
    let snippet = body.isEmpty ? "" : " It says: \(redactor.snippet(body))"
    var error = PageError(code, "The server answered \(status.words).\(snippet)")
    if status.code == 401, let keeper = configuration.keeper, keeper.serves {
      error.message +=
        keeper.origin == listing.home
        ? " A credential that was just renewed is refused as well: check what the source gives."
        : " The client's credentials are for \(keeper.source.origin), and were not sent elsewhere."
    }
    error.underlying = HTTPFailure(response: response)
    let isRetryable = isThrottling || RetryPolicy.retryableStatuses.contains(status.code)
    // A gateway says 503 for a server that may have acted; only a throttle acts on nothing.
    return RetryMachine.Failure(
      error, cure: isRetryable ? .retries : .none, isThrottling: isThrottling, retryAfter: wait,
      wasRefused: isThrottling, isOutage: RetryPolicy.outageStatuses.contains(status.code))
  }

  /// The error as the caller gets to see it: with its request and what was spent, without secrets.
  func describe(_ error: PageError, after traffic: Traffic) -> PageError {
    var error = error
    error.traffic = traffic
    error.message = redactor.scrub(error.message)
    error.request = redactor.describe(request.method, request.url)
    error.redirectedTo = trail.url.map { redactor.describe($0) }
    return error
  }

  /// Says that a request is made again; `remaining` is how long an outage is still waited out.
  func logRetry(of error: PageError, after delay: Duration, remaining: Duration? = nil) {
    var metadata: Logger.Metadata = [
      "request": "\(redactor.describe(request.method, request.url))",
      "after": .stringConvertible(delay), "code": "\(error.code)",
      "error": "\(redactor.scrub(error.message))",
    ]
    metadata["remaining"] = remaining.map { .stringConvertible($0) }
    configuration.logger.notice("retry", metadata: metadata)
  }
}

extension HTTPResponse.Status {
  /// `404 Not Found`; HTTP/2 has no reasons.
  var words: String {
    reasonPhrase.isEmpty ? "\(code)" : "\(code) \(ServerText(reasonPhrase, limit: 80))"
  }
}

/// What has come of a body, for whoever reads it and whoever ends that.
private final class Beginning: Sendable {
  private let received = Mutex<[UInt8]>([])

  var bytes: [UInt8] { received.withLock { $0 } }
  var count: Int { received.withLock { $0.count } }

  func add(_ slice: [UInt8]) { received.withLock { $0 += slice } }
}
