import HTTPTypes
package import QuireCore
package import QuirePagination

/// One page being fetched: sends its request, follows redirects, screens and decodes the answer.
///
/// Every failure leaves here as a `RetryMachine.Failure`, so that one place decides about another
/// attempt.
package struct PageVisit {
  let listing: Listing
  package let request: PageRequest
  package let position: Position
  var indexes: [String: [String]] = [:]
  /// Requests that the next attempt may put on the wire, silent replays included, redirects not.
  var requestsLeft = 1
  let trail = RedirectTrail()

  package var engine: PaginationEngine { listing.engine }
  var configuration: PageClient.Configuration { listing.client.configuration }

  /// Whether the page is asked for by counting items or pages.
  var isCounted: Bool { (try? Bookmark(position))?.isCounted ?? false }

  /// What decides about further attempts; each page, and each part of one, begins anew.
  var retryMachine: RetryMachine {
    RetryMachine(policy: configuration.retry, isRepeatable: isRepeatable)
  }

  /// Whether the request may be sent again when the server may have acted on it.
  var isRepeatable: Bool { request.method.isSafe || engine.pagination.request.isQuery }

  /// Made when something is to be said; most pages are fetched in silence.
  var redactor: Redactor {
    listing.redactor(for: request)
  }

  /// Makes one attempt, adding what it took to `traffic`.
  func attempt<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    do {
      return try await attemptRaw(decoder: decoder, traffic: &traffic)
    } catch let error as PageError {
      throw Self.failure(error)
    }
  }

  static func failure(_ error: PageError) -> RetryMachine.Failure {
    // A transport that failed before the wire has made its attempt all the same.
    RetryMachine.Failure(
      error, cure: error.code.cure, wasRefused: error.code == .connectFailed,
      isOutage: error.code == .connectFailed)
  }

  /// The failure of a request that got no answer, not even the beginning of one.
  static func failure(unanswered error: PageError) -> RetryMachine.Failure {
    var failure = failure(error)
    failure.isOutage = [.connectFailed, .timedOut, .truncated].contains(error.code)
    return failure
  }

  private func attemptRaw<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    switch try await open(decoder, .whole, traffic: &traffic) {
    case .answer(let page): return page
    case .transfer(var transfer):
      while try await receive(&transfer, traffic: &traffic) {}
      guard let (answer, items) = try finish(&transfer) else { return nil }
      return page(items, of: transfer, answer: answer, traffic: traffic)
    }
  }

  /// Sends the request and begins to decode the answer; an answer that is no success is judged.
  func open<Item: Sendable>(
    _ decoder: any PageDecoder<Item>, _ delivery: PageDelivery, traffic: inout Traffic
  ) async throws -> PageTransfer<Item>.Opening {
    let (response, hop) = try await send(traffic: &traffic)
    let status = response.head.status
    guard status.kind == .successful else {
      return .answer(
        try await judge(failed: response, hop: hop, decoder: decoder, traffic: &traffic))
    }
    guard status.code != 206 || isWanted(part: response.head.headerFields) else {
      throw PageError(
        .protocolViolation,
        "The server answered 206 Partial Content, and this part was not asked for: items would be "
          + "missing.")
    }
    var context = context(of: response, delivery)
    context.formats = listing.format.format.map { [$0] } ?? engine.pagination.formats
    context.note = PageFormatNote()
    let session = try decoder.begin(context)
    return .transfer(
      PageTransfer(
        response: response, hop: hop, session: session, decoder: decoder, note: context.note))
  }

  /// Decodes the next slice of the body; false when there is none.
  func receive<Item: Sendable>(
    _ transfer: inout PageTransfer<Item>, traffic: inout Traffic
  ) async throws -> Bool {
    guard let slice = try await transfer.response.body.next() else { return false }
    if transfer.received < Self.longestRefusal { transfer.beginning.append(slice) }
    transfer.received += slice.count
    traffic.bytes += slice.count
    try WalkReading.received(bytes: slice.count)
    try transfer.session.receive(slice)
    try Task.checkCancellation()
    return true
  }

  /// Makes sure that the body is whole, and returns the answer with the items not yet handed out;
  /// nil for the news that the listing ended before the page.
  func finish<Item: Sendable>(
    _ transfer: inout PageTransfer<Item>
  ) throws -> (PageAnswer, DecodedItems<Item>)? {
    let response = transfer.response
    // Only these statuses say by themselves that nothing was meant to come (RFC 9110, §15.3.5 and §15.3.6).
    let isBodyless = [204, 205].contains(response.head.status.code)
    let proven = response.framing == .explicit || transfer.decoder.isSelfDelimiting
    guard proven || configuration.acceptsUnprovenEnd else {
      throw PageError(
        .truncated,
        """
        The body ended with its connection, and this format cannot show that nothing is missing.
        """,
        remedies: [
          Remedy(
            .acceptsUnprovenEnd, ["true"], condition: "where such bodies are known to be whole")
        ])
    }
    let document = isBodyless ? EmptyDocument() : try transfer.session.finish()
    let answer = answer(to: response, at: transfer.hop, document: document)
    switch try engine.screen(answer) {
    case .end:
      try engine.brokenPromise(by: answer).map { throw $0 }
      return nil
    case .failure(let failure):
      let body = Array(transfer.beginning.joined().prefix(Self.longestRefusal))
      throw describe(
        failure, self.response(response.head, transfer.hop, body, transfer.decoder))
    case .emptyPage:
      try engine.brokenPromise(by: answer).map { throw $0 }
      return (answer, DecodedItems([]))
    case .page:
      guard !isBodyless else { throw Self.noPage(response.head.status) }
      let items = try transfer.session.items()
      try engine.checkTotals(of: answer)
      if transfer.itemCount + items.count == 0 { try engine.checkMembers(of: answer) }
      listing.format.bind(transfer.note?.format)
      transfer.itemCount += items.count
      return try engine.isRepetition(answer) ? nil : (answer, items)
    }
  }

  /// A status without a body, of which the description does not say what it means.
  private static func noPage(_ status: HTTPResponse.Status) -> PageError {
    PageError(
      .status,
      "The server answered \(status.words), which is neither a page nor an end by the description.",
      remedies: [
        Remedy(
          .end, ["status:\(status.code)"], condition: "where this API ends its listings so"),
        Remedy(
          .failure, ["\(status.code)"], condition: "where it means a page without items"),
      ])
  }

  /// Whether the part that came is the one that was asked for: from the same item on, and no further
  /// (RFC 9110, §15.3.7).
  private func isWanted(part fields: HTTPFields) -> Bool {
    guard let wanted = request.headerFields[.range] else { return false }
    // A range of another kind, such as that of names, is the server's to understand.
    guard let wanted = ItemRange(wanted)?.range else { return true }
    guard let came = fields[.contentRange].flatMap(ItemRange.init)?.range else { return false }
    return came.lowerBound == wanted.lowerBound && came.upperBound <= wanted.upperBound
  }

  func context(
    of response: TransportResponse, _ delivery: PageDelivery = .whole
  ) -> DecodingContext {
    DecodingContext(
      contentType: response.head.headerFields.first(.contentType), items: engine.items,
      badItems: configuration.badItems, limits: configuration.decodingLimits, delivery: delivery)
  }

  func answer(
    to response: TransportResponse, at hop: RedirectMachine.Hop, document: any PageDocument
  ) -> PageAnswer {
    var answer = PageAnswer(
      request: request, url: hop.url.text, status: response.head.status.code,
      headerFields: response.head.headerFields, document: document, position: position)
    answer.indexes = indexes
    return answer
  }

  /// Items set aside, without secrets in what is said about them.
  private func redacted(_ badItems: [BadItem]) -> [BadItem] {
    guard !badItems.isEmpty else { return [] }
    let redactor = redactor
    return badItems.map { item in
      var item = item
      item.path = redactor.scrub(item.path)
      item.message = redactor.scrub(item.message)
      return item
    }
  }

  /// The page, or the last part of it.
  func page<Item: Sendable>(
    _ items: DecodedItems<Item>, of transfer: PageTransfer<Item>, answer: PageAnswer,
    traffic: Traffic
  ) -> Page<Item> {
    let continuation = engine.continuation(after: answer, itemCount: transfer.itemCount)
    var items = items
    if continuation.next != nil { items.dropLast(engine.pagination.policy.overlap) }
    if engine.pagination.policy.reversesItems { items.items.reverse() }
    var page = page(
      items, of: transfer, document: answer.document, resume: continuation.resume,
      traffic: traffic)
    page.next = continuation.next
    page.previous = continuation.previous
    page.total = continuation.total
    page.nextFailure = continuation.nextFailure.map { describe($0, after: Traffic(requests: 0)) }
    page.closing = continuation.closing
    page.warnings += continuation.warnings
    page.endDoubt = continuation.endDoubt.map { describe($0, after: Traffic(requests: 0)) }
    if position.value == nil, transfer.hop.url.text != request.url {
      var answered = request
      answered.url = transfer.hop.url.text
      answered.method = transfer.hop.method
      page.address = listing.identity(of: answered)
    }
    if let seconds = engine.backoff(after: answer) { listing.pacer?.wait(for: seconds) }
    return page
  }

  /// What came, and what came with it.
  func page<Item: Sendable>(
    _ items: DecodedItems<Item>, of transfer: PageTransfer<Item>,
    document: any PageDocument = EmptyDocument(), resume: Position? = nil, traffic: Traffic
  ) -> Page<Item> {
    var page = Page(items.items)
    page.fingerprint = items.fingerprint
    page.sample = items.sample
    page.sample?.isCounted = isCounted
    page.startsMidway = engine.startsMidway
    page.traffic = traffic
    page.traffic.badItems = items.badItems.count
    let metrics = transfer.response.body.metrics
    page.head.readsAtOnce = metrics.requestsAtOnce
    page.metadata[HTTPPageInfo.self] = HTTPPageInfo(
      head: transfer.response.head, document: document, badItems: redacted(items.badItems),
      metrics: metrics, traffic: page.traffic, url: transfer.hop.url.text,
      resume: resume, visit: self, fieldDecoder: transfer.fieldDecoder)
    return page
  }
}

