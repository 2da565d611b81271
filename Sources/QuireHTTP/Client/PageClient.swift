public import HTTPTypes
public import Logging

/// Fetches the pages of HTTP listings: one value for all the listings that share a transport,
/// credentials and manners.
///
/// ```swift
/// let client = PageClient(transport: transport, headers: [.authorization: "Bearer \(token)"])
/// let issues = client.cursor(of: Issue.self, at: "https://api.example.com/issues", pagination: .github)
/// for try await page in issues { … }
/// ```
/// A client is a cheap value; the transport holds the connections.
public struct PageClient: Sendable {
  /// What all requests of the client have in common.
  public var configuration: Configuration

  let transport: any HTTPTransport
  var environment = Environment()

  /// A client over any transport.
  public init(
    transport: any HTTPTransport, headers: HTTPFields = [:],
    configuration: Configuration = Configuration()
  ) {
    self.transport = transport
    self.configuration = configuration
    for field in headers { self.configuration.headers.append(field) }
  }

  /// What all requests of a client have in common.
  public struct Configuration: Sendable {
    /// Fields for every request to a walk's home origin; they never travel to another one. Default:
    /// none.
    public var headers: HTTPFields = [:]
    /// How long each phase of a request may take. Default: the profile for APIs.
    public var timeouts: Timeouts = .api
    /// How much of a response may be read. Default: the profile for APIs.
    public var transferLimits: TransferLimits = .api
    /// What decoding a page may cost. Default: the profile for APIs.
    public var decodingLimits: DecodingLimits = .api
    /// What to do with items that cannot be decoded. Default: throw.
    public var badItems: BadItemPolicy = .throw
    /// When a failed request is made again. Default: three attempts.
    public var retry = RetryPolicy()
    /// Redirects followed for one request. Default 5.
    public var maximumRedirects = 5
    /// Signs each request once everything else is in it. Default: nothing is signed.
    public var signer: RequestSigner?
    /// What authorizes requests to one origin, and is renewed when the server refuses it; for tokens
    /// that end. All walks of the client share one credential and one renewal of it. Default: none.
    public var credentials: (any CredentialSource)? {
      get { keeper?.source }
      set { keeper = newValue.map(CredentialKeeper.init) }
    }
    /// A reference, for clients and walks are copied.
    var keeper: CredentialKeeper?
    /// Whether plain http may leave this machine. Default: no, only to loopback addresses.
    public var allowsPlainHTTP = false
    /// Whether a body that only the end of its connection ends is accepted where the format cannot
    /// prove it whole, such as CSV. Default: no.
    public var acceptsUnprovenEnd = false
    /// Where requests (debug) and retries (notice) are logged, secrets redacted. Default: nowhere.
    public var logger = Logger(label: "quire") { _ in SwiftLogNoOpLogHandler() }
    /// What retries sleep by. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// A configuration of defaults.
    public init() {}
  }

  /// What tests replace: chance and the time of day.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    package var now: @Sendable () -> Double = { WallClock.secondsSince1970 }
    /// What the body of a refused answer is waited for by.
    package var refusalClock: any Clock<Duration> = ContinuousClock()

    package init() {}
  }

  /// The same client with another source of chance and time.
  package func with(_ environment: Environment) -> PageClient {
    var client = self
    client.environment = environment
    return client
  }
}
