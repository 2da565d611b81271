import QuireCore
public import QuireHTTP
import QuirePagination

/// HTTP/1.1 and HTTP/2 over libcurl.
///
/// One thread drives all transfers of a transport and is the only one that calls libcurl; connections
/// are kept and reused. Redirects are not followed, cookies and proxies of the environment are not
/// used. Nothing is sent twice but what `TransportRequest.replays` allows: libcurl may replay such a
/// request once, on a kept connection that turned out dead, which is counted in
/// `TransferMetrics.wireRequests`. Any other request is on the wire once; if its connection dies under
/// it, that is `truncated`, and the message says that the server may have acted on it.
///
/// A body is received ahead of its reader by a 512th of `TransferLimits.decodedBytes`, at least 64 KiB and at most
/// 1 MiB; then the server has to wait, and no timeout runs. A
/// server that has to wait for long may give up, which is `truncated`. Over HTTP/2, where libcurl would have to keep
/// what was announced to the server, it is received as fast as the server sends it, up to
/// `TransferLimits.wireBytes`.
///
/// Dropping the transport closes its connections; `shutdown()` also waits until that is done.
public final class CurlTransport: HTTPTransport {
  /// The transport with default settings, shared by the process. Never shut it down.
  public static let shared = CurlTransport()

  /// The settings it was made with.
  public let configuration: Configuration

  /// What is open; for tests that look for leaks.
  let ledger = Ledger()

  let mailbox = Mailbox()
  /// Finds the addresses of names.
  package let resolver: NameResolver
  private let thread: DriverThread

  /// A transport with its own connections and its own thread.
  ///
  /// - Parameter configuration: Trust, connection limits and HTTP version. The defaults suit an API
  ///   client.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, resolver: NameResolver())
  }

  package init(_ configuration: Configuration, resolver: NameResolver) {
    self.configuration = configuration
    self.resolver = resolver
    precondition(CurlDriver.libraryIsReady, "CurlTransport: libcurl could not be initialised")
    let thread = DriverThread(name: "quire-curl") { [mailbox, ledger] in
      CurlDriver.run(configuration: configuration, mailbox: mailbox, ledger: ledger)
    }
    guard let thread else { preconditionFailure("CurlTransport: the system refused a thread") }
    self.thread = thread
  }

  /// Sends `request` and returns once the final response head has arrived.
  ///
  /// A small body arrives together with its head.
  ///
  /// - Throws: `PageError` with one of the codes that `HTTPTransport` lists, or `CancellationError`,
  ///   by then with the connection closed (HTTP/1) or the stream reset (HTTP/2).
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try check()
    let reader = try start(try await exchange(for: request))
    try await reader.waitForHead()
    return try response(by: reader)
  }

  // Steps that do not wait are functions that are never inlined, as in QuireHTTP's Exchange.
  @inline(never)
  private func check() throws {
    try Task.checkCancellation()
    if configuration.writesKeyLog, let obstacle = KeyLog.obstacle {
      throw PageError(
        .tls, "The log of TLS secrets was asked for and cannot be written: \(obstacle).")
    }
  }

  @inline(never)
  private func start(_ exchange: WireExchange) throws -> ResponseReader {
    let reader = ResponseReader(exchange, transport: self)
    guard mailbox.push(.start(exchange)) else { throw PageError.clientClosed }
    return reader
  }

  /// The request with the addresses that it goes to.
  // A request that waits for its turn holds only this: thousands may wait.
  @inline(never)
  private func exchange(for request: TransportRequest) async throws -> WireExchange {
    let wire = try wireRequest(for: request)
    return WireExchange(wire, along: try await route(of: wire))
  }

  @inline(never)
  private func wireRequest(for request: TransportRequest) throws -> WireRequest {
    try WireRequest(request, userAgent: configuration.userAgent)
  }

  @inline(never)
  private func response(by reader: ResponseReader) throws -> TransportResponse {
    let head = try reader.head()
    let requestsAtOnce = configuration.requestsAtOnce(overHTTP2: head.isHTTP2)
    return TransportResponse(
      head: head.response, framing: head.framing,
      body: TransportBody(
        next: { try await reader.next() },
        metrics: {
          var metrics = reader.metrics
          metrics.requestsAtOnce = requestsAtOnce
          return metrics
        }, isOver: { reader.isOver }))
  }

  /// Ends every transfer in flight with `clientClosed`, closes all connections, and returns when
  /// the thread has ended. Later requests throw `clientClosed`.
  public func shutdown() async {
    let done = Suspension<Void>()
    if mailbox.push(.shutDown(done)) {
      // Not cancellable: shutting down returns when it is done.
      try? await done.value(onCancel: {})
    }
    thread.join()
  }

  deinit {
    mailbox.push(.stop)
    thread.detach()
  }
}

