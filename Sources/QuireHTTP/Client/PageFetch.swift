import HTTPTypes
import Logging
import QuireCore
import QuirePagination

/// One page over HTTP: has its request sent, classifies and decodes the response, in as many attempts as it
/// takes, and makes the page of it.
///
/// A page comes in parts where its items are wanted as they arrive, else in one part. Requests beside
/// those for pages are fetched the same way.
final class PageFetch<Item: Sendable> {
  let listing: Listing
  let decoder: any PageDecoder<Item>
  /// What is asked by whether the page has changed, and kept of it to ask by.
  let conditions: PageConditions
  /// The indexes that the page may be in the middle of, by their addresses.
  var indexes: [String: [String]] = [:]
  /// How the walk goes on with this page if the server had forgotten its cursor.
  var recovery: PageRecovery?
  /// What is to be done as soon as it is known where the next page is, before the items are decoded.
  var onNext: ((Position) -> Void)?
  /// The same for a page whose head says it already, with the bytes that are to come; nil where that is too early.
  var onHead: ((Position, Int) -> Void)?
  private let attempts: PageAttempts
  /// The answer to a request that was sent ahead of the first attempt.
  private var early: EarlyResponse?
  /// What was delivered of the page.
  private var delivered: DeliveredItems
  /// The response that is being decoded, where more parts of the page follow.
  private var transfer: Transfer?
  /// Whether a part of the page was delivered by this fetch, so that only it can continue the page.
  private(set) var isBegun = false

  /// A response whose body is being decoded.
  private final class Transfer {
    let response: Exchange.Response
    var session: any PageDecoding<Item>
    let note: PageFormatNote?
    /// The first 64 KiB of the body, in case it explains a failure by a rule of the description.
    var beginning: [[UInt8]] = []
    /// Bytes of the body so far.
    var received = 0
    /// Items so far, bad items included.
    var itemCount = 0
    /// Items that came with the page's end.
    var held = DecodedItems<Item>([])
    /// What follows the page, once its document is whole.
    var continuation = Continuation()
    /// Whether the body ended as it should.
    var isWhole = false
    /// What is wrong with the page behind the items that were delivered.
    var fault: (any Error)?

    init(
      _ response: Exchange.Response, _ session: any PageDecoding<Item>, _ note: PageFormatNote?
    ) {
      self.response = response
      self.session = session
      self.note = note
    }
  }

  /// What a response is once its head has arrived.
  private enum Opening {
    /// A page to be decoded.
    case transfer(Transfer)
    /// A page without items, or nil for the end of the listing.
    case answer(Page<Item>?)
  }

  /// A fetch of the page that `request` asks for, without its first `itemOffset` items. `traffic` is
  /// what was spent to get there.
  init(
    _ listing: Listing, _ decoder: any PageDecoder<Item>, _ request: PageRequest,
    for sent: Bookmark? = nil, itemOffset: Int = 0, prepared: RedirectMachine.Hop? = nil,
    known: KnownPage? = nil, traffic: WalkReport.Traffic = WalkReport.Traffic(requests: 0)
  ) {
    self.listing = listing
    self.decoder = decoder
    let exchange = Exchange(listing, request, prepared: prepared, traffic: traffic)
    conditions = PageConditions(exchange: exchange, known: known)
    attempts = PageAttempts(exchange, for: sent)
    delivered = DeliveredItems(itemOffset)
  }

  /// The request on the wire, and what the page has cost since its last part.
  private var exchange: Exchange { attempts.exchange }
  private var engine: PaginationEngine { listing.engine }
  private var shared: PageClient.Shared { listing.client.shared }
  private var redactor: Redactor { exchange.redactor }

  /// What the request was made of, secrets restored; nil for the plain first page.
  var sent: Bookmark? { attempts.sent }
  /// The request for the page.
  var request: PageRequest { exchange.request }
  /// What was spent since the last part, failed attempts included.
  var traffic: WalkReport.Traffic {
    get { exchange.traffic }
    set { exchange.traffic = newValue }
  }
  /// Items of the page that were delivered, in this walk or before it.
  var itemOffset: Int { delivered.count }

  // MARK: Parts