/// Requests beside those for pages.
extension PageVisit {
  /// Makes one attempt at an answer whose document counts and whose items do not.
  func answer<Item: Sendable>(
    decoder: any PageDecoder<Item>, traffic: inout Traffic
  ) async throws -> PageAnswer {
    do {
      let (response, hop) = try await send(traffic: &traffic)
      guard response.head.status.kind == .successful else {
        _ = try await judge(failed: response, hop: hop, decoder: decoder, traffic: &traffic)
        throw PageError(.status, "The server answered \(response.head.status.words).")
      }
      var session = try decoder.begin(context(of: response))
      while let slice = try await response.body.next() {
        traffic.bytes += slice.count
        try session.receive(slice)
        try Task.checkCancellation()
      }
      let answer = answer(to: response, at: hop, document: try session.finish())
      if case .failure(let failure) = try engine.screen(answer) {
        throw describe(failure, self.response(response.head, hop, [], decoder))
      }
      return answer
    } catch let error as PageError {
      throw Self.failure(error)
    }
  }

  /// Sends the request once; nobody waits for its answer to say anything.
  func discard(traffic: inout Traffic) async throws {
    let response: TransportResponse
    do {
      (response, _) = try await send(traffic: &traffic)
    } catch let failure as RetryMachine.Failure {
      throw failure.error
    }
    while try await response.body.next() != nil {}
    guard response.head.status.kind == .successful else {
      throw PageError(.status, "The server answered \(response.head.status.words).")
    }
  }
}
