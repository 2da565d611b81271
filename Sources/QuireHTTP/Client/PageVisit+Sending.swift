import HTTPTypes
import Logging
import QuireCore

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
    try await listing.pacer?.ready { wait in
      configuration.logger.info("pause", metadata: ["after": .stringConvertible(wait)])
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
      hop, with: first.credential, replays: replays, traffic: &traffic)
    guard response.head.status.code == 401 else {
      keeper.accepted(first)
      return response
    }
    // Read first: a connection held meanwhile may be the one that the renewal needs.
    response.body = .bytes(await beginning(of: response, traffic: &traffic))
    guard let second = try await keeper.ticket(after: first, now) else { return response }
    configuration.logger.notice("credential renewed", metadata: ["origin": "\(origin)"])
    let answer = try await send(hop, with: second.credential, replays: 0, traffic: &traffic)
    if answer.head.status.code == 401 {
      keeper.refusedAgain(second)
    } else {
      keeper.accepted(second)
    }
    return answer
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
        "\(origin.shown) would send the request in the clear. Use https, or allow plain http in the "
          + "client's configuration.")
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