  /// The next part of the page, which is the whole page unless items are wanted as they arrive; nil
  /// where the listing ended before the page.
  func nextPart(_ delivery: PageDelivery) async throws -> Page<Item>? {
    if let early { await early.arrive() } else if isResizable { try attempts.resize() }
    return try await attempts.repeating(isResizable: { isResizable }) {
      try await attemptPart(delivery)
    }
  }

  /// Whether a page of another size would do: not where items of this one were delivered.
  private var isResizable: Bool { !isBegun && itemOffset == 0 }

  /// The transfer is kept only where more parts follow: throwing ends it.
  private func attemptPart(_ delivery: PageDelivery) async throws -> Page<Item>? {
    let transfer: Transfer
    switch try await open(delivery) {
    case .transfer(let opened): transfer = opened
    case .answer(let page):
      try delivered.refuteEnd()
      return page
    }
    do {
      while try await receive(transfer) {
        guard delivery == .asItArrives else { continue }
        if let part = try readyPart(of: transfer) { return part }
      }
      return try lastPart(of: transfer)
    } catch {
      guard let part = try part(of: transfer, before: error) else { throw error }
      return part
    }
  }

  /// The items that are ready, as a part of their own; nil without any.
  @inline(never)
  private func readyPart(of transfer: Transfer) throws -> Page<Item>? {
    let ready = try transfer.session.readyItems()
    transfer.itemCount += ready.count
    guard transfer.response.body.isOver else { return try part(ready, of: transfer) }
    // Items that came with the page's end are no part of their own: where all of a page is there at once,
    // it is one part, as it is where pages are wanted whole.
    transfer.held.append(ready)
    return nil
  }

  /// The items that were held when something went wrong with the page behind them; nil without any.
  @inline(never)
  private func part(of transfer: Transfer, before error: any Error) throws -> Page<Item>? {
    guard transfer.held.count > 0, !transfer.isWhole, !(error is CancellationError) else {
      return nil
    }
    transfer.fault = error
    return try part(transfer.held, of: transfer)
  }

  /// The last part of the page; nil where the listing ended before it.
  @inline(never)
  private func lastPart(of transfer: Transfer) throws -> Page<Item>? {
    let end = try finish(transfer)
    transfer.isWhole = true
    guard let (answer, rest) = end else {
      try delivered.refuteEnd()
      return nil
    }
    transfer.held.append(rest)
    let page = try lastPart(transfer.held, of: transfer, answer: answer)
    listing.health.paid(refund: exchange.takeRefund())
    exchange.traffic = WalkReport.Traffic(requests: 0)
    return page
  }

  /// A part of the page that more follow, or nil without items to deliver.
  private func part(
    _ ready: DecodedItems<Item>, of transfer: Transfer
  ) throws -> Page<Item>? {
    let items = try delivered.received(ready, isLast: false)
    guard !items.items.isEmpty else { return nil }
    var part = Page(
      items.items,
      head: head(
        of: transfer.response, fingerprint: items.fingerprint, badItems: items.badItems))
    part.hasMoreParts = true
    // What the consumer does with it takes its time.
    transfer.response.permit?.end()
    self.transfer = transfer
    isBegun = true
    exchange.traffic = WalkReport.Traffic(requests: 0)
    return part
  }

  /// The open transfer, or that of a new request.
  private func open(_ delivery: PageDelivery) async throws -> Opening {
    if let transfer {
      self.transfer = nil
      if let fault = transfer.fault { throw fault }
      return .transfer(transfer)
    }
    let response = try await send()
    if response.status.kind == .successful { return try opening(response, delivery) }
    if response.status.code == 304, let known = exchange.condition {
      return .answer(unchanged(response, known))
    }
    return .answer(try await judge(response))
  }

  /// The response to a new request, or to the one that was sent ahead.
  private func send() async throws -> Exchange.Response {
    if let early = early.take() { return try early.response() }
    begin()
    return try await exchange.send()
  }

  @inline(never)
  private func begin() {
    delivered.began()
    // Of a page that items were delivered of, the rest is wanted whatever has changed.
    exchange.condition = delivered.count == 0 ? conditions.entry : nil
  }

  /// Sends the request while the page before this one is being decoded, as soon as this one is due by the urgency of
  /// that. Letting go of the fetch ends it.
  func sendAhead(by urgency: ReadUrgency) {
    begin()
    attempts.begin()
    let response = EarlyResponse(exchange, ReadUrgency(.ahead))
    urgency.whenReadingOn { [start = response.start] in start.resume(returning: ()) }
    early = response
  }

