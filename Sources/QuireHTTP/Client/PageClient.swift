public import HTTPTypes
public import Logging
public import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A client for HTTP listings: one value for all listings that share a transport, credentials and a
/// configuration.
///
/// ```swift
/// let client = PageClient(transport: transport, headers: [.authorization: "Bearer \(token)"])
/// let issues = client.cursor(of: Issue.self, at: "https://api.example.com/issues", pagination: .github)
/// for try await page in issues { … }
/// ```
/// A client is a cheap value; the transport holds the connections.
public struct PageClient: Sendable {
  /// The user agent of transports and feed readers by default: `Quire/` and the version.
  public static let userAgent = "Quire/0.1.0"

  /// The settings of all requests of the client.
  public var configuration: Configuration {
    _read { yield shared.configuration }
    set { shared = Shared(newValue) }
  }

  /// A reference, because each listing has a copy of its client and each request reads the
  /// configuration.
  private(set) var shared: Shared

  let transport: any HTTPTransport
  /// The budget that all walks of the client and of its copies share.
  let budget = ClientBudget()
  var environment = Environment()
  /// Makes the audit of a walk, which checks its pages against the description; nil in a client
  /// that was made without the module Quire.
  package var auditor: Auditor?

  /// Creates the audit of one walk.
  package typealias Auditor =
    @Sendable (_ pagination: Pagination, _ hasPageSize: Bool, _ expectsTotal: Bool) -> WalkAudit

  /// Creates a client over any transport. `headers` are added to those of the configuration.
  public init(
    transport: any HTTPTransport, headers: HTTPFields = [:],
    configuration: Configuration = Configuration()
  ) {
    self.transport = transport
    shared = Shared(configuration)
    for field in headers { self.configuration.headers.append(field) }
  }

  /// The settings of all requests of a client.
  public struct Configuration: Sendable {
    /// Fields for every request to a walk's home origin; never sent to another one. Default: none.
    public var headers: HTTPFields = [:]
    /// The timeouts for the phases of a request. Default: the profile for APIs.
    public var timeouts: Timeouts = .api
    /// The limits on the size of a response. Default: the profile for APIs.
    public var transferLimits: TransferLimits = .api
    /// The limits on the cost of decoding a page. Default: the profile for APIs.
    public var decodingLimits: DecodingLimits = .api
    /// What to do with items that cannot be decoded. Default: throw an error.
    public var badItems: BadItemPolicy = .throw
    /// When failed requests are sent again. Default: three attempts for a page.
    public var retry = RetryPolicy()
    /// The limits that all walks of the client share: rates, concurrent requests, bytes. Default:
    /// the limits that servers state, without own ones.
    public var budget = RequestBudget()
    /// The addresses that a walk may reach, wherever its servers lead it. Default: a walk that
    /// began at a public address never reaches a private one, and one that began at a private
    /// address reaches no other private one.
    public var addresses = AddressPolicy.standard
    /// The maximum number of redirects to follow for one request. Default 5.
    public var maximumRedirects = 5
    /// Signs each complete request. Default: requests are not signed.
    public var signer: RequestSigner?
    /// The source of credentials for one origin, which renews them when the server refuses them,
    /// such as for tokens that expire. All walks of the client share one credential and its
    /// renewal. Default: none.
    public var credentials: (any CredentialSource)? {
      get { keeper?.source }
      set { keeper = newValue.map(CredentialKeeper.init) }
    }
    /// A reference, because configurations are copied with clients and walks.
    var keeper: CredentialKeeper?
    /// The store of validators, which makes requests conditional: a 304 is then a page with
    /// `isUnchanged`. Default: none, and a 304 is an error.
    public var validators: PageValidators?
    /// Whether plain HTTP is allowed to other addresses than loopback ones. Default false.
    public var allowsPlainHTTP = false
    /// Whether to accept a body that ends with its connection in a format that cannot prove its
    /// end, such as CSV. Default false.
    public var acceptsUnprovenEnd = false
    /// `TransportRequest.keepsConnection` of all requests. Default true.
    package var keepsConnections = true
    /// Called for each `PageEvent`, such as requests, responses, retries, redirects and pauses,
    /// with secrets redacted. Called on the task that reads the page, so it should be quick.
    /// Default: none.
    public var onEvent: (@Sendable (PageEvent) -> Void)?
    /// Observes each page that is read, and gets the same events, for metrics and traces. Default:
    /// none, which costs nothing.
    public var observer: (any ClientObserver)?
    /// The logger for these events, at the level that each case documents. Default: none.
    public var logger = Logger(label: "quire") { _ in SwiftLogNoOpLogHandler() }
    /// The clock for the delays of retries and for waiting requests. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// Creates a configuration with the defaults.
    public init() {}
  }

