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

// What goes over the wire for a page.
extension PageVisit {
  /// Sends the request and follows redirects to the answer.
  func send(
    traffic: inout Traffic
  ) async throws -> (TransportResponse, RedirectMachine.Hop) {
    do {
      try await listing.pacer?.ready { wait in
        configuration.logger.info("pause", metadata: ["after": .stringConvertible(wait)])
      }
    } catch let error as PageError {
      // Asking again would not shorten the wait.
      throw RetryMachine.Failure(error, cure: .none)
    }
    let url = try URLReference(request.url)
    let first = RedirectMachine.Hop(
      method: request.method, url: url, origin: try Origin(url), keepsBody: request.body != .none)
    trail.url = nil
    var redirects = RedirectMachine(
      first, home: listing.home, longest: configuration.maximumRedirects)
    let before = traffic.requests - traffic.redirects
    while true {
      let hop = redirects.current
      try checkScheme(of: hop.origin)
      try Task.checkCancellation()
      let sent = traffic.requests - traffic.redirects - before
      let response = try await authorized(
        hop, replays: requestsLeft - sent - 1, traffic: &traffic)
      let (status, fields) = (response.head.status, response.head.headerFields)
      guard status.kind == .redirection,
        try redirects.received(status: status.code, location: fields[.location]) != nil
      else { return (response, hop) }
      // A redirect's body says nothing; reading it lets the connection be used again.
      while try await response.body.next() != nil {}
      traffic.redirects += 1
      trail.url = redirects.current.url.text
    }
  }

  /// Sends one request with the client's credential, if that is for its origin, and once more with
  /// another where the server refuses the first: to a 401 the server has not acted.
  private func authorized(
    _ hop: RedirectMachine.Hop, replays: Int, traffic: inout Traffic
  ) async throws -> TransportResponse {
    guard let keeper = configuration.keeper, keeper.serves else {
      return try await send(hop, replays: replays, traffic: &traffic)
    }
    guard let origin = keeper.origin else {
      throw PageError(
        .invalidArgument,
        "The credentials' origin, \(keeper.source.origin), is no such thing; write it as "
          + "https://api.example.com.")
    }
    guard hop.origin == origin, hop.origin == listing.home else {
      return try await send(hop, replays: replays, traffic: &traffic)
    }
    let now = listing.client.environment.now
    let first = try await keeper.ticket(now)
    var response = try await send(
      try renewed(hop), with: first.credential, replays: replays, traffic: &traffic)
    guard response.head.status.code == 401 else {
      keeper.accepted(first)
      return response
    }
    // Read first: a connection held meanwhile may be the one that the renewal needs.
    response.body = .bytes(await beginning(of: response, traffic: &traffic))
    guard let second = try await keeper.ticket(after: first, now) else { return response }
    configuration.logger.notice("credential renewed", metadata: ["origin": "\(origin)"])
    let answer = try await send(
      try renewed(hop), with: second.credential, replays: 0, traffic: &traffic)
    if answer.head.status.code == 401 {
      keeper.refusedAgain(second)
    } else {
      keeper.accepted(second)
    }
    return answer
  }

  /// The hop with the present credential wherever its URL repeats one.
  private func renewed(_ hop: RedirectMachine.Hop) throws -> RedirectMachine.Hop {
    let url = listing.renewingCredential(in: hop.url.text)
    guard url != hop.url.text else { return hop }
    var hop = hop
    hop.url = try URLReference(url)
    return hop
  }

  /// Sends one request, and counts what went out: the transport may have repeated it in silence, and
  /// in vain.
  private func send(
    _ hop: RedirectMachine.Hop, with credential: Credential? = nil, replays: Int,
    traffic: inout Traffic
  ) async throws -> TransportResponse {
    configuration.logger.debug(
      "request", metadata: ["request": "\(redactor.describe(hop.method, hop.url.text))"])
    var wire = try transportRequest(for: hop)
    wire.replays = isRepeatable || hop.method.isSafe ? min(1, max(0, replays)) : 0
    let names = Set(credential?.fields.map(\.name) ?? [])
    for name in names { wire.head.headerFields[name] = nil }
    for field in credential?.fields ?? [:] { wire.head.headerFields.append(field) }
    try await sign(&wire, for: hop)
    traffic.requests += 1
    do {
      let response = try await listing.client.transport.send(wire)
      traffic.requests += max(0, response.body.metrics.wireRequests - 1)
      return response
    } catch let error as PageError {
      traffic.requests += max(0, error.attempts - 1)
      throw Self.failure(unanswered: error)
    }
  }

