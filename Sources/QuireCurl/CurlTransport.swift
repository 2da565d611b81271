import QuireCore
public import QuireHTTP
import QuirePagination
import Synchronization

/// A transport for HTTP/1.1 and HTTP/2 over libcurl.
///
/// One thread drives all transfers of a transport and is the only one that calls libcurl;
/// connections are kept and reused. Redirects are not followed; cookies, and proxies of the
/// environment, are not used. Only a request whose `TransportRequest.replays` allows it may be sent
/// twice: libcurl replays it once if a kept connection turns out dead, which
/// `TransferMetrics.wireRequests` counts. Any other request is on the wire once; if its connection
/// dies under it, the error is `truncated`, and the message says that the server may have acted on
/// the request.
///
/// A body is received ahead of its reader by a 512th of `TransferLimits.decodedBytes`, at least 64
/// KiB and at most 1 MiB; then the server has to wait, and no timeout runs. A server that waits for
/// long may give up, which is `truncated`. Over HTTP/2, where libcurl would have to buffer all that
/// it has invited the server to send, a body is received as fast as it is sent, up to
/// `TransferLimits.wireBytes`.
///
/// The transport never takes the last file descriptors of its process, because a Swift program on
/// Linux that has none left is ended by its runtime. A request for which fewer than 8 would be left
/// fails with `connectFailed`, and may succeed later.
///
/// Dropping the transport closes its connections; `shutdown()` also waits until that is done.
public final class CurlTransport: HTTPTransport {
  /// The transport with default settings, shared by the process. Never shut it down.
  public static let shared = CurlTransport()

  /// The settings that the transport was made with.
  public let configuration: Configuration
  /// The most connections at a time, by the settings and by the files that the process may open.
  private let connectionsAtOnce: Int

  /// The counts of what is open, for tests that look for leaks.
  let ledger = Ledger()

  let mailbox = Mailbox()
  /// The resolver of host names.
  package let resolver: NameResolver
  private let driver = Mutex(Driver.idle)

  /// `idle` → `started`, or `idle` → `shutDown`.
  private enum Driver {
    /// None was started yet, because nothing could start one.
    case idle
    /// Runs on this thread, or has ended.
    case started(DriverThread)
    /// None will be started.
    case shutDown
  }

  /// Creates a transport with its own connections and its own thread.
  ///
  /// - Parameter configuration: Trust, connection limits and HTTP version. The defaults suit an API
  ///   client.
  public convenience init(_ configuration: Configuration = Configuration()) {
    self.init(configuration, resolver: NameResolver())
  }

  /// The password of each proxy, which the proxy may repeat in its answer.
  public var secrets: [String] { configuration.proxy.secrets }

  package init(_ configuration: Configuration, resolver: NameResolver) {
    self.configuration = configuration
    connectionsAtOnce = DescriptorReserve.connections(configuration.connectionsTotal)
    self.resolver = resolver
    _ = KeyLog.path
    // What the process lacks now it may have when the first request is sent.
    try? startDriver()
  }

  /// Starts the driver, unless it was started or the transport was shut down.
  private func startDriver() throws(Shortage) {
    try driver.withLock { driver throws(Shortage) in
      guard case .idle = driver else { return }
      driver = .started(
        try CurlDriver.start(
          configuration, connectionsAtOnce: connectionsAtOnce, mailbox: mailbox, ledger: ledger))
    }
  }

  /// Sends `request` and returns once the final response head has arrived.
  ///
  /// A small body arrives together with its head.
  ///
  /// - Throws: `PageError` with one of the codes that `HTTPTransport` lists, or
  ///   `CancellationError`; by then the connection is closed (HTTP/1) or the stream is reset
  ///   (HTTP/2).
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try check()
    let reader = try start(try await exchange(for: request))
    try await reader.waitForHead()
    return try response(by: reader)
  }

  // Steps that do not wait are never inlined into the function that waits, as in QuireHTTP's
  // Exchange.
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
    if mailbox.push(.start(exchange)) { return reader }
    do throws(Shortage) {
      try startDriver()
    } catch {
      throw PageError.shortage(error, for: exchange.request.host)
    }
    guard mailbox.push(.start(exchange)) else { throw PageError.clientClosed }
    return reader
  }

  /// Returns the request with the addresses that it goes to.
  // A request that waits for its turn keeps nothing else, because thousands may wait.
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
    let connections = max(1, min(configuration.connectionsPerHost, connectionsAtOnce))
    let requestsAtOnce =
      head.isHTTP2 ? max(configuration.requestsPerHost, connections) : connections
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
    let thread = endStarting()
    let done = Suspension<Void>()
    if mailbox.push(.shutDown(done)) {
      // Not cancellable: the shutdown ends when everything is closed.
      try? await done.value(onCancel: {})
    }
    thread?.join()
  }

  /// Lets no driver be started from now on. Returns the thread of the one that was.
  private func endStarting() -> DriverThread? {
    driver.withLock { driver in
      if case .started(let thread) = driver { return thread }
      driver = .shutDown
      return nil
    }
  }

  deinit {
    mailbox.push(.stop)
    endStarting()?.detach()
  }
}