extension CurlTransport: TaskExecutor {
  /// Runs a job on the transport's own thread, by choice of the task.
  ///
  /// A loop that runs there asks for a page and gets it without a change of thread, which is most of what
  /// a small page costs beside its bytes:
  /// ```swift
  /// try await withTaskExecutorPreference(transport) {
  ///   for try await page in client.cursor(at: address, pagination: .github) { … }
  /// }
  /// ```
  /// The loop must not belong to an actor. While it decodes and computes, no other request of the transport
  /// goes on: give it a transport of its own, and do nothing in it that blocks. Once the transport is shut
  /// down, its jobs run where all others do.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    guard !mailbox.push(.run(job, asUnownedTaskExecutor())) else { return }
    globalConcurrentExecutor.enqueue(ExecutorJob(job))
  }
}

extension PageError {
  static var clientClosed: PageError {
    PageError(
      .clientClosed, "The transport was shut down; make a new CurlTransport for further requests.")
  }
}

extension CurlTransport {
  /// Whom to trust, how many connections to keep, and which HTTP version to speak.
  public struct Configuration: Hashable, Sendable {
    /// Who vouches for a server's identity.
    public enum CertificateAuthorities: Hashable, Sendable {
      /// Those of the operating system.
      case system
      /// Only those in this PEM file.
      case file(String)
    }

    /// Which HTTP version to speak.
    public enum HTTPVersion: Hashable, Sendable {
      /// HTTP/2 over TLS where the server offers it (ALPN), else HTTP/1.1.
      case negotiated
      /// HTTP/1.1 only.
      case http1
    }

    /// Who vouches for a server's identity. Verification itself cannot be turned off. Default: the
    /// operating system's.
    public var certificateAuthorities: CertificateAuthorities
    /// Which HTTP version to speak. Default: HTTP/2 where the server offers it.
    public var httpVersion: HTTPVersion
    /// Connections to one host at a time; further requests wait. Default 6, as browsers do. Over
    /// HTTP/1 a wider window of `Cursor.parallel(_:)` is held to it, and the walk's report says so.
    public var connectionsPerHost: Int
    /// Connections at a time altogether; further requests wait. Default 256.
    public var connectionsTotal: Int
    /// Requests to one host in flight at a time: streams of an HTTP/2 connection, or HTTP/1 requests
    /// for which `connectionsPerHost` is the tighter bound. Further requests wait, in order, and
    /// their timeouts with them. Never fewer than `connectionsPerHost`: for that there is
    /// `RequestBudget.requestsPerHost`. Default 32.
    public var requestsPerHost: Int
    /// How long a kept connection may lie idle and still be reused. Default 60 s, below what most
    /// servers allow.
    public var idleTimeout: Duration
    /// How old a connection may be and still be reused, so that a changed address or certificate is
    /// noticed. Default 1 h.
    public var connectionLifetime: Duration
    /// Sent as User-Agent unless a request has its own.
    public var userAgent: String
    /// Whether the secrets of TLS connections are appended to the file that `SSLKEYLOGFILE` names in
    /// the environment, for tools that decrypt captured traffic: with the file everything can be read
    /// that was sent. Default: no, and the variable has no effect.
    ///
    /// libcurl would heed the variable unasked, so it is taken out of the process's environment, once,
    /// when the process makes its first transport; child processes do not inherit it from then on. A
    /// transport that is to write the log and cannot, because the file cannot be opened or libcurl was
    /// not built with OpenSSL, fails every request with `tls`.
    public var writesKeyLog = false
    /// What requests go through; never that of the environment, unless it is named here. Default: nothing.
    public var proxy = Proxy.none
    /// The client certificate for one origin. Default: none.
    public var clientCertificate: ClientCertificate?

    /// Settings for an API client, unless told otherwise.
    public init(
      certificateAuthorities: CertificateAuthorities = .system,
      httpVersion: HTTPVersion = .negotiated, connectionsPerHost: Int = 6,
      connectionsTotal: Int = 256, requestsPerHost: Int = 32, idleTimeout: Duration = .seconds(60),
      connectionLifetime: Duration = .seconds(3600), userAgent: String = PageClient.userAgent
    ) {
      self.certificateAuthorities = certificateAuthorities
      self.httpVersion = httpVersion
      self.connectionsPerHost = connectionsPerHost
      self.connectionsTotal = connectionsTotal
      self.requestsPerHost = requestsPerHost
      self.idleTimeout = idleTimeout
      self.connectionLifetime = connectionLifetime
      self.userAgent = userAgent
    }
  }
}

extension CurlTransport.Configuration {
  /// How many requests to one host run at the same time.
  func requestsAtOnce(overHTTP2: Bool) -> Int {
    let connections = max(1, min(connectionsPerHost, connectionsTotal))
    return overHTTP2 ? max(requestsPerHost, connections) : connections
  }
}
