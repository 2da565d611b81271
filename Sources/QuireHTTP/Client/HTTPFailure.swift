import HTTPTypes
public import QuireCore
import QuirePagination

/// An answer that is not a page, as the `underlying` error of a `PageError`.
public struct HTTPFailure: Error, CustomStringConvertible {
  /// The answer, with the beginning of its body.
  public let response: PageClient.Response
  /// A cursor with which the server replaces an expired one.
  var replacement: JSONValue?

  /// The status, such as `404 Not Found`. Header fields are left out because they may hold secrets.
  public var description: String { response.head.status.words }
}

extension PageError {
  /// The answer that was not a page, with the first 64 KiB of its body; nil for failures of other
  /// kinds.
  public var response: PageClient.Response? { (underlying as? HTTPFailure)?.response }

  /// Returns the error for a status without a body that the description does not explain.
  static func noPage(_ response: PageClient.Response) -> PageError {
    let status = response.head.status
    return PageError(
      .status,
      "The server answered \(status.words), which is neither a page nor an end by the description.",
      remedies: [
        Remedy(
          .end, ["status:\(status.code)"], condition: "where this API ends its listings so"),
        Remedy(
          .failure, ["\(status.code)"], condition: "where it means a page without items"),
      ], underlying: HTTPFailure(response: response))
  }
}

extension RetryMachine.Failure {
  /// Creates the failure of an attempt that threw `error`; nil if no other attempt should follow.
  init?(_ error: any Error) {
    switch error {
    case let failure as RetryMachine.Failure: self = failure
    case let error as PageError: self.init(error)
    default: return nil
    }
  }

  private init(_ error: PageError) {
    // A transport may throttle requests itself.
    let isThrottling = error.code == .throttled
    self.init(
      error: error, cure: isThrottling ? .retries : error.code.cure, isThrottling: isThrottling,
      wasRefused: error.code == .connectFailed, isOutage: error.code == .connectFailed)
  }

  /// Creates the failure of a request whose answer did not begin.
  init(unanswered error: PageError) {
    self.init(error)
    isOutage = [.connectFailed, .timedOut, .truncated].contains(error.code)
  }

  /// Creates a failure that the description recognized.
  init(
    _ failure: PageFailure, _ response: PageClient.Response, _ listing: Listing,
    _ redactor: Redactor
  ) {
    let words = failure.message.map { " It says: \(redactor.snippet($0.utf8))" } ?? ""
    let wait =
      failure.delay
      ?? ThrottleSignal.wait(
        in: response.headerFields, now: listing.client.environment.now())
      ?? failure.standardDelay
    let underlying = HTTPFailure(response: response, replacement: failure.cursor)
    let own = failure.advice.map { " \($0)" } ?? ""
    func error(_ code: PageError.Code, _ sentence: String, _ advice: String = "") -> PageError {
      let advice = advice + own
      // The server's words may be no sentence.
      let isOpen = words.last.map { !".!?…\"".contains($0) } ?? false
      return PageError(
        code, "\(sentence)\(words)\(isOpen && !advice.isEmpty ? "." : "")\(advice)",
        underlying: underlying)
    }
    switch failure.kind {
    case .expired:
      self.init(
        error: error(
          .cursorExpired, "The server no longer knows the cursor.",
          " Start again, or go on by a key of your own."),
        cure: .none)
    case .throttled:
      self.init(
        error: error(.throttled, "The server asks to slow down."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true)
    case .notReady:
      self.init(
        error: error(.serverReportedFailure, "The page is not ready yet."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true, isPending: true)
    case .window:
      self.init(
        error: error(
          .resultWindowExceeded,
          "The server refuses to page any further, and more data exist.", " Narrow the query."),
        cure: .none)
    case .transient:
      self.init(
        error: error(.serverReportedFailure, "The server reports a failure of the moment."),
        cure: .retries, retryAfter: wait)
    case .fatal, .empty:
      self.init(
        error: error(.serverReportedFailure, "The server reports a failure."), cure: .none)
    }
  }

  /// Creates the failure of a status that the description does not explain. `isFirst` says that no
  /// cursor was sent.
  init(
    status response: PageClient.Response, isFirst: Bool, _ listing: Listing, _ redactor: Redactor
  ) {
    let status = response.status
    let wait = ThrottleSignal.wait(
      in: response.headerFields, now: listing.client.environment.now())
    let isThrottling =
      status.code == 429 || PassingStatus.throttlingWithWait.contains(status.code) && wait != nil
    let code: PageError.Code =
      switch status.code {
      case 304: .unexpectedNotModified
      case 410 where !isFirst: .cursorExpired
      default: isThrottling ? .throttled : .status
      }
    let said = response.body.isEmpty ? response.headerFields.challenge : response.body
    let snippet = said.isEmpty ? "" : " It says: \(redactor.snippet(said))"
    var error = PageError(code, "The server answered \(status.words).\(snippet)")
    if status.code == 407 {
      error.message +=
        " It is the proxy that answers so: its address needs the user and password that it asks for."
    }
    if status.code == 401, let keeper = listing.client.shared.configuration.keeper, keeper.serves {
      error.message +=
        keeper.origin == listing.home
        ? " A credential that was just renewed is refused as well: check what the source gives."
        : " The client's credentials are for \(keeper.source.origin), and were not sent elsewhere."
    }
    let fields = listing.engine.first.headerFields
    if status.code == 304, fields[.ifNoneMatch] != nil || fields[.ifModifiedSince] != nil {
      error.message += " The request asks for that: leave If-None-Match and If-Modified-Since out."
    }
    // A page that is counted may not exist because the one before it was the last.
    let counts = listing.engine.routes.contains { $0.next.isCounter }
    if counts, !isFirst, [404, 416].contains(status.code) {
      error.remedies.append(
        Remedy(.end, ["status:\(status.code)"], condition: "if that is how the listing ends"))
    }
    error.underlying = HTTPFailure(response: response)
    let isRetryable = isThrottling || PassingStatus.all.contains(status.code)
    // A gateway may answer 503 for a server that has acted. Only a throttled request was certainly
    // refused.
    self.init(
      error: error, cure: isRetryable ? .retries : .none, isThrottling: isThrottling,
      retryAfter: wait,
      wasRefused: isThrottling, isOutage: PassingStatus.outage.contains(status.code))
  }
}

extension HTTPFields {
  /// The reason in the challenge of a refusal without a body (RFC 6750, §3).
  fileprivate var challenge: [UInt8] {
    guard let challenge = self[.wwwAuthenticate] else { return [] }
    for name in ["error_description=", "error="] {
      guard let place = challenge.firstRange(of: name) else { continue }
      let value = challenge[place.upperBound...]
      let isQuoted = value.hasPrefix("\"")
      let text = value.dropFirst(isQuoted ? 1 : 0).prefix { isQuoted ? $0 != "\"" : $0 != "," }
      if !text.isEmpty { return Array(text.utf8) }
    }
    return []
  }
}

extension HTTPResponse.Status {
  /// The code and the reason, such as `404 Not Found`; HTTP/2 has no reasons.
  var words: String {
    reasonPhrase.isEmpty ? "\(code)" : "\(code) \(ServerText(reasonPhrase, limit: 80))"
  }
}