extension CurlTransport: TaskExecutor {
  /// Runs a job on the transport's own thread, for a task that prefers this executor.
  ///
  /// A loop that runs there gets its pages without a change of thread, which is most of what a
  /// small page costs beside its bytes:
  /// ```swift
  /// try await withTaskExecutorPreference(transport) {
  ///   for try await page in client.cursor(at: address, pagination: .github) { … }
  /// }
  /// ```
  /// The loop must not belong to an actor. While it decodes and computes, no other request of the
  /// transport makes progress: give it a transport of its own, and do nothing in it that blocks.
  /// Once the transport is shut down, and while the process has no thread or descriptors for it, its
  /// jobs run on the global executor.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let command = Mailbox.Command.run(job, asUnownedTaskExecutor())
    if mailbox.push(command) { return }
    try? startDriver()
    if !mailbox.push(command) { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
  }
}

extension PageError {
  static var clientClosed: PageError {
    PageError(
      .clientClosed, "The transport was shut down; make a new CurlTransport for further requests.")
  }
}

extension CurlTransport {
  /// The settings of a transport: trust, connections and HTTP version.
  public struct Configuration: Hashable, Sendable {
    /// The authorities that vouch for a server's identity.
    public enum CertificateAuthorities: Hashable, Sendable {
      /// The authorities of the operating system.
      case system
      /// Only the authorities in this PEM file.
      case file(String)
    }

    /// An HTTP version to speak.
    public enum HTTPVersion: Hashable, Sendable {
      /// HTTP/2 over TLS where the server offers it (ALPN), else HTTP/1.1.
      case negotiated
      /// HTTP/1.1 only.
      case http1
    }

    /// The authorities that vouch for a server's identity. Verification itself cannot be turned
    /// off. Default: the operating system's.
    public var certificateAuthorities: CertificateAuthorities
    /// The HTTP version to speak. Default: HTTP/2 where the server offers it.
    public var httpVersion: HTTPVersion
    /// The most connections to one host at a time; further requests wait. Default 6, as in
    /// browsers. Over HTTP/1 it also bounds the window of `Cursor.parallel(_:)`, and the walk's
    /// report says so.
    public var connectionsPerHost: Int
    /// The most connections at a time altogether; further requests wait. Default 256. Never more
    /// than half of the files that the process may have open (`ulimit -n`).
    public var connectionsTotal: Int
    /// The most requests to one host in flight at a time: streams of an HTTP/2 connection, or
    /// HTTP/1 requests, for which `connectionsPerHost` is the tighter bound. Further requests wait,
    /// in order, and their timeouts do not run. Never fewer than `connectionsPerHost`: for that
    /// there is `RequestBudget.requestsPerHost`. Default 32.
    public var requestsPerHost: Int
    /// How long a kept connection may be idle and still be reused. Default 60 s, below what most
    /// servers allow.
    public var idleTimeout: Duration
    /// How old a connection may be and still be reused, so that a changed address or certificate is
    /// noticed. Default 1 h.
    public var connectionLifetime: Duration
    /// The User-Agent of requests that have none of their own. Default: `PageClient.userAgent`.
    public var userAgent: String
    /// Whether the secrets of TLS connections are appended to the file that `SSLKEYLOGFILE` names
    /// in the environment, for tools that decrypt captured traffic: with the file, everything that
    /// was sent can be read. Default: no, and the variable has no effect.
    ///
    /// libcurl would obey the variable unasked, so it is taken out of the process's environment
    /// once, when the process makes its first transport; child processes do not inherit it from
    /// then on. If the log was asked for and cannot be written, because the file cannot be opened
    /// or libcurl was not built with OpenSSL, every request fails with `tls`.
    public var writesKeyLog = false
    /// The proxy that requests go through. That of the environment is not used unless it is set
    /// here. Default: none.
    public var proxy = Proxy.none
    /// The client certificate for one origin. Default: none.
    public var clientCertificate: ClientCertificate?

    /// Creates settings, by default for an API client.
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
