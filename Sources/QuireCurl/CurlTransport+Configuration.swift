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
    /// their timeouts with them. Default 32.
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
    /// the environment, for tools that decrypt captured traffic: who has the file can read everything
    /// that was sent. Default: no, and the variable has no effect.
    ///
    /// libcurl would heed the variable unasked, so it is taken out of the process's environment, once,
    /// when the process makes its first transport; child processes do not inherit it from then on. A
    /// transport that is to write the log and cannot, because the file cannot be opened or libcurl was
    /// not built with OpenSSL, fails every request with `tls`.
    public var writesKeyLog = false

    /// Settings for an API client, unless told otherwise.
    public init(
      certificateAuthorities: CertificateAuthorities = .system,
      httpVersion: HTTPVersion = .negotiated, connectionsPerHost: Int = 6,
      connectionsTotal: Int = 256, requestsPerHost: Int = 32, idleTimeout: Duration = .seconds(60),
      connectionLifetime: Duration = .seconds(3600), userAgent: String = "Quire/0.1.0"
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
