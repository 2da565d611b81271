import HTTPTypes
import Logging
import QuireCore
import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One request and its answer on the wire: credentials, signatures, redirects, and what it costs.
//
// Steps that do not suspend are never inlined: their locals would be part of the frame of each
// waiting request, of which there may be thousands.
final class Exchange {
  let listing: Listing
  var request: PageRequest {
    didSet { (prepared, knownIdentity) = (nil, nil) }
  }
  /// The first hop of the request, if the walk has parsed its URL already.
  private var prepared: RedirectMachine.Hop?
  private var knownIdentity: String?
  /// The cost of the page since its last part, including failed attempts.
  var traffic: WalkReport.Traffic
  /// The number of requests sent for the page, including silent replays and excluding redirects.
  var requests = 0
  /// The number of requests that the current attempt may send, counted in the same way.
  var requestsLeft = 1
  /// The number of requests sent for the page before the current attempt.
  private var requestsBefore = 0
  /// The validators with which the request is conditional; nil for an unconditional request.
  var condition: PageValidators.Entry?
  /// The URL to which the last request was redirected; nil without redirects.
  var redirectedTo: String?
  /// Whether the request probes a host in an outage.
  var isProbing = false
  /// Whether the request waits during an outage while another one probes the host.
  var awaitsHost = true
  /// The remaining time to wait for the host in an outage; nil for the policy's full patience.
  var patience: Duration?
  /// The time spent waiting for another request's probe before this request took over probing; nil
  /// otherwise.
  var waitedForProbe: Duration?
  /// Whether the last request got an answer.
  var wasAnswered = false
  /// The cost of the last retry, in tokens of the host's quota.
  var refund = 0
  /// The URL to which permanent redirects led before the first temporary one; nil without permanent
  /// redirects.
  var movedTo: String?
  /// The hops of the current attempt.
  private var redirects: RedirectMachine?
  /// Whether all hops so far were permanent redirects.
  private var isPermanent = true

  init(
    _ listing: Listing, _ request: PageRequest, prepared: RedirectMachine.Hop? = nil,
    traffic: WalkReport.Traffic = .zero
  ) {
    self.listing = listing
    self.request = request
    self.prepared = prepared
    self.traffic = traffic
  }

  // Members are read through this reference: returning the whole configuration would copy it at
  // each access.
  private var shared: PageClient.Shared { listing.client.shared }

  /// Whether the request may be sent again although the server may have acted on it.
  var isRepeatable: Bool { request.method.isSafe || listing.engine.pagination.request.isQuery }

  /// A new machine that decides about the attempts for the page.
  var retryMachine: RetryMachine {
    RetryMachine(policy: shared.configuration.retry, isRepeatable: isRepeatable)
  }

  /// Created on demand, because most pages are fetched without an event or error.
  var redactor: Redactor { listing.redactor(for: request) }

  /// The redacted method and URL, by which validators recognize the request.
  var requestIdentity: String {
    if let knownIdentity { return knownIdentity }
    let identity = redactor.identity(of: request.method, request.url)
    knownIdentity = identity
    return identity
  }

  /// A response whose body is still arriving, and the hop that it answers.
  ///
  /// A class, because a value would be part of each frame that waits for its body.
  final class Response {
    let head: HTTPResponse
    /// The status of `head`, stored because `head` parses it from its fields at each access.
    let status: HTTPResponse.Status
    let framing: TransportResponse.Framing
    fileprivate(set) var body: TransportBody
    let hop: RedirectMachine.Hop
    /// The permit of the request, which ends with the response at the latest; nil for an uncounted
    /// request.
    let permit: RequestPermit?

    fileprivate init(
      _ response: TransportResponse, _ hop: RedirectMachine.Hop, _ permit: RequestPermit?
    ) {
      head = response.head
      status = head.status
      framing = response.framing
      body = response.body
      self.hop = hop
      self.permit = permit
    }
  }

  /// Sends the request, follows redirects, and returns the final response.
  func send() async throws -> Response {
    (redirectedTo, movedTo, wasAnswered) = (nil, nil, false)
    requestsBefore = requests
    var hop = try begin()
    while true {
      try check(hop)
      let replays = requestsLeft - (requests - requestsBefore) - 1
      let response =
        if let keeper {
          try await send(hop, authorizedBy: keeper, replays: replays)
        } else {
          try await send(hop, replays: replays)
        }
      guard let next = try redirect(by: response) else { return response }
      // The body of a redirect is ignored, but reading a short one lets the connection be used
      // again.
      _ = await beginning(of: response)
      redirected(to: next)
      hop = next
    }
  }

