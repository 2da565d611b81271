import Logging
public import QuireCore
public import QuirePagination

/// Something that happens between two pages: what `PageClient.Configuration.onEvent` gets, and what is
/// logged.
///
/// ```swift
/// configuration.onEvent = { event in
///   if case .retry(let retry) = event { metrics.count(retry.code) }
/// }
/// ```
/// Secrets are redacted in all texts. Later versions may add cases: switch with a `default`.
public enum PageEvent: Sendable {
  /// A request is sent, such as `GET https://host/path?page=2`; each redirect and each retry is one
  /// more. Logged as `debug`.
  case request(String)
  /// The transport has sent the last request again by itself, so many times. Not logged.
  case replayed(Int)
  /// The head of a response has arrived, with this status. Logged as `debug`.
  case response(status: Int)
  /// Bytes of a body have arrived, content coding removed. Not logged.
  case received(bytes: Int)
  /// The server redirects to this URL, which is requested next. Logged as `debug`.
  case redirect(to: String)
  /// A request has failed and is made again. Logged as `notice`.
  case retry(Retry)
  /// The next request waits this long, because the description or the server asks for it. Logged as
  /// `info`.
  case pause(Duration)
  /// The server refused the client's credential for this origin, and has a new one. Logged as `notice`.
  case credentialRenewed(origin: String)
  /// The server had forgotten the cursor, and the walk goes on as the description says. Logged as
  /// `warning`.
  case recovery(PageRecovery, after: PageError.Code)
  /// What a walk held at the server could not be closed; the message says why. Logged as `notice`.
  case closeFailed(String)
  /// The client has changed something in the request, such as a page size above the server's maximum.
  /// Logged as `warning`.
  case adjusted(String)
  /// A request has waited for what the walks of a client share: limits, connections, a host that is away.
  /// Logged as `debug`.
  case waited(Wait)

  /// A request that has waited for others.
  public struct Wait: Sendable {
    /// What a request waits for.
    public enum Reason: String, Hashable, Sendable, CaseIterable {
      /// For more of what the server allows.
      case limit
      /// For a rate of one's own, or the interval of the description.
      case rate
      /// For a connection to the host.
      case connections
      /// For `RequestBudget.requestsTotal`.
      case total
      /// For `RequestBudget.bytes`.
      case bytes
      /// For a host that is away, and for what the request finds that probes it.
      case outage
    }

    /// What it waited for.
    public let reason: Reason
    /// How long.
    public let duration: Duration
    /// The walks that it waited for, by `ObservedWalk.number`: those that had a request on its way to the
    /// host, its own among them, or the one that probes. Known only where a client has an observer.
    public let behind: [Int]
  }

  /// A failed request that is made again.
  public struct Retry: Sendable {
    /// The request, such as `GET https://host/path?page=2`.
    public let request: String
    /// How long is waited before; zero where another fetch of the walk has found the server back.
    public let delay: Duration
    /// How much longer an outage is waited out; nil where the server has answered.
    public let remaining: Duration?
    /// What failed.
    public let code: PageError.Code
    /// Why, as the error would have said it.
    public let message: String
  }

  /// Writes the event to a log.
  fileprivate func log(to logger: Logger, at level: Logger.Level) {
    let (message, metadata) = line
    logger.log(level: level, message, metadata: metadata)
  }

  private var line: (Logger.Message, Logger.Metadata) {
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
  /// Hands an event to the observer, and to the log unless `level` is nil; it is not made where neither
  /// wants it.
  func emit(_ level: Logger.Level?, _ event: @autoclosure () -> PageEvent) {
    let logged = level.flatMap { $0 >= configuration.logger.logLevel ? $0 : nil }
    guard configuration.onEvent != nil || logged != nil || configuration.observer != nil else {
      return
    }
    let event = event()
    configuration.observer?.happened(event, in: ObservedPage.current)
    configuration.onEvent?(event)
    if let logged { event.log(to: configuration.logger, at: logged) }
  }
}