  /// Signs a request to the listing's own origin, and remembers what must not be shown of it.
  private func sign(_ wire: inout TransportRequest, for hop: RedirectMachine.Hop) async throws {
    guard hop.origin == listing.home, let signer = configuration.signer else { return }
    let plain = wire
    try await signer.sign(&wire, Date(timeIntervalSince1970: listing.client.environment.now()))
    listing.signed.note(wire, of: plain)
  }

  /// Signs the request without sending it, for what a signer puts into requests.
  func signInVain() async throws {
    let url = try URLReference(request.url)
    let hop = RedirectMachine.Hop(
      method: request.method, url: url, origin: try Origin(url), keepsBody: request.body != .none)
    var wire = try transportRequest(for: hop)
    try await sign(&wire, for: hop)
  }

  private func checkScheme(of origin: Origin) throws {
    guard origin.scheme == "https" || configuration.allowsPlainHTTP || origin.isLoopback else {
      throw PageError(
        .invalidURL,
        "\(origin.shown) would send the request in the clear. Use https.",
        remedies: [Remedy(.allowsPlainHTTP, ["true"], condition: "if that is meant")])
    }
  }

  private func transportRequest(for hop: RedirectMachine.Hop) throws -> TransportRequest {
    var fields = request.headerFields
    for field in configuration.headers where !fields.contains(field.name) { fields.append(field) }
    if hop.origin != listing.home {
      fields = fields.filtered { Self.harmlessElsewhere.contains($0.name) }
    }
    var body: [UInt8] = []
    if hop.keepsBody {
      switch request.body {
      case .none: break
      case .bytes(let bytes): body = bytes
      case .json(let value):
        body = Array(value.description.utf8)
        if !fields.contains(.contentType) { fields[.contentType] = "application/json" }
      case .form(let text):
        body = Array(text.utf8)
        if !fields.contains(.contentType) {
          fields[.contentType] = "application/x-www-form-urlencoded"
        }
      case .xml(let text):
        body = Array(text.utf8)
        if !fields.contains(.contentType) { fields[.contentType] = "text/xml; charset=utf-8" }
      }
    } else if fields.contains(.contentType) {
      fields[.contentType] = nil
    }
    if !fields.contains(.accept) {
      fields[.accept] = "application/json, application/xml;q=0.9, */*;q=0.5"
    }
    var path = hop.url.path.isEmpty ? "/" : hop.url.path
    if let query = hop.url.query { path += "?" + query }
    let head = HTTPRequest(
      method: hop.method, scheme: hop.origin.scheme, authority: hop.url.authority, path: path,
      headerFields: fields)
    return TransportRequest(
      head: head, body: body, timeouts: configuration.timeouts,
      limits: configuration.transferLimits)
  }

  /// What a request to another origin may carry: nothing that says who asks.
  private static let harmlessElsewhere: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .userAgent, .contentType, .range, .ifNoneMatch, .ifModifiedSince,
  ]
}

extension PageVisit {
  /// Judges an answer whose status is no success: an end, an empty page or a failure.
  func judge<Item: Sendable>(
    failed response: TransportResponse, hop: RedirectMachine.Hop,
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let body = await beginning(of: response, traffic: &traffic)
    let answer = answer(
      to: response, at: hop, document: document(of: body, response: response, decoder: decoder))
    switch try engine.screen(answer) {
    case .end:
      try engine.brokenPromise(by: answer).map { throw $0 }
      return nil
    case .emptyPage:
      try engine.brokenPromise(by: answer).map { throw $0 }
      var page = Page<Item>([])
      page.traffic = traffic
      return page
    case .failure(let failure):
      throw describe(failure, self.response(response.head, hop, body, decoder))
    case .page: throw describe(status: self.response(response.head, hop, body, decoder))
    }
  }

  /// What an error's body says: JSON, which explains errors beside pages of every format, or else the
  /// format of the pages.
  private func document<Item: Sendable>(
    of body: [UInt8], response: TransportResponse, decoder: any PageDecoder<Item>
  ) -> any PageDocument {
    if let value = try? JSONValue(parsing: body) { return ValueDocument(value) }
    do {
      var session = try decoder.begin(context(of: response))
      try session.receive(body)
      return try session.finish()
    } catch {
      // The status says enough, and the error quotes the body.
      return EmptyDocument()
    }
  }

  /// How much is kept of a body that explains a failure.
  static let longestRefusal = 64 << 10

  /// How long such a body is waited for.
  static let refusalPatience = Duration.seconds(5)