  /// The credentials that authorize requests; nil without any, and for requests of their own
  /// source.
  private var keeper: CredentialKeeper? {
    @inline(never) get { shared.configuration.keeper.flatMap { $0.serves ? $0 : nil } }
  }

  /// Returns the first hop of an attempt.
  @inline(never)
  private func begin() throws -> RedirectMachine.Hop {
    let first = try firstHop()
    redirects = RedirectMachine(
      first, home: listing.home, longest: shared.configuration.maximumRedirects)
    isPermanent = true
    return first
  }

  /// Returns the hop to which a response redirects; nil if it is the final response.
  @inline(never)
  private func redirect(by response: Response) throws -> RedirectMachine.Hop? {
    guard response.status.kind == .redirection else { return nil }
    let status = response.status.code
    isPermanent = isPermanent && [301, 308].contains(status)
    // Two servers behind each other may both write the field.
    let locations = Set(response.head.headerFields[values: .location])
    let next = try redirects?.received(status: status, location: locations.min())
    guard let next else { return nil }
    guard locations.count == 1 else {
      throw PageError(
        .refusedLink,
        "The server redirects to \(locations.count) places at once. If you know the right one, start "
          + "the walk there.")
    }
    try listing.checkSecrets(of: next)
    return next
  }

  @inline(never)
  private func check(_ hop: RedirectMachine.Hop) throws {
    try Task.checkCancellation()
    let isHome = hop.origin == listing.home
    guard !isHome || !listing.isHomeChecked.load(ordering: .relaxed) else { return }
    // The address is checked first: the error about the scheme suggests a setting, which must not
    // open a refused address.
    if let objection = listing.addresses(of: hop.origin).objection(
      toHost: hop.origin.host, port: hop.origin.port)
    {
      throw PageError.refusedAddress(of: hop.origin.authority, objection)
    }
    try checkScheme(of: hop.origin)
    if isHome { listing.isHomeChecked.store(true, ordering: .relaxed) }
  }

  @inline(never)
  private func redirected(to hop: RedirectMachine.Hop) {
    traffic.redirects += 1
    requests -= 1
    redirectedTo = hop.text
    if isPermanent { movedTo = hop.text }
    shared.emit(.debug, .redirect(to: redactor.describe(hop.text)))
  }

  private func firstHop() throws -> RedirectMachine.Hop {
    try prepared ?? listing.hop(for: request)
  }

  /// Sends one request, with the client's credential if the origin is the credential's. If the
  /// server refuses it with 401, sends it once more with a renewed one: the server has not acted on
  /// the first.
  @inline(never)
  private func send(
    _ hop: RedirectMachine.Hop, authorizedBy keeper: CredentialKeeper, replays: Int
  ) async throws -> Response {
    guard let origin = keeper.origin else {
      throw PageError(
        .invalidArgument,
        "The credentials' origin, \(redactor.describe(keeper.source.origin)), is no such thing; "
          + "write it as https://api.example.com.")
    }
    guard hop.origin == origin, hop.origin == listing.home else {
      return try await send(hop, replays: replays)
    }
    let (now, clock) = (listing.client.environment.now, listing.client.environment.limitClock)
    let first = try await keeper.ticket(now, clock)
    let response = try await send(try renewed(hop), with: first.credential, replays: replays)
    guard response.status.code == 401 else {
      keeper.accepted(first)
      return response
    }
    // Read before the renewal, which may need this connection.
    let refusal = await beginning(of: response)
    response.body = .bytes(refusal)
    response.permit?.end()
    let renewal = try await keeper.ticket(after: first, now, clock)
    guard let second = renewal else {
      // The caller reads these bytes again, and counts them then.
      traffic.bytes -= refusal.count
      return response
    }
    shared.emit(.notice, .credentialRenewed(origin: "\(origin)"))
    let answer = try await send(try renewed(hop), with: second.credential, replays: 0)
    if answer.status.code == 401 {
      keeper.refusedAgain(second)
    } else {
      keeper.accepted(second)
    }
    return answer
  }

