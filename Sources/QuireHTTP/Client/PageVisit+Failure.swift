import HTTPTypes
import Logging
import QuireCore

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
    case .end: return nil
    case .emptyPage:
      var page = Page<Item>([])
      page.traffic = traffic
      return page
    case .failure(let failure): throw describe(failure, response.head)
    case .page: throw describe(status: response.head, body: body)
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

  /// The first 64 KiB of a body that explains a failure; whatever goes wrong with it is no news.
  private func beginning(
    of response: TransportResponse, traffic: inout Traffic
  ) async -> [UInt8] {
    var body: [UInt8] = []
    while body.count < 64 << 10, let slice = try? await response.body.next() { body += slice }
    traffic.bytes += body.count
    return body
  }

  /// A failure that the description recognised.
  func describe(_ failure: PageFailure, _ head: HTTPResponse) -> RetryMachine.Failure {
    let words = failure.message.map { " It says: \(redactor.snippet($0.utf8))" } ?? ""
    let wait =
      failure.delay ?? ThrottleSignal.wait(
        in: head.headerFields, now: listing.client.environment.now())
      ?? failure.standardDelay
    let underlying = HTTPFailure(head: head, replacement: failure.cursor)
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
  private func describe(status head: HTTPResponse, body: [UInt8]) -> RetryMachine.Failure {
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
    error.underlying = HTTPFailure(head: head)
    let isRetryable = isThrottling || RetryPolicy.retryableStatuses.contains(status.code)
    // A gateway says 503 for a server that may have acted; only a throttle acts on nothing.
    return RetryMachine.Failure(
      error, cure: isRetryable ? .retries : .none, isThrottling: isThrottling, retryAfter: wait,
      wasRefused: isThrottling)
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

  func logRetry(of error: PageError, after delay: Duration) {
    configuration.logger.notice(
      "retry",
      metadata: [
        "request": "\(redactor.describe(request.method, request.url))",
        "after": "\(delay)", "code": "\(error.code)", "error": "\(redactor.scrub(error.message))",
      ])
  }
}

extension HTTPResponse.Status {
  /// `404 Not Found`; HTTP/2 has no reasons.
  var words: String {
    reasonPhrase.isEmpty ? "\(code)" : "\(code) \(ServerText(reasonPhrase, limit: 80))"
  }
}