  /// A configuration that copies of a client share.
  final class Shared: Sendable {
    let configuration: Configuration

    init(_ configuration: Configuration) { self.configuration = configuration }
  }

  /// The sources of randomness and time, which tests replace.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    package var now: @Sendable () -> Double = { WallClock.secondsSince1970 }
    /// The clock that limits the waits for the body of a refused answer and for a source of
    /// credentials.
    var limitClock: any Clock<Duration> = ContinuousClock()

    package init() {}
  }

  /// Returns the same client with other sources of randomness and time.
  package func with(_ environment: Environment) -> PageClient {
    var client = self
    client.environment = environment
    return client
  }
}

extension PageClient {
  /// Returns a cursor over the listing at `url`, whose pages `decoder` decodes.
  ///
  /// Nothing is requested before the first `next()`, which also throws if the URL or the
  /// description cannot work.
  /// - Parameters:
  ///   - url: The absolute URL of the first page; sent byte for byte.
  ///   - pagination: How the listing is paged: a preset or a description of your own.
  ///   - pageSize: The number of items to ask for in a page. Lowered, and logged, if the
  ///     description has a smaller maximum. Default: the server's.
  ///   - request: The method, fields and body of the first request. Default: a GET without either.
  ///   - decoder: The decoder of pages, such as `JSONPageDecoder<Item>()`.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  public func cursor<Item: Sendable>(
    at url: String, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    let first = request.request(at: url)
    let audit = auditor.map { auditor in
      { @Sendable in
        auditor(
          pagination, pageSize != nil || first.hasPageSize(of: pagination), request.expectsTotal)
      }
    }
    return cursor(decoder, delivery, audit) {
      try Listing(
        client: self, pagination: pagination, first: first, pageSize: pageSize,
        secrets: request.secrets)
    }
  }

  /// Returns a cursor over a listing. If the listing cannot be made, its walk throws the error at
  /// the first page.
  private func cursor<Item: Sendable>(
    _ decoder: any PageDecoder<Item>, _ delivery: PageDelivery,
    _ audit: (@Sendable () -> WalkAudit)? = nil, _ makeListing: () throws -> Listing
  ) -> Cursor<Item> {
    do {
      let listing = try makeListing()
      if delivery == .asItArrives, let rule = listing.engine.wholePageRule {
        throw PageError(
          .invalidArgument,
          "The description has \(rule), for which all items of a page must be known before the first is "
            + "delivered. Use the delivery .whole.")
      }
      return Cursor(
        clock: configuration.clock,
        makeReader: { context in
          // The items before a position are in the last part of the page before it.
          let delivery = context.direction == .backward ? .whole : delivery
          return PageLoader(listing, decoder, delivery, audit: audit?())
        })
    } catch {
      return Cursor(clock: configuration.clock, page: { _ in throw error })
    }
  }

  /// The method, fields and body of a listing's first request.
  public struct RequestOptions: Sendable {
    /// The method. Default GET.
    public var method: HTTPRequest.Method
    /// Fields for this listing, in addition to the client's. Default: none.
    public var headers: HTTPFields
    /// The body. Default: none.
    public var body: PageRequest.Body
    /// Names and values for the query of the URL. They replace parameters of the URL that have the
    /// same names; a name that occurs twice is sent twice. Default: none.
    public var parameters: PageRequest.Parameters
    /// Texts that are secret wherever a request or an answer has them, such as a token in the URL's
    /// path: never shown in errors, logs and reports, and not stored in positions. Parameters
    /// called `token`, `api_key`, `password` and the like are secret without being listed. Texts of
    /// fewer than 6 bytes have no effect, because they occur by chance. Default: none.
    public var secrets: [String] = []
    /// Whether the caller named the path of the total. A total that is missing then causes a
    /// warning even if servers of the preset may omit it. Default false.
    package var expectsTotal = false

    /// Creates options; by default for a plain GET.
    public init(
      method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
      body: PageRequest.Body = .none, parameters: PageRequest.Parameters = [:]
    ) {
      self.method = method
      self.headers = headers
      self.body = body
      self.parameters = parameters
    }

    /// Returns the request for the first page at `url`.
    package func request(at url: String) -> PageRequest {
      PageRequest(
        method: method, url: url, headerFields: headers, body: body, parameters: parameters)
    }
  }
}