  /// Returns the hop with the current credential in place of an older one in its URL.
  private func renewed(_ hop: RedirectMachine.Hop) throws -> RedirectMachine.Hop {
    let url = listing.renewingCredential(in: hop.text)
    guard url != hop.text else { return hop }
    return try RedirectMachine.Hop(
      hop.method, URLReference(url), url, home: listing.home, keepsBody: hop.keepsBody)
  }

  /// Sends one request, and counts it and the silent replays of the transport.
  @inline(never)
  private func send(
    _ hop: RedirectMachine.Hop, with credential: Credential? = nil, replays: Int
  ) async throws -> Response {
    let permit = try await permit(to: hop)
    return try await send(hop, with: credential, replays: replays, holding: permit)
  }

  @inline(never)
  private func send(
    _ hop: RedirectMachine.Hop, with credential: Credential?, replays: Int,
    holding permit: RequestPermit?
  ) async throws -> Response {
    var wire = transportRequest(for: hop, with: credential, replays: replays)
    do {
      if signs { try await sign(&wire, for: hop) }
      try count(hop)
    } catch {
      permit?.end(wentOut: false)
      throw error
    }
    do {
      return answered(try await transport.send(wire), by: hop, permit)
    } catch {
      throw unanswered(error, permit)
    }
  }

  private var signs: Bool { shared.configuration.signer != nil }
  private var transport: any HTTPTransport { @inline(never) get { listing.client.transport } }

  /// Counts a request that is about to be sent. Throws if the limits of the walk do not allow it.
  @inline(never)
  private func count(_ hop: RedirectMachine.Hop) throws {
    try WalkReading.requested()
    traffic.requests += 1
    requests += 1
    shared.emit(.debug, .request(redactor.describe(hop.method, hop.text)))
  }

  @inline(never)
  private func answered(
    _ response: TransportResponse, by hop: RedirectMachine.Hop, _ permit: RequestPermit?
  ) -> Response {
    let response = Response(response, hop, permit)
    let metrics = response.body.metrics
    replayed(metrics.wireRequests - 1, sentBack: metrics.sentBack)
    wasAnswered = true
    note(response, atOnce: metrics.requestsAtOnce, listing.lane(to: hop.origin), permit)
    shared.emit(.debug, .response(status: response.status.code))
    if let onEvent = shared.configuration.onEvent {
      response.body = response.body.reporting(to: onEvent)
    }
    return response
  }

  @inline(never)
  private func unanswered(_ error: any Error, _ permit: RequestPermit?) -> any Error {
    guard let error = error as? PageError else { return error }
    replayed(error.attempts - 1 + error.traffic.requests, sentBack: error.traffic.requests)
    permit?.end(wentOut: !Self.unsent.contains(error.code))
    return RetryMachine.Failure(unanswered: error)
  }

  /// The errors that occur before a request is on the wire.
  private static let unsent: [PageError.Code] = [
    .connectFailed, .invalidArgument, .invalidURL, .refusedAddress, .tls,
  ]

  /// Waits until the request may go out, by the limits of its host and by the host's health.
  /// Returns nil if the request is not counted.
  private func permit(to hop: RedirectMachine.Hop) async throws -> RequestPermit? {
    let watchesOutages = watchesOutages(of: hop)
    do {
      while true {
        if watchesOutages, !isProbing, listing.health.isAway { try await waitForProbe() }
        let permit: RequestPermit?
        switch try ask(for: hop) {
        case .free: permit = nil
        case .granted(let granted): permit = granted
        case .waits(let wait):
          let waited = try await listing.client.budget.permit(after: wait, ReadUrgency.current)
          note(waited.wait)
          permit = waited.permit
        }
        if !watchesOutages || isProbing || !listing.health.isAway { return permit }
        // The outage began while the request waited.
        permit?.end(wentOut: false)
      }
    } catch {
      throw Self.withoutRetry(error)
    }
  }

  /// Returns the error of a wait for the budget as one without a retry, which would not shorten the
  /// wait.
  @inline(never)
  private static func withoutRetry(_ error: any Error) -> any Error {
    guard let error = error as? PageError else { return error }
    return RetryMachine.Failure(error: error, cure: .none)
  }

  @inline(never)
  private func note(_ wait: PageEvent.Wait) { shared.emit(.debug, .waited(wait)) }

