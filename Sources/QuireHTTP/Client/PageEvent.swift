import Logging
public import QuireCore
public import QuirePagination

/// An event while pages are read, as `PageClient.Configuration.onEvent` gets it and the logger logs
/// it.
///
/// ```swift
/// configuration.onEvent = { event in
///   if case .retry(let retry) = event { metrics.count(retry.code) }
/// }
/// ```
/// Secrets are redacted in all texts. Later versions may add cases, so switch with a `default`.
public enum PageEvent: Sendable {
  /// A request is sent, such as `GET https://host/path?page=2`. Each redirect and each retry is one
  /// more. Logged as `debug`.
  case request(String)
  /// The transport has sent the last request again this many times. Not logged.
  case replayed(Int)
  /// The head of a response has arrived, with this status. Logged as `debug`.
  case response(status: Int)
  /// Bytes of a body have arrived, counted after content decoding. Not logged.
  case received(bytes: Int)
  /// The server redirects to this URL, which is requested next. Logged as `debug`.
  case redirect(to: String)
  /// A request has failed and is sent again. Logged as `notice`.
  case retry(Retry)
  /// The next request waits this long, because the description or the server asks for it. Logged as
  /// `info`.
  case pause(Duration)
  /// The server refused the client's credential for this origin, and the client renewed it. Logged
  /// as `notice`.
  case credentialRenewed(origin: String)
  /// The server had expired the cursor, and the walk continues as the description says. Logged as
  /// `warning`.
  case recovery(PageRecovery, after: PageError.Code)
  /// A walk's resources at the server could not be closed; the message says why. Logged as
  /// `notice`.
  case closeFailed(String)
  /// The client has changed something in the request, such as a page size above the server's
  /// maximum. Logged as `warning`.
  case adjusted(String)
  /// A request has waited for something that the client's walks share: limits, connections, a host
  /// in an outage. Logged as `debug`.
  case waited(Wait)

  /// The wait of a request.
  public struct Wait: Sendable {
    /// The reason of a wait.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
      /// A limit of the server.
      case limit
      /// The client's own rate, or the interval of the description.
      case rate
      /// A connection to the host.
      case connections
      /// `RequestBudget.requestsTotal`.
      case total
      /// `RequestBudget.bytes`.
      case bytes
      /// An outage of the host, which another request probes.
      case outage
    }

    /// The reason of the wait.
    public let reason: Reason
    /// How long the request waited.
    public let duration: Duration
    /// The walks, by `ObservedWalk.number`, that the request waited for: those with requests to the
    /// host in flight, perhaps including its own, or the one that probes the host. Empty if the
    /// client has no observer.
    public let behind: [Int]
  }

  /// A failed request that is sent again.
  public struct Retry: Sendable {
    /// The request, such as `GET https://host/path?page=2`.
    public let request: String
    /// The delay before the request; zero if it first waits for another request's probe of the
    /// host.
    public let delay: Duration
    /// The remaining patience with an outage; nil if the failure was not an outage.
    public let remaining: Duration?
    /// The code of the failure.
    public let code: PageError.Code
    /// The message of the failure, as the error would have it.
    public let message: String
  }

  /// The event as it is logged.
  fileprivate var line: (Logger.Message, Logger.Metadata) {
    switch self {
    case .request(let request): ("request", ["request": "\(request)"])
    case .response(let status): ("response", ["status": "\(status)"])
    case .redirect(let url): ("redirect", ["to": "\(url)"])
    case .replayed(let count): ("replayed", ["count": "\(count)"])
    case .received(let bytes): ("received", ["bytes": "\(bytes)"])
    case .pause(let wait): ("pause", ["after": .stringConvertible(wait)])
    case .credentialRenewed(let origin): ("credential renewed", ["origin": "\(origin)"])
    case .closeFailed(let message): ("close failed", ["error": "\(message)"])
    case .adjusted(let message): ("\(message)", [:])
    case .waited(let wait):
      ("waited", ["for": "\(wait.reason.rawValue)", "time": .stringConvertible(wait.duration)])
    case .recovery(let recovery, let code):
      ("cursor lost", ["recovery": "\(recovery)", "code": "\(code)"])
    case .retry(let retry):
      (
        "retry",
        Logger.Metadata(
          uniqueKeysWithValues: [
            ("request", "\(retry.request)"), ("after", .stringConvertible(retry.delay)),
            ("code", "\(retry.code)"), ("error", "\(retry.message)"),
          ] + (retry.remaining.map { [("remaining", .stringConvertible($0))] } ?? []))
      )
    }
  }
}

extension PageClient.Shared {
  /// Passes an event to the observers, and to the logger unless `level` is nil. The event is only
  /// created if one of them wants it.
  func emit(_ level: Logger.Level?, _ event: @autoclosure () -> PageEvent) {
    let logged = level.flatMap { $0 >= configuration.logger.logLevel ? $0 : nil }
    guard configuration.onEvent != nil || logged != nil || configuration.observer != nil else {
      return
    }
    let event = event()
    configuration.observer?.happened(event, in: ObservedPage.current)
    configuration.onEvent?(event)
    if let logged {
      let (message, metadata) = event.line
      configuration.logger.log(level: logged, message, metadata: metadata)
    }
  }
}
