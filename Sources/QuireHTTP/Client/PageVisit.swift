import HTTPTypes
import Logging
import QuireCore

/// One page being fetched: sends its request, follows redirects, screens and decodes the answer.
///
/// Every failure leaves here as a `RetryMachine.Failure`, so that one place decides about another
/// attempt.
struct PageVisit {
  let client: PageClient
  let home: Origin
  let engine: PaginationEngine
  let request: PageRequest
  let position: Position

  private var configuration: PageClient.Configuration { client.configuration }

  /// Made when something is to be said; most pages are fetched in silence.
  var redactor: Redactor {
    Redactor(fields: configuration.headers.appending(request.headerFields), url: request.url)
  }

  /// Makes one attempt, adding what it took to `traffic`.
  func attempt<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    do {
      return try await attemptRaw(decoder: decoder, traffic: &traffic)
    } catch let error as PageError {
      // A transport that failed before the wire has made its attempt all the same.
      throw RetryMachine.Failure(
        error, cure: error.code.cure, wasRefused: error.code == .connectFailed)
    }
  }

  private func attemptRaw<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let (response, hop) = try await send(traffic: &traffic)
    defer { traffic.requests += max(0, response.body.metrics.wireRequests - 1) }
    let status = response.head.status
    guard status.kind == .successful else {
      return try await judge(
        failed: response, hop: hop, decoder: decoder, traffic: &traffic)
    }
    guard status.code != 206 || request.headerFields[.range] != nil else {
      throw PageError(
        .protocolViolation, "The server answered 206 Partial Content, and no part was asked for.")
    }
    var session = try decoder.begin(context(of: response))
    var received = 0
    while let slice = try await response.body.next() {
      received += slice.count
      traffic.bytes += slice.count
      try session.receive(slice)
      try Task.checkCancellation()
    }
    // An empty body that was declared empty is an answer; one that merely stopped is a truncation.
    let isEmpty = received == 0 && response.framing == .explicit
    let proven = response.framing == .explicit || decoder.isSelfDelimiting
    guard proven || configuration.acceptsUnprovenEnd else {
      throw PageError(
        .truncated,
        "The body ended with its connection, and this format cannot show that nothing is missing.")
    }
    let document = isEmpty ? EmptyDocument() : try session.finish()
    let answer = answer(to: response, at: hop, document: document)
    switch try engine.screen(answer) {
    case .end: return nil
    case .failure(let failure): throw describe(failure, response.head)
    case .emptyPage:
      return page(DecodedItems([]), answer: answer, response: response, traffic: traffic)
    case .page:
      let items = isEmpty ? DecodedItems([]) : try session.items()
      return page(items, answer: answer, response: response, traffic: traffic)
    }
  }

  func context(of response: TransportResponse) -> DecodingContext {
    DecodingContext(
      contentType: response.head.headerFields[.contentType], items: engine.items,
      badItems: configuration.badItems, limits: configuration.decodingLimits)
  }

  func answer(
    to response: TransportResponse, at hop: RedirectMachine.Hop, document: any PageDocument
  ) -> PageAnswer {
    PageAnswer(
      request: request, url: hop.url.text, status: response.head.status.code,
      headerFields: response.head.headerFields, document: document, position: position)
  }

  private func page<Item: Sendable>(
    _ items: DecodedItems<Item>, answer: PageAnswer, response: TransportResponse, traffic: Traffic
  ) -> Page<Item> {
    let continuation = engine.continuation(after: answer, itemCount: items.count)
    var page = Page(
      items.items, next: continuation.next, previous: continuation.previous,
      total: continuation.total)
    page.nextFailure = continuation.nextFailure
    page.traffic = traffic
    page.traffic.requests += max(0, response.body.metrics.wireRequests - 1)
    page.traffic.badItems = items.badItems.count
    page.metadata[HTTPPageInfo.self] = HTTPPageInfo(
      head: response.head, document: answer.document, badItems: items.badItems,
      metrics: response.body.metrics, traffic: page.traffic, visit: self)
    return page
  }
}

extension PageVisit {
  /// Sends the request and follows redirects to the answer.
  private func send(
    traffic: inout Traffic
  ) async throws -> (TransportResponse, RedirectMachine.Hop) {
    let url = try URLReference(request.url)
    let first = RedirectMachine.Hop(
      method: request.method, url: url, origin: try Origin(url), keepsBody: request.body != .none)
    var redirects = RedirectMachine(first, home: home, longest: configuration.maximumRedirects)
    while true {
      let hop = redirects.current
      try checkScheme(of: hop.origin)
      try Task.checkCancellation()
      traffic.requests += 1
      configuration.logger.debug(
        "request", metadata: ["request": "\(redactor.describe(hop.method, hop.url.text))"])
      let response = try await client.transport.send(transportRequest(for: hop))
      let location = response.head.headerFields[.location]
      guard try redirects.received(status: response.head.status.code, location: location) != nil
      else { return (response, hop) }
      // A redirect's body says nothing; reading it lets the connection be used again.
      while try await response.body.next() != nil {}
    }
  }

  private func checkScheme(of origin: Origin) throws {
    guard origin.scheme == "https" || origin.isLoopback || configuration.allowsPlainHTTP else {
      throw PageError(
        .invalidURL,
        "\(origin) would send the request in the clear. Use https, or allow plain http in the "
          + "client's configuration.")
    }
  }

  private func transportRequest(for hop: RedirectMachine.Hop) throws -> TransportRequest {
    var fields = request.headerFields
    for field in configuration.headers where fields[field.name] == nil { fields.append(field) }
    if hop.origin != home {
      fields = fields.filtered { Self.harmlessElsewhere.contains($0.name) }
    }
    var body: [UInt8] = []
    if hop.keepsBody {
      switch request.body {
      case .none: break
      case .bytes(let bytes): body = bytes
      case .json(let value):
        body = Array(value.description.utf8)
        if fields[.contentType] == nil { fields[.contentType] = "application/json" }
      case .form(let text):
        body = Array(text.utf8)
        if fields[.contentType] == nil {
          fields[.contentType] = "application/x-www-form-urlencoded"
        }
      case .xml(let text):
        body = Array(text.utf8)
        if fields[.contentType] == nil { fields[.contentType] = "text/xml; charset=utf-8" }
      }
    } else {
      fields[.contentType] = nil
    }
    if fields[.accept] == nil {
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