  /// Returns whether the request waits while its host is in an outage.
  @inline(never)
  private func watchesOutages(of hop: RedirectMachine.Hop) -> Bool {
    awaitsHost && shared.configuration.retry.patience > .zero && hop.origin == listing.home
  }

  @inline(never)
  private func ask(for hop: RedirectMachine.Hop) throws -> ClientBudget.Asked {
    let request = BudgetMachine.Request(
      lane: listing.lane(to: hop.origin),
      walk: WalkReading.walkNumber ?? ObjectIdentifier(listing).hashValue,
      urgency: ReadUrgency.current?.level ?? .waited,
      longest: shared.configuration.retry.maximumRetryAfter, interval: listing.interval)
    return try listing.client.budget.ask(
      request, shared, willWait: { shared.emit(.info, .pause($0)) })
  }

  /// Waits while another request probes the host, and takes over if that one ends.
  private func waitForProbe() async throws {
    let clock = shared.configuration.clock
    let stopwatch = Stopwatch(clock)
    let prober = listing.health.prober
    let role = try await listing.health.waitForProbe(
      patience: patience ?? shared.configuration.retry.patience, clock)
    let waited = stopwatch.elapsed()
    shared.emit(
      .debug,
      .waited(.init(reason: .outage, duration: waited, behind: prober.map { [$0] } ?? [])))
    guard case .probe(let wait) = role else { return }
    isProbing = true
    waitedForProbe = waited
    try await clock.sleep(for: wait)
  }

  /// Notes the limits that an answer states.
  @inline(never)
  private func note(
    _ response: Response, atOnce: Int?, _ lane: BudgetMachine.Lane, _ permit: RequestPermit?
  ) {
    let status = response.status.code
    var allowance = ServerAllowance()
    if shared.configuration.budget.heedsServer || status >= 400 {
      allowance = ServerAllowance(response.head.headerFields, now: listing.client.environment.now())
    }
    // This wait is about one page that is not ready; other pages need not wait.
    if status == 202 { allowance.wait = nil }
    let isTimed = allowance.wait != nil
    let isThrottling =
      status == 429
      || isTimed && (status == 503 || PassingStatus.throttlingWithWait.contains(status))
    if let permit {
      permit.answered(allowance, isThrottling: isThrottling, atOnce: atOnce)
    } else {
      listing.client.budget.answered(
        lane, nil, allowance, isThrottling: isThrottling, atOnce: atOnce)
    }
  }

  /// Returns the cost of the last retry, and resets it.
  func takeRefund() -> Int {
    defer { refund = 0 }
    return refund
  }

  /// Counts `count` silent replays, of which `sentBack` are no attempts.
  private func replayed(_ count: Int, sentBack: Int) {
    guard count > 0 else { return }
    traffic.requests += count
    requests += count - sentBack
    shared.emit(nil, .replayed(count))
  }

  /// Signs a request to the listing's own origin, and notes the secrets of the signature.
  @inline(never)
  private func sign(_ wire: inout TransportRequest, for hop: RedirectMachine.Hop) async throws {
    guard hop.origin == listing.home, let signer = shared.configuration.signer else { return }
    let plain = wire
    try await signer.sign(&wire, Date(timeIntervalSince1970: listing.client.environment.now()))
    listing.signed.note(wire, of: plain)
  }

  /// Signs the request without sending it, to learn the secrets that a signer adds.
  func signWithoutSending() async throws {
    let hop = try firstHop()
    var wire = TransportRequest(parts(of: hop))
    try await sign(&wire, for: hop)
  }

  private func checkScheme(of origin: Origin) throws {
    guard origin.isTrustworthy || shared.configuration.allowsPlainHTTP else {
      throw PageError(
        .invalidURL,
        "\(origin.displayText) would send the request in the clear. Use https.",
        remedies: [Remedy(.allowsPlainHTTP, ["true"], condition: "if that is meant")])
    }
  }

  @inline(never)
  private func transportRequest(
    for hop: RedirectMachine.Hop, with credential: Credential?, replays: Int
  ) -> TransportRequest {
    var wire = parts(of: hop)
    wire.replays = isRepeatable || hop.method.isSafe ? min(1, max(0, replays)) : 0
    if let fields = credential?.fields {
      for name in Set(fields.map(\.name)) { wire.head.headerFields[name] = nil }
      for field in fields { wire.head.headerFields.append(field) }
    }
    return TransportRequest(wire)
  }

