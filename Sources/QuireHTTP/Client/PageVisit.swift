import HTTPTypes
import QuireCore

/// One page being fetched: sends its request, follows redirects, screens and decodes the answer.
///
/// Every failure leaves here as a `RetryMachine.Failure`, so that one place decides about another
/// attempt.
struct PageVisit {
  let listing: Listing
  let request: PageRequest
  let position: Position
  var indexes: [String: [String]] = [:]
  let trail = RedirectTrail()

  var engine: PaginationEngine { listing.engine }
  var configuration: PageClient.Configuration { listing.client.configuration }

  /// What decides about further attempts; each page, and each part of one, begins anew.
  var retryMachine: RetryMachine {
    RetryMachine(
      policy: configuration.retry, isRepeatable: listing.isRepeatable || request.method.isSafe)
  }

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
    RetryMachine.Failure(error, cure: error.code.cure, wasRefused: error.code == .connectFailed)
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
    let session = try decoder.begin(context(of: response, delivery))
    return .transfer(
      PageTransfer(
        response: response, hop: hop, session: session, isSelfDelimiting: decoder.isSelfDelimiting,
        fieldDecoder: decoder as? any FieldDecoder))
  }

  /// Decodes the next slice of the body; false when there is none.
  func receive<Item: Sendable>(
    _ transfer: inout PageTransfer<Item>, traffic: inout Traffic
  ) async throws -> Bool {
    guard let slice = try await transfer.response.body.next() else { return false }
    transfer.received += slice.count
    traffic.bytes += slice.count
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
    // An empty body that was declared empty is an answer; one that merely stopped is a truncation.
    let isEmpty = transfer.received == 0 && response.framing == .explicit
    let proven = response.framing == .explicit || transfer.isSelfDelimiting
    guard proven || configuration.acceptsUnprovenEnd else {
      throw PageError(
        .truncated,
        """
        The body ended with its connection, and this format cannot show that nothing is missing. \
        Where such bodies are known to be whole, set configuration.acceptsUnprovenEnd to true.
        """)
    }
    let document = isEmpty ? EmptyDocument() : try transfer.session.finish()
    let answer = answer(to: response, at: transfer.hop, document: document)
    switch try engine.screen(answer) {
    case .end: return nil
    case .failure(let failure): throw describe(failure, response.head)
    case .emptyPage: return (answer, DecodedItems([]))
    case .page:
      let items = isEmpty ? DecodedItems([]) : try transfer.session.items()
      transfer.itemCount += items.count
      return try engine.isRepetition(answer) ? nil : (answer, items)
    }
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
    page.startsMidway = engine.startsMidway
    page.traffic = traffic
    page.traffic.badItems = items.badItems.count
    page.metadata[HTTPPageInfo.self] = HTTPPageInfo(
      head: transfer.response.head, document: document, badItems: redacted(items.badItems),
      metrics: transfer.response.body.metrics, traffic: page.traffic, url: transfer.hop.url.text,
      resume: resume, visit: self, fieldDecoder: transfer.fieldDecoder)
    return page
  }
}
