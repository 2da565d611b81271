public import HTTPTypes
public import Logging
public import QuireCore
public import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// What transports and feed readers call themselves where nothing else is said: `Quire/` and the version.
  public static let userAgent = "Quire/0.1.0"

  /// What all requests of the client have in common.
  public var configuration: Configuration {
    _read { yield shared.configuration }
    set { shared = Shared(newValue) }
  }

  /// By reference: each listing has a copy of its client, and each request looks into it.
  private(set) var shared: Shared

  let transport: any HTTPTransport
  /// What all walks of the client share, and all copies of it.
  let budget = ClientBudget()
  var environment = Environment()
  /// What looks at the pages of each walk for what speaks against its description; none in a client that
  /// was made without the module Quire.
  package var auditor: Auditor?

  /// Makes the audit of one walk.
  package typealias Auditor =
    @Sendable (_ pagination: Pagination, _ hasPageSize: Bool, _ expectsTotal: Bool) -> WalkAudit

  /// A client over any transport.
  public init(
    transport: any HTTPTransport, headers: HTTPFields = [:],
    configuration: Configuration = Configuration()
  ) {
    self.transport = transport
    shared = Shared(configuration)
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
    /// What all walks of the client may take together: rates, requests at the same time, bytes. Default:
    /// what servers state, and no limit of one's own.
    public var budget = RequestBudget()
    /// Which addresses a walk may reach, wherever its servers lead it. Default: a walk that began at a
    /// public address never reaches a private one, and a private one is left for no other.
    public var addresses = AddressPolicy.standard
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
    /// Where pages leave what they are asked by whether they have changed; then requests are conditional, and
    /// a 304 is a page with `isUnchanged`. Default: nowhere, and a 304 is an error.
    public var validators: PageValidators?
    /// Whether plain http may leave this machine. Default: no, only to loopback addresses.
    public var allowsPlainHTTP = false
    /// Whether a body that only the end of its connection ends is accepted where the format cannot
    /// prove it whole, such as CSV. Default: no.
    public var acceptsUnprovenEnd = false
    /// `TransportRequest.keepsConnection` of all requests.
    package var keepsConnections = true
    /// Gets each `PageEvent`: requests, responses, retries, redirects, pauses, secrets redacted. Called
    /// on the task that reads the page, so it should be quick. Default: none.
    public var onEvent: (@Sendable (PageEvent) -> Void)?
    /// Watches each page that is read, and gets the same events: for metrics and traces. It costs nothing
    /// where there is none. Default: none.
    public var observer: (any ClientObserver)?
    /// Where the same events are logged, each as important as its case says. Default: nowhere.
    public var logger = Logger(label: "quire") { _ in SwiftLogNoOpLogHandler() }
    /// What retries sleep by, and requests that wait for a server. Default: the continuous clock.
    public var clock: any Clock<Duration> = ContinuousClock()

    /// A configuration of defaults.
    public init() {}
  }

  /// A configuration that copies of a client share.
  final class Shared: Sendable {
    let configuration: Configuration

    init(_ configuration: Configuration) { self.configuration = configuration }
  }

  /// What tests replace: chance and the time of day.
  package struct Environment: Sendable {
    package var random: @Sendable () -> Double = { Double.random(in: 0..<1) }
    package var now: @Sendable () -> Double = { WallClock.secondsSince1970 }
    /// What limits the wait for the body of a refused answer, and for a source of credentials.
    var limitClock: any Clock<Duration> = ContinuousClock()

    package init() {}
  }

  /// The same client with another source of chance and time.
  package func with(_ environment: Environment) -> PageClient {
    var client = self
    client.environment = environment
    return client
  }
}