  @inline(never)
  private func opening(
    _ response: Exchange.Response, _ delivery: PageDelivery
  ) throws -> Opening {
    let status = response.status
    guard status.code != 206 || isWanted(part: response.head.headerFields) else {
      throw PageError(
        .protocolViolation,
        "The server answered 206 Partial Content, and this part was not asked for: items would be "
          + "missing.")
    }
    var context = context(of: response, delivery)
    context.url = response.hop.text
    context.isProvenWhole = response.framing == .explicit
    context.formats = listing.format.format.map { [$0] } ?? engine.pagination.formats
    context.note = PageFormatNote()
    let session = try decoder.begin(context)
    if let onHead, let bytes = context.expectedBytes,
      let next = engine.next(inHeadOf: answer(to: response, document: EmptyDocument()))
    {
      onHead(next, bytes)
    }
    return .transfer(Transfer(response, session, context.note))
  }

  /// The next slice of a body, counted against what limits bytes; nil when there is none.
  private func nextSlice(of response: Exchange.Response) async throws -> [UInt8]? {
    guard let slice = try await response.body.next() else { return nil }
    exchange.traffic.bytes += slice.count
    response.permit?.received(bytes: slice.count)
    try WalkReading.received(bytes: slice.count)
    try Task.checkCancellation()
    return slice
  }

  /// Decodes the next slice of the body; false when there is none.
  private func receive(_ transfer: Transfer) async throws -> Bool {
    guard let slice = try await nextSlice(of: transfer.response) else { return false }
    // Kept beside the decoder, it would have to copy the page before it changes it.
    if transfer.received < Exchange.longestRefusal, !engine.pagination.policy.failure.isEmpty {
      transfer.beginning.append(slice)
    }
    transfer.received += slice.count
    try transfer.session.receive(slice)
    return true
  }

