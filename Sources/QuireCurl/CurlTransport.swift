public import QuireHTTP
import QuireCore

/// HTTP/1.1 and HTTP/2 over libcurl.
///
/// One thread drives all transfers of a transport and is the only one that calls libcurl; connections
/// are kept and reused. Redirects are not followed, cookies and proxies of the environment are not
/// used. Nothing is sent twice but what `TransportRequest.replays` allows: libcurl may replay such a
/// request once, on a kept connection that turned out dead, which is counted in
/// `TransferMetrics.wireRequests`. Any other request is on the wire once; if its connection dies under
/// it, that is `truncated`, and the message says that the server may have acted on it.
///
/// A body is received at most 1 MiB ahead of its reader; then the server has to wait, and no
/// timeout runs. A server that has to wait for long may give up, which is `truncated`. Over HTTP/2,
/// where libcurl would have to keep what was announced to the server, it is received as fast as the
/// server sends it, up to `TransferLimits.wireBytes`.
///
/// Dropping the transport closes its connections; `shutdown()` also waits until that is done.
public final class CurlTransport: HTTPTransport {
  /// The transport for whoever needs no settings of their own. Never shut it down.
  public static let shared = CurlTransport()

  /// The settings it was made with.
  public let configuration: Configuration

  /// What is open; for tests that look for leaks.
  package let ledger = Ledger()

  let mailbox = Mailbox()
  private let thread: DriverThread

  /// A transport with its own connections and its own thread.
  ///
  /// - Parameter configuration: Trust, connection limits and HTTP version. The defaults suit an API
  ///   client.
  public init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    precondition(CurlDriver.libraryIsReady, "CurlTransport: libcurl could not be initialised")
    thread = DriverThread(name: "quire-curl") { [mailbox, ledger] in
      CurlDriver.run(configuration: configuration, mailbox: mailbox, ledger: ledger)
    }
  }

  /// Sends `request` and returns once the final response head has arrived.
  ///
  /// A small body arrives together with its head.
  ///
  /// - Throws: `PageError` with one of the codes that `HTTPTransport` lists, or `CancellationError`,
  ///   by then with the connection closed (HTTP/1) or the stream reset (HTTP/2).
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    let wire = try WireRequest(request, userAgent: configuration.userAgent)
    if configuration.writesKeyLog, let obstacle = KeyLog.obstacle {
      throw PageError(
        .tls, "The log of TLS secrets was asked for and cannot be written: \(obstacle).")
    }
    let exchange = Exchange(wire)
    guard mailbox.push(.start(exchange)) else { throw PageError.clientClosed }
    let reader = ResponseReader(exchange, transport: self)
    let head = try await reader.head()
    let requestsAtOnce = configuration.requestsAtOnce(overHTTP2: head.isHTTP2)
    return TransportResponse(
      head: head.response, framing: head.framing,
      body: TransportBody(
        next: { try await reader.next() },
        metrics: {
          var metrics = reader.metrics
          metrics.requestsAtOnce = requestsAtOnce
          return metrics
        }))
  }

  /// Ends every transfer in flight with `clientClosed`, closes all connections, and returns when
  /// the thread has ended. Later requests throw `clientClosed`.
  public func shutdown() async {
    let done = Suspension<Void>()
    if mailbox.push(.shutDown(done)) {
      // Not cancellable: whoever shuts down wants to know when it is done.
      try? await done.value(onCancel: {})
    }
    thread.join()
  }

  deinit {
    mailbox.push(.stop)
    thread.detach()
  }
}

extension PageError {
  static var clientClosed: PageError {
    PageError(
      .clientClosed, "The transport was shut down; make a new CurlTransport for further requests.")
  }
}