  private func parts(of hop: RedirectMachine.Hop) -> TransportRequest.Parts {
    var fields = request.headerFields
    for field in shared.configuration.headers where !request.headerFields.contains(field.name) {
      fields.append(field)
    }
    if hop.origin != listing.home { fields = fields.harmlessElsewhere }
    // Sent on every hop, because the validators came from the final response.
    if let condition, hop.method == .get {
      for field in condition.fields { fields[field.name] = field.value }
    }
    var body: [UInt8] = []
    if hop.keepsBody {
      let (bytes, mediaType) = request.body.encoded
      body = bytes
      if let mediaType, !fields.contains(.contentType) { fields[.contentType] = mediaType }
    } else if fields.contains(.contentType) {
      fields[.contentType] = nil
    }
    if !fields.contains(.accept) { fields.append(listing.accept) }
    var path = hop.url.path.isEmpty ? "/" : hop.url.path
    if let query = hop.url.query { path += "?" + query }
    let head = HTTPRequest(
      method: hop.method, scheme: hop.origin.scheme, authority: hop.url.authority, path: path,
      headerFields: fields)
    return TransportRequest.Parts(
      head: head, body: body, timeouts: shared.configuration.timeouts,
      limits: shared.configuration.transferLimits, replays: 0,
      addresses: listing.addresses(of: hop.origin), origin: hop.origin,
      keepsConnection: shared.configuration.keepsConnections)
  }

  /// The maximum number of bytes to read of a body that is not a page.
  static let longestRefusal = 64 << 10

  /// The maximum time to wait for such a body.
  private static let refusalPatience = Duration.seconds(5)

  /// Reads the beginning of a body that is not a page, such as the explanation of a failure: up to
  /// 64 KiB, or as much as comes within 5 seconds. Ignores errors.
  func beginning(of response: Response) async -> [UInt8] {
    let beginning = Beginning()
    let clock = listing.client.environment.limitClock
    let body = response.body
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        while beginning.count < Self.longestRefusal, let slice = try? await body.next() {
          beginning.add(slice)
        }
      }
      group.addTask { try? await clock.sleep(for: Self.refusalPatience) }
      await group.next()
      group.cancelAll()
    }
    let received = beginning.bytes
    traffic.bytes += received.count
    return Array(received.prefix(Self.longestRefusal))
  }

  /// Returns the error for the caller: redacted, with its request and the traffic that it cost.
  func describe(_ error: PageError, after traffic: WalkReport.Traffic) -> PageError {
    var error = error
    error.traffic = traffic
    error.redactText(by: redactor)
    error.request = redactor.describe(request.method, request.url)
    error.redirectedTo = redirectedTo.map { redactor.describe($0) }
    return error
  }

  /// Emits the event of a retry. `remaining` is the remaining patience with an outage.
  func retries(after delay: Duration, _ error: PageError, remaining: Duration? = nil) {
    shared.emit(
      .notice,
      .retry(
        PageEvent.Retry(
          request: redactor.describe(request.method, request.url), delay: delay,
          remaining: remaining, code: error.code, message: redactor.scrub(error.message))))
  }
}

extension PageRequest.Body {
  /// The bytes to send, and their media type; nil if the caller sets it.
  fileprivate var encoded: (bytes: [UInt8], mediaType: String?) {
    switch self {
    case .none: ([], nil)
    case .bytes(let bytes): (bytes, nil)
    case .json(let value): (Array(value.description.utf8), "application/json")
    case .form(let text): (Array(text.utf8), "application/x-www-form-urlencoded")
    case .xml(let text): (Array(text.utf8), "text/xml; charset=utf-8")
    }
  }
}

extension TransportBody {
  /// Returns the same body, which reports each slice as an event.
  fileprivate func reporting(to onEvent: @escaping @Sendable (PageEvent) -> Void) -> TransportBody {
    TransportBody(
      next: {
        let slice = try await next()
        if let slice { onEvent(.received(bytes: slice.count)) }
        return slice
      }, metrics: { metrics }, isOver: { isOver })
  }
}

/// The received bytes of a body. Shared by the task that reads it and the one that ends the wait.
private final class Beginning: Sendable {
  private let received = Mutex<[UInt8]>([])

  var bytes: [UInt8] { received.withLock { $0 } }
  var count: Int { received.withLock { $0.count } }

  func add(_ slice: [UInt8]) { received.withLock { $0 += slice } }
}