  /// The first 64 KiB of a body that explains a failure, or what comes of them in time; whatever goes
  /// wrong with it is no news.
  func beginning(of response: TransportResponse, traffic: inout Traffic) async -> [UInt8] {
    let beginning = Beginning()
    let clock = listing.client.environment.refusalClock
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

  /// A failure that the description recognised.
  func describe(
    _ failure: PageFailure, _ response: PageClient.Response
  ) -> RetryMachine.Failure {
    let head = response.head
    let words = failure.message.map { " It says: \(redactor.snippet($0.utf8))" } ?? ""
    let wait =
      failure.delay ?? ThrottleSignal.wait(
        in: head.headerFields, now: listing.client.environment.now())
      ?? failure.standardDelay
    let underlying = HTTPFailure(response: response, replacement: failure.cursor)
    func error(_ code: PageError.Code, _ sentence: String, _ advice: String = "") -> PageError {
      PageError(code, "\(sentence)\(words)\(advice)", underlying: underlying)
    }
    switch failure.kind {
    case .expired:
      return RetryMachine.Failure(
        error(
          .cursorExpired, "The server no longer knows the cursor.",
          " Start again, or go on by a key of your own."),
        cure: .none)
    case .throttled:
      return RetryMachine.Failure(
        error(.throttled, "The server asks to slow down."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true)
    case .notReady:
      return RetryMachine.Failure(
        error(.serverReportedFailure, "The page is not ready yet."), cure: .retries,
        isThrottling: true, retryAfter: wait, wasRefused: true, isPending: true)
    case .window:
      return RetryMachine.Failure(
        error(
          .resultWindowExceeded,
          "The server refuses to page any further, and more data exist.", " Narrow the query."),
        cure: .none)
    case .fatal, .empty:
      return RetryMachine.Failure(
        error(.serverReportedFailure, "The server reports a failure."), cure: .none)
    }
  }

  /// A status that nobody claimed.
  private func describe(status response: PageClient.Response) -> RetryMachine.Failure {
    let (head, body) = (response.head, response.body)
    let status = head.status
    let wait = ThrottleSignal.wait(in: head.headerFields, now: listing.client.environment.now())
    // GitHub and Google throttle with 403; only a signal tells that from a refusal.
    let isThrottling = status.code == 429 || status.code == 403 && wait != nil
    let code: PageError.Code =
      switch status.code {
      case 304: .unexpectedNotModified
      case 410 where position != .start: .cursorExpired
      default: isThrottling ? .throttled : .status
      }
    let snippet = body.isEmpty ? "" : " It says: \(redactor.snippet(body))"
    var error = PageError(code, "The server answered \(status.words).\(snippet)")
    if status.code == 401, let keeper = configuration.keeper, keeper.serves {
      error.message +=
        keeper.origin == listing.home
        ? " A credential that was just renewed is refused as well: check what the source gives."
        : " The client's credentials are for \(keeper.source.origin), and were not sent elsewhere."
    }
    error.underlying = HTTPFailure(response: response)
    let isRetryable = isThrottling || RetryPolicy.retryableStatuses.contains(status.code)
    // A gateway says 503 for a server that may have acted; only a throttle acts on nothing.
    return RetryMachine.Failure(
      error, cure: isRetryable ? .retries : .none, isThrottling: isThrottling, retryAfter: wait,
      wasRefused: isThrottling, isOutage: RetryPolicy.outageStatuses.contains(status.code))
  }

  /// The error as the caller gets to see it: with its request and what was spent, without secrets.
  func describe(_ error: PageError, after traffic: Traffic) -> PageError {
    var error = error
    error.traffic = traffic
    error.redactText(by: redactor)
    error.request = redactor.describe(request.method, request.url)
    error.redirectedTo = trail.url.map { redactor.describe($0) }
    return error
  }

  /// Says that a request is made again; `remaining` is how long an outage is still waited out.
  func logRetry(of error: PageError, after delay: Duration, remaining: Duration? = nil) {
    var metadata: Logger.Metadata = [
      "request": "\(redactor.describe(request.method, request.url))",
      "after": .stringConvertible(delay), "code": "\(error.code)",
      "error": "\(redactor.scrub(error.message))",
    ]
    metadata["remaining"] = remaining.map { .stringConvertible($0) }
    configuration.logger.notice("retry", metadata: metadata)
  }
}

extension HTTPResponse.Status {
  /// `404 Not Found`; HTTP/2 has no reasons.
  var words: String {
    reasonPhrase.isEmpty ? "\(code)" : "\(code) \(ServerText(reasonPhrase, limit: 80))"
  }
}

/// What has come of a body, for whoever reads it and whoever ends that.
private final class Beginning: Sendable {
  private let received = Mutex<[UInt8]>([])

  var bytes: [UInt8] { received.withLock { $0 } }
  var count: Int { received.withLock { $0.count } }

  func add(_ slice: [UInt8]) { received.withLock { $0 += slice } }
}