extension PageClient {
  /// A cursor over the listing at `url`, its pages decoded by `decoder`.
  ///
  /// Nothing is requested before the first `next()`; a URL or a description that cannot work is
  /// thrown there.
  /// - Parameters:
  ///   - url: The listing's first page, absolute; sent byte for byte.
  ///   - pagination: How the listing pages: a preset or a description of your own.
  ///   - pageSize: How many items to ask for in a page; lowered, and logged, where the description
  ///     knows a maximum. Default: the server's.
  ///   - request: Method, fields and body of the first request. Default: a GET without either.
  ///   - decoder: Decodes each page, such as `JSONPageDecoder<Item>()`.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  public func cursor<Item: Sendable>(
    at url: String, pagination: Pagination, pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole
  ) -> Cursor<Item> {
    let first = PageRequest(
      method: request.method, url: request.url(for: url), headerFields: request.headers,
      body: request.body)
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

  /// A cursor over a listing; where there can be none, the walk throws why at its first page.
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
          // What lies before a page is in its last part.
          let delivery = context.direction == .backward ? .whole : delivery
          return PageLoader(listing, decoder, delivery, audit: audit?())
        })
    } catch {
      return Cursor(clock: configuration.clock, page: { _ in throw error })
    }
  }

  /// Method, fields and body of a listing's first request.
  public struct RequestOptions: Sendable {
    /// Default GET.
    public var method: HTTPRequest.Method
    /// Fields for this listing, besides the client's. Default: none.
    public var headers: HTTPFields
    /// Default: none.
    public var body: PageRequest.Body
    /// Names and values for the query of the URL, encoded strictly: only unreserved characters stay
    /// as they are (RFC 3986, §2.3), in names also `$`, `[` and `]`. They take the place of the URL's
    /// own parameters of the same names; a name that comes twice is sent twice. Default: none.
    public var parameters: KeyValuePairs<String, String>
    /// Texts that are secret wherever the request or an answer has them, such as a token that is part
    /// of the URL's path: never shown in errors, logs and reports, and not stored in positions. What
    /// is called `token`, `api_key`, `password` and the like is known without being named. Texts of
    /// fewer than 6 bytes cannot be told from others, and have no effect. Default: none.
    public var secrets: [String] = []
    /// Whether the caller named the total, so that one that is never there is worth a warning even where
    /// servers of the preset may leave it out.
    package var expectsTotal = false

    /// The first request of a listing; a plain GET unless told otherwise.
    public init(
      method: HTTPRequest.Method = .get, headers: HTTPFields = [:],
      body: PageRequest.Body = .none, parameters: KeyValuePairs<String, String> = [:]
    ) {
      self.method = method
      self.headers = headers
      self.body = body
      self.parameters = parameters
    }

    /// The URL with the parameters in it; one that cannot be read is refused when it is sent.
    package func url(for text: String) -> String {
      guard !parameters.isEmpty, var url = try? URLReference(text) else { return text }
      url.query = QueryString(url.query).replacing(parameters.map { ($0.key, $0.value) }).raw
      return url.text
    }
  }
}

extension PageClient {
  /// A cursor over a listing that no description can express: a closure decides what comes after
  /// each page.
  ///
  /// ```swift
  /// // Everything that was seen must not come again.
  /// client.cursor(at: url, items: "", decoder: JSONPageDecoder<Place>()) { page in
  ///   guard page.itemCount > 0 else { return nil }
  ///   let seen = page.state.plainText + …
  ///   return NextPage(PageRequest(url: url + "&exclude=" + seen), state: .string(seen))
  /// }
  /// ```
  /// Everything else is as with a description: retries, links, credentials, limits, loops, resuming.
  /// - Parameters:
  ///   - url: The listing's first page, absolute.
  ///   - items: Where a page keeps its items.
  ///   - policy: Failures, links, lifecycle. Default: as in a description.
  ///   - request: Method, fields and body of the first request.
  ///   - decoder: Decodes each page, such as `JSONPageDecoder<Item>()`.
  ///   - delivery: When items are delivered. Default: when their page is complete.
  ///   - next: Returns what comes after a page; nil is the end. What it throws is raised after the page
  ///     was delivered.
  ///
  /// The closure asks the document of each page by paths of its format.
  public func cursor<Item: Sendable>(
    at url: String, items: Pagination.Items, policy: Pagination.Policy = Pagination.Policy(),
    request: RequestOptions = RequestOptions(), decoder: any PageDecoder<Item>,
    delivery: PageDelivery = .whole,
    next: @escaping @Sendable (AnsweredPage) throws -> NextPage?
  ) -> Cursor<Item> {
    let pagination = Pagination(
      next: .body("/"), send: .request, items: items, policy: policy)
    let first = PageRequest(
      method: request.method, url: request.url(for: url), headerFields: request.headers,
      body: request.body)
    return cursor(decoder, delivery) {
      try Listing(
        client: self, pagination: pagination, first: first, secrets: request.secrets, custom: next)
    }
  }
}

extension HTTPFields {
  /// Fields whose names are texts, such as `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2), as a literal with a mistake in it does.
  package init(named fields: KeyValuePairs<String, String>) {
    self.init()
    for (name, value) in fields {
      guard let name = HTTPField.Name(name) else {
        preconditionFailure("\(name.debugDescription) is no name of a header field.")
      }
      append(HTTPField(name: name, value: value))
    }
  }

  /// The fields that a request to another origin may carry: no credentials.
  package var harmlessElsewhere: HTTPFields {
    let names: [HTTPField.Name] = [
      .accept, .acceptLanguage, .userAgent, .contentType, .range, .ifNoneMatch, .ifModifiedSince,
    ]
    return filtered { names.contains($0.name) }
  }
}

extension PageClient.RequestOptions {
  /// The first request of a listing, its fields named in text: `["X-Api-Key": key]`.
  ///
  /// Traps for a name that is no token (RFC 9110, §5.6.2); make `HTTPField.Name` of names from outside
  /// the program.
  public init(
    method: HTTPRequest.Method = .get, headers: KeyValuePairs<String, String>,
    body: PageRequest.Body = .none, parameters: KeyValuePairs<String, String> = [:]
  ) {
    self.init(
      method: method, headers: HTTPFields(named: headers), body: body, parameters: parameters)
  }
}

/// The time of day, which only servers' dates are compared with.
enum WallClock {
  static var secondsSince1970: Double { Date().timeIntervalSince1970 }
}