extension PageClient {
  /// Returns a cursor over a listing that no description can express: a closure decides what
  /// follows each page.
  ///
  /// ```swift
  /// // Everything that was seen must not come again.
  /// client.cursor(at: url, items: "", decoder: JSONPageDecoder<Place>()) { page in
  ///   guard page.itemCount > 0 else { return nil }
  ///   let seen = page.state.plainText + …
  ///   return NextPage(PageRequest(url: url, parameters: ["exclude": seen]), state: .string(seen))
  /// }
  /// ```
  /// All else is as with a description: retries, links, credentials, limits, loop detection,
  /// resuming.
  /// - Parameters:
  ///   - url: The absolute URL of the first page.
  ///   - items: The path to the items of a page.
  ///   - policy: Failures, links, lifecycle. Default: as in a description.
  ///   - request: The method, fields and body of the first request.
  ///   - decoder: The decoder of pages, such as `JSONPageDecoder<Item>()`.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  ///   - next: Returns the request after a page, or nil at the end. It reads the page's document by
  ///     paths of its format. Its errors are thrown after the page was delivered.
  public func cursor<Item: Sendable>(
    at url: String, items: Pagination.Items, policy: Pagination.Policy = Pagination.Policy(),
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole,
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    let pagination = Pagination(
      next: .body("/"), send: .request, items: items, policy: policy)
    return cursor(decoder, delivery) {
      try Listing(
        client: self, pagination: pagination, first: request.request(at: url),
        secrets: request.secrets, custom: next)
    }
  }
}

extension HTTPFields {
  /// Creates fields whose names are texts, such as `["X-Api-Key": key]`.
  ///
  /// Traps if a name is not a token (RFC 9110, §5.6.2), as a literal with a mistake does.
  package init(named fields: KeyValuePairs<String, String>) {
    self.init()
    for (name, value) in fields {
      guard let name = HTTPField.Name(name) else {
        preconditionFailure("\(name.debugDescription) is no name of a header field.")
      }
      append(HTTPField(name: name, value: value))
    }
  }

  /// The fields that a request to another origin may carry, which are not credentials.
  package var harmlessElsewhere: HTTPFields {
    let names: [HTTPField.Name] = [
      .accept, .acceptLanguage, .userAgent, .contentType, .range, .ifNoneMatch, .ifModifiedSince,
    ]
    return filtered { names.contains($0.name) }
  }
}

extension PageClient.RequestOptions {
  /// Creates the options of a first request whose fields are named by texts, such as
  /// `["X-Api-Key": key]`.
  ///
  /// Traps if a name is not a token (RFC 9110, §5.6.2); use `HTTPField.Name` for names from outside
  /// the program.
  public init(
    method: HTTPRequest.Method = .get, headers: KeyValuePairs<String, String>,
    body: PageRequest.Body = .none, parameters: PageRequest.Parameters = [:]
  ) {
    self.init(
      method: method, headers: HTTPFields(named: headers), body: body, parameters: parameters)
  }
}

/// The time of day, which is only compared with the dates of servers.
enum WallClock {
  static var secondsSince1970: Double { Date().timeIntervalSince1970 }
}