  /// Makes sure that the body is whole, and returns the answer with the items that no part has had;
  /// nil where it says that the listing ended before the page.
  private func finish(
    _ transfer: Transfer
  ) throws -> (PageAnswer, DecodedItems<Item>)? {
    let response = transfer.response
    // Only these statuses say by themselves that nothing was meant to come (RFC 9110, §15.3.5 and §15.3.6).
    let isBodyless = [204, 205].contains(response.status.code)
    let isSelfDelimiting = transfer.note?.format?.isSelfDelimiting ?? true
    let proven =
      response.framing == .explicit || decoder.isSelfDelimiting && isSelfDelimiting
    guard proven || shared.configuration.acceptsUnprovenEnd else {
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
    let answer = answer(to: response, document: document)
    if !isBodyless, transfer.received == 0, transfer.note?.format?.isSelfDelimiting == false {
      try checkEmptyBody(
        of: answer,
        isProven: response.framing == .explicit || shared.configuration.acceptsUnprovenEnd)
    }
    switch try engine.screen(answer) {
    case .end:
      try engine.brokenPromise(by: answer).map { throw $0 }
      return nil
    case .failure(let failure):
      let body = Array(transfer.beginning.joined().prefix(Exchange.longestRefusal))
      throw self.failure(failure, self.response(response, body))
    case .emptyPage:
      try engine.brokenPromise(by: answer).map { throw $0 }
      try goOn(behind: transfer, answer)
      return (answer, DecodedItems([]))
    case .page:
      guard !isBodyless else { throw PageError.noPage(response.status) }
      return try items(of: transfer, answer).map { (answer, $0) }
    }
  }

  /// The items of a whole page that no part has had; nil where the listing ended before it. All that the document
  /// says is read before they are decoded, and the next page can be asked for.
  private func items(of transfer: Transfer, _ answer: PageAnswer) throws -> DecodedItems<Item>? {
    var items: DecodedItems<Item>?
    if let count = try transfer.session.itemCount() {
      transfer.itemCount += count
    } else {
      let decoded = try transfer.session.items()
      transfer.itemCount += decoded.count
      items = decoded
    }
    try engine.checkTotals(of: answer)
    if transfer.itemCount == 0 { try engine.checkMembers(of: answer) }
    if try engine.isRepetition(answer) {
      try engine.brokenPromise(byRepetition: answer).map { throw $0 }
      return nil
    }
    listing.format.bind(transfer.note?.format)
    try goOn(behind: transfer, answer)
    if transfer.itemCount > 0, let next = transfer.continuation.next { onNext?(next) }
    return try items ?? transfer.session.items()
  }

  /// Finds what follows a page, and takes note of what the page says of the requests to come.
  private func goOn(behind transfer: Transfer, _ answer: PageAnswer) throws {
    transfer.continuation = engine.continuation(after: answer, itemCount: transfer.itemCount)
    if let wait = engine.backoff(after: answer) {
      listing.client.budget.pause(listing.lane(to: listing.home), for: wait)
    }
    listing.learn(from: answer.document, transfer.response.permit?.grant)
    try listing.remember(answer, next: transfer.continuation.next)
  }

  /// Throws `truncated` for a body of nothing, where lines were to come, the head does not lead on, and the
  /// description does not end the listing by a page without any: a list of no lines looks like a page that was lost.
  private func checkEmptyBody(of answer: PageAnswer, isProven: Bool) throws(PageError) {
    let end = engine.pagination.end
    if isProven, end.contains(.emptyPage) || end.contains(.shortPage) { return }
    if isProven, engine.leadsOn(fromHeadOf: answer) { return }
    throw PageError(
      .truncated, "The server answered 200 without a body, where lines of items were to come.",
      remedies: [
        Remedy(.end, ["emptyPage"], condition: "if an empty page is the end of the listing")
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

  // MARK: Pages

  /// The last part of the page, with what follows it.
  private func lastPart(
    _ rest: DecodedItems<Item>, of transfer: Transfer, answer: PageAnswer
  ) throws -> Page<Item> {
    let continuation = transfer.continuation
    var rest = rest
    // Reversed first: the next page repeats the items at the end towards which the walk goes.
    if engine.pagination.policy.reversesItems { rest.items.reverse() }
    if continuation.next != nil { rest.dropLast(engine.pagination.policy.overlap) }
    let items = try delivered.received(rest, isLast: true)
    var head = head(
      of: transfer.response, fingerprint: items.fingerprint ?? delivered.hash,
      badItems: items.badItems,
      document: answer.document, resume: continuation.resume)
    head.next = continuation.next
    head.previous = continuation.previous
    head.total = continuation.total
    let free = WalkReport.Traffic(requests: 0)
    if let failure = continuation.nextFailure {
      head.nextFailure = exchange.describe(failure, after: free)
    }
    head.closing = continuation.closing
    head.warnings = continuation.warnings
    if let doubt = continuation.endDoubt { head.endDoubt = exchange.describe(doubt, after: free) }
    if sent == nil, transfer.response.hop.text != request.url {
      var answered = request
      answered.url = transfer.response.hop.text
      answered.method = transfer.response.hop.method
      head.address = listing.identity(of: answered)
    }
    if sent?.restarts ?? 0 > 0 {
      // A listing that was begun anew brings the same pages again.
      head.fingerprint = nil
    } else {
      head.sample = delivered.sample
      head.sample?.isCounted = sent?.isCounted ?? false
      let policy = engine.pagination.policy
      if policy.overlap > 0 || policy.reversesItems { head.sample?.edges = PageEdges() }
    }
    attempts.noteSize(&head)
    return Page(items.items, head: head)
  }

  /// What HTTP said about a part of the page.
  private func head(
    of response: Exchange.Response, fingerprint: Int? = nil, badItems: [BadItem] = [],
    document: any PageDocument = EmptyDocument(), resume: Position? = nil
  ) -> PageHead {
    var head = PageHead()
    head.fingerprint = fingerprint
    head.startsMidway = engine.startsMidway
    head.traffic = traffic
    head.traffic.badItems = badItems.count
    let metrics = response.body.metrics
    head.readsAtOnce = metrics.requestsAtOnce
    head.metadata[HTTPPageInfo.self] = HTTPPageInfo(
      head: response.head, document: document, badItems: redacted(badItems),
      metrics: metrics, traffic: head.traffic, url: response.hop.text,
      permanentRedirect: exchange.movedTo, recovery: recovery, resume: resume, listing: listing,
      asked: request, sent: sent, fieldDecoder: decoder as? any FieldDecoder)
    return head
  }

  /// A page that is what it was the last time.
  @inline(never)
  private func unchanged(
    _ response: Exchange.Response, _ entry: PageValidators.Entry
  ) -> Page<Item> {
    conditions.renew(response.head.headerFields)
    listing.health.paid(refund: exchange.takeRefund())
    var head = head(of: response)
    head.next = entry.next
    head.isUnchanged = true
    return Page([], head: head)
  }

  /// Bad items, without secrets in what is said about them.
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

  // MARK: Answers

  private func context(
    of response: Exchange.Response, _ delivery: PageDelivery = .whole
  ) -> DecodingContext {
    var context = DecodingContext(
      contentType: response.head.headerFields.first(.contentType), items: engine.items,
      badItems: shared.configuration.badItems, limits: shared.configuration.decodingLimits,
      delivery: delivery)
    context.expectedBytes = response.head.headerFields.first(.contentLength).flatMap { Int($0) }
    return context
  }

  private func answer(
    to response: Exchange.Response, document: any PageDocument
  ) -> PageAnswer {
    var answer = PageAnswer(
      request: request, url: response.hop.text, status: response.status.code,
      headerFields: response.head.headerFields, document: document, sent: sent)
    answer.indexes = indexes
    return answer
  }

  /// A response as a caller gets it.
  private func response(
    _ response: Exchange.Response, _ body: [UInt8]
  ) -> PageClient.Response {
    PageClient.Response(
      response.head, url: response.hop.text, permanentRedirect: exchange.movedTo, body: body,
      decoder: decoder, limits: shared.configuration.decodingLimits, redactor: redactor)
  }

  /// Classifies a response whose status is no success: an end, an empty page or a failure.
  private func judge(
    _ response: Exchange.Response
  ) async throws -> Page<Item>? {
    let body = await exchange.beginning(of: response)
    // What came of the body before that is not what the server said.
    try Task.checkCancellation()
    let answer = answer(to: response, document: document(of: body, response))
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
      throw self.failure(failure, self.response(response, body))
    case .page:
      throw RetryMachine.Failure(
        status: self.response(response, body), isFirst: sent == nil, listing,
        redactor)
    }
  }

  private func failure(
    _ failure: PageFailure, _ response: PageClient.Response
  ) -> RetryMachine.Failure {
    RetryMachine.Failure(
      failure, response, now: listing.client.environment.now(), redactor)
  }

  /// What an error's body says: JSON, which explains errors beside pages of every format, or else the
  /// format of the pages.
  private func document(of body: [UInt8], _ response: Exchange.Response) -> any PageDocument {
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
}

// MARK: - Requests beside those for pages

extension PageFetch {
  /// The answer to a request of which the document counts and not the items.
  func answer() async throws -> PageAnswer {
    try await attempts.repeating {
      let response = try await success()
      var session = try decoder.begin(context(of: response))
      while let slice = try await nextSlice(of: response) { try session.receive(slice) }
      let answer = answer(to: response, document: try session.finish())
      if case .failure(let failure) = try engine.screen(answer) {
        throw self.failure(failure, self.response(response, []))
      }
      listing.health.paid(refund: exchange.takeRefund())
      return answer
    }
  }

  /// The response to a request that is for no page, with its whole body.
  func response() async throws -> PageClient.Response {
    try await attempts.repeating {
      let response = try await success()
      var body: [UInt8] = []
      while let slice = try await nextSlice(of: response) { body += slice }
      if response.framing == .untilClose, !shared.configuration.acceptsUnprovenEnd {
        // Only the format can show that nothing is missing.
        var session = try decoder.begin(context(of: response))
        try session.receive(body)
        _ = try session.finish()
      }
      listing.health.paid(refund: exchange.takeRefund())
      return self.response(response, body)
    }
  }

  /// Sends the request once; its answer is not looked at.
  func discard() async throws {
    let response: Exchange.Response
    exchange.awaitsHost = false
    do {
      response = try await exchange.send()
    } catch let failure as RetryMachine.Failure {
      throw failure.error
    }
    _ = await exchange.beginning(of: response)
    guard response.status.kind == .successful else {
      throw PageError(.status, "The server answered \(response.status.words).")
    }
  }

  /// The response, if its status is a success.
  private func success() async throws -> Exchange.Response {
    let response = try await exchange.send()
    guard response.status.kind == .successful else {
      _ = try await judge(response)
      throw PageError(.status, "The server answered \(response.status.words).")
    }
    return response
  }
}
