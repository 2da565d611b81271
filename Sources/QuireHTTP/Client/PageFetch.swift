import HTTPTypes
import Logging
import QuireCore
import QuirePagination

/// The fetch of one page over HTTP: sends its request in as many attempts as needed, classifies and
/// decodes the response, and makes the page.
///
/// A page has several parts if its items are delivered as they arrive, else one. Requests other
/// than those for pages are fetched the same way.
final class PageFetch<Item: Sendable> {
  let listing: Listing
  let decoder: any PageDecoder<Item>
  /// The validators that the request sends, and those that the page leaves.
  let conditions: PageConditions
  /// The lists of the indexes in which the page is looked up, and of the page if it is an index, by
  /// the URLs of the indexes.
  var indexes: [String: [String]] = [:]
  /// How the walk recovers with this page if the server had expired its cursor; nil otherwise.
  var recovery: PageRecovery?
  /// Called with the position of the next page once the document is complete, before the items are
  /// decoded.
  var onNext: ((Position) -> Void)?
  /// Called earlier if the page's head states that position, with the expected number of body
  /// bytes; nil if requests must not overlap transfers.
  var onHead: ((Position, Int) -> Void)?
  private let attempts: PageAttempts
  /// The response to a request that was sent before the first attempt.
  private var early: EarlyResponse?
  /// The items of the page that were delivered.
  private var delivered: DeliveredItems
  /// The response that is being decoded, if more parts of the page follow.
  private var transfer: Transfer?
  /// Whether this fetch has delivered a part of the page, so that only it can continue the page.
  private(set) var isBegun = false

  /// A response whose body is being decoded.
  private final class Transfer {
    let response: Exchange.Response
    var session: any PageDecoding<Item>
    let note: PageFormatNote?
    /// The first 64 KiB of the body, in case a rule of the description recognizes it as a failure.
    var beginning: [[UInt8]] = []
    /// The number of bytes of the body so far, and the last one.
    var received = 0
    var lastByte: UInt8?
    /// The number of items so far, including bad items.
    var itemCount = 0
    /// Items that arrived together with the page's end.
    var held = DecodedItems<Item>([])
    /// The page without its items, and what follows it, once the body is complete.
    var document: any PageDocument = EmptyDocument()
    var continuation = Continuation()
    /// Whether the body ended properly.
    var isWhole = false
    /// The error that occurred after the items that were delivered.
    var fault: (any Error)?

    init(
      _ response: Exchange.Response, _ session: any PageDecoding<Item>, _ note: PageFormatNote?
    ) {
      self.response = response
      self.session = session
      self.note = note
    }
  }

  /// The classification of a response by its head.
  private enum Opening {
    /// A page to decode.
    case transfer(Transfer)
    /// A page without items; nil at the end of the listing.
    case answer(Page<Item>?)
  }

  /// Creates a fetch of the page that `request` asks for, without its first `itemOffset` items.
  /// `traffic` is the cost of earlier requests for the same page.
  init(
    _ listing: Listing, _ decoder: any PageDecoder<Item>, _ request: PageRequest,
    for sent: Bookmark? = nil, itemOffset: Int = 0, prepared: RedirectMachine.Hop? = nil,
    known: KnownPage? = nil, traffic: WalkReport.Traffic = .zero
  ) {
    self.listing = listing
    self.decoder = decoder
    let exchange = Exchange(listing, request, prepared: prepared, traffic: traffic)
    conditions = PageConditions(exchange: exchange, known: known)
    attempts = PageAttempts(exchange, for: sent)
    delivered = DeliveredItems(itemOffset)
  }

  /// The exchange of the request, with the cost of the page since its last part.
  private var exchange: Exchange { attempts.exchange }
  private var engine: PaginationEngine { listing.engine }
  private var shared: PageClient.Shared { listing.client.shared }
  private var redactor: Redactor { exchange.redactor }

  /// The continuation from which the request was made, with its secrets; nil for a plain first
  /// page.
  var sent: Bookmark? { attempts.sent }
  /// The request for the page.
  var request: PageRequest { exchange.request }
  /// The cost since the last part, including failed attempts.
  var traffic: WalkReport.Traffic {
    get { exchange.traffic }
    set { exchange.traffic = newValue }
  }
  /// The number of delivered items of the page, including those that an earlier walk delivered.
  var itemOffset: Int { delivered.count }

  // MARK: Parts

  /// Returns the next part of the page, which is the whole page unless items are delivered as they
  /// arrive; nil if the listing ended before the page.
  func nextPart(_ delivery: PageDelivery) async throws -> Page<Item>? {
    if let early { await early.waitUntilArrived() } else if isResizable { try attempts.resize() }
    return try await attempts.repeating(isResizable: { isResizable }) {
      try await attemptPart(delivery)
    }
  }

  /// Whether a page of another size may be asked for: not if items of this one were delivered.
  private var isResizable: Bool { !isBegun && itemOffset == 0 }

  /// Makes one attempt for the next part. The transfer is only kept if more parts follow, so an
  /// error ends it.
  private func attemptPart(_ delivery: PageDelivery) async throws -> Page<Item>? {
    let transfer: Transfer
    switch try await open(delivery) {
    case .transfer(let opened): transfer = opened
    case .answer(let page):
      try delivered.refuteEnd()
      if page != nil { listing.health.pageReceived(refund: exchange.takeRefund()) }
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

  /// Returns the items that are ready as a part; nil if there are none.
  @inline(never)
  private func readyPart(of transfer: Transfer) throws -> Page<Item>? {
    let ready = try transfer.session.readyItems()
    transfer.itemCount += ready.count
    guard transfer.response.body.isOver else { return try part(ready, of: transfer) }
    // Items that arrive together with the page's end are not a part of their own: a page that is
    // complete at once is delivered as one part in all delivery modes.
    transfer.held.append(ready)
    return nil
  }

  /// Returns the held items as a part before an error; nil if there are none.
  @inline(never)
  private func part(of transfer: Transfer, before error: any Error) throws -> Page<Item>? {
    guard transfer.held.count > 0, !transfer.isWhole, !(error is CancellationError) else {
      return nil
    }
    transfer.fault = error
    return try part(transfer.held, of: transfer)
  }

  /// Returns the last part of the page; nil if the listing ended before the page.
  @inline(never)
  private func lastPart(of transfer: Transfer) throws -> Page<Item>? {
    let isPage = try finish(transfer)
    transfer.isWhole = true
    guard isPage else {
      try delivered.refuteEnd()
      return nil
    }
    let page = try wholePage(of: transfer)
    listing.health.pageReceived(refund: exchange.takeRefund())
    exchange.traffic = .zero
    return page
  }

  /// Returns a part that other parts follow; nil if it has no items to deliver.
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
    part.head.traffic.items = items.items.count
    // The consumer may take long with the part, and other requests need not wait for it.
    transfer.response.permit?.end()
    self.transfer = transfer
    isBegun = true
    exchange.traffic = .zero
    return part
  }

  /// Returns the open transfer, or the transfer of a new request.
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
    return .answer(try await classifyErrorStatus(response))
  }

  /// Returns the response to a new request, or to the one that was sent ahead.
  private func send() async throws -> Exchange.Response {
    if let early = early.take() { return try early.response() }
    begin()
    return try await exchange.send()
  }

  @inline(never)
  private func begin() {
    delivered.began()
    // If items were delivered, the rest of the page is needed even if the page is unchanged.
    exchange.condition = delivered.count == 0 ? conditions.entry : nil
  }

  /// Sends the request ahead of time, while the page before is decoded: once `urgency`, of the page
  /// before, says that its walk reads on. Releasing the fetch cancels the request.
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
    guard status.code != 206 || isRequestedRange(response.head.headerFields) else {
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
    context.columns = listing.format.columns
    let session = try decoder.begin(context)
    if let onHead, let bytes = context.expectedBytes,
      let next = engine.finder.next(inHeadOf: answer(to: response, document: EmptyDocument()))
    {
      onHead(next, bytes)
    }
    return .transfer(Transfer(response, session, context.note))
  }

  /// Returns the next slice of a body, and counts it against the limits on bytes; nil at the end.
  private func nextSlice(of response: Exchange.Response) async throws -> [UInt8]? {
    guard let slice = try await response.body.next() else { return nil }
    exchange.traffic.bytes += slice.count
    response.permit?.received(bytes: slice.count)
    try WalkReading.received(bytes: slice.count)
    try Task.checkCancellation()
    return slice
  }

  /// Decodes the next slice of the body. Returns false at the end.
  private func receive(_ transfer: Transfer) async throws -> Bool {
    guard let slice = try await nextSlice(of: transfer.response) else { return false }
    // Only kept if a rule may need it: a second reference to the slice makes the decoder copy it
    // before changing it.
    if transfer.received < Exchange.longestRefusal, !engine.pagination.policy.failure.isEmpty {
      transfer.beginning.append(slice)
    }
    transfer.received += slice.count
    transfer.lastByte = slice.last ?? transfer.lastByte
    try transfer.session.receive(slice)
    return true
  }

  /// Checks that the body is complete, and adds the items that no part had to those that are held.
  /// Returns false if the answer says that the listing ended before the page.
  private func finish(_ transfer: Transfer) throws -> Bool {
    let response = transfer.response
    let isBodyless = response.status.isBodyless
    // A number alone does not show whether more of its digits were to come.
    let endsInDigit = transfer.lastByte.map { (0x30...0x39).contains($0) } ?? false
    let isSelfDelimiting = (transfer.note?.format?.isSelfDelimiting ?? true) && !endsInDigit
    let isProven = response.framing == .explicit || shared.configuration.acceptsUnprovenEnd
    guard isProven || decoder.isSelfDelimiting && isSelfDelimiting else {
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
    if !isBodyless { transfer.document = try transfer.session.finish() }
    let answer = answer(to: response, document: transfer.document)
    // Without a body, the format is chosen only at the end.
    if !isBodyless, transfer.received == 0, transfer.note?.format?.isSelfDelimiting == false {
      try checkEmptyBody(of: answer, isProven: isProven)
    }
    switch try engine.reader.classify(answer) {
    case .end:
      try engine.reader.checkPromise(of: answer)
      return false
    case .failure(let failure):
      let body = Array(transfer.beginning.joined().prefix(Exchange.longestRefusal))
      throw RetryMachine.Failure(failure, self.response(response, body), listing, redactor)
    case .emptyPage:
      try engine.reader.checkPromise(of: answer)
      try findContinuation(after: transfer, answer)
      return true
    case .page:
      guard !isBodyless else { throw PageError.noPage(self.response(response, [])) }
      return try addItems(of: transfer, answer)
    }
  }

  /// Adds the items of a complete page that no part had to those that are held. Returns false if the
  /// listing ended before the page. Evaluates the document before the items are decoded, so that the
  /// next page can be requested meanwhile.
  private func addItems(of transfer: Transfer, _ answer: PageAnswer) throws -> Bool {
    var items: DecodedItems<Item>?
    if let count = try transfer.session.itemCount() {
      transfer.itemCount += count
    } else {
      let decoded = try transfer.session.items()
      transfer.itemCount += decoded.count
      items = decoded
    }
    try engine.reader.checkTotals(of: answer)
    if transfer.itemCount == 0 { try engine.reader.checkMembers(of: answer) }
    if try engine.reader.isRepetition(answer) {
      try engine.reader.checkPromise(ofRepetition: answer)
      return false
    }
    listing.format.bind(transfer.note?.format, columns: transfer.note?.columns)
    try findContinuation(after: transfer, answer)
    if transfer.itemCount > 0, let next = transfer.continuation.next { onNext?(next) }
    if transfer.itemCount == 0, transfer.continuation.next == nil,
      let warning = engine.reader.failureWarning(about: answer)
    {
      transfer.continuation.warnings.append(warning)
    }
    // Last of all: items that are held when an error comes are delivered before it.
    transfer.held.append(try items ?? transfer.session.items())
    return true
  }

  /// Finds the continuation after a page, and applies what the page says about the next requests.
  private func findContinuation(after transfer: Transfer, _ answer: PageAnswer) throws {
    transfer.continuation = engine.finder.continuation(after: answer, itemCount: transfer.itemCount)
    if let wait = engine.reader.backoff(after: answer) {
      listing.client.budget.pause(listing.lane(to: listing.home), for: wait)
    }
    listing.learn(from: answer.document, transfer.response.permit?.grant)
    if engine.indexRouteExists, let next = transfer.continuation.next {
      try keepIndex(answer, before: Bookmark(next))
    }
  }

  /// Keeps the pages that an answer lists, if it is an index in which the next page is looked up.
  @inline(never)
  private func keepIndex(_ answer: PageAnswer, before next: Bookmark) throws {
    let url = answer.request.url
    guard engine.indexes(neededAt: next).last == url else { return }
    indexes[url] = try engine.reader.pages(listedIn: answer)
  }

  /// Throws `truncated` for an empty body in a format of lines, which looks like a lost page.
  /// Accepts it if the description ends the listing by a page without items, or if the head states
  /// the next page.
  private func checkEmptyBody(of answer: PageAnswer, isProven: Bool) throws(PageError) {
    let end = engine.pagination.end
    if isProven, end.contains(.emptyPage) || end.contains(.shortPage) { return }
    if isProven, engine.hasNext(inHeadOf: answer) { return }
    throw PageError(
      .truncated, "The server answered 200 without a body, where lines of items were to come.",
      remedies: [
        Remedy(.end, ["emptyPage"], condition: "if an empty page is the end of the listing")
      ])
  }

  /// Returns whether the response is the part that was asked for: from the same item on, and no
  /// longer (RFC 9110, §15.3.7).
  private func isRequestedRange(_ fields: HTTPFields) -> Bool {
    guard let wanted = request.headerFields[.range] else { return false }
    // A range in another unit, such as names, cannot be checked.
    guard let wanted = ItemRange(wanted)?.range else { return true }
    guard let came = fields[.contentRange].flatMap(ItemRange.init)?.range else { return false }
    return came.lowerBound == wanted.lowerBound && came.upperBound <= wanted.upperBound
  }

  // MARK: Pages

  /// Returns the last part of a page that has come whole, with its continuation.
  private func wholePage(of transfer: Transfer) throws -> Page<Item> {
    let continuation = transfer.continuation
    // Reversed before overlapping items are dropped: the next page repeats those at the end towards
    // which the walk goes.
    if engine.pagination.policy.reversesItems { transfer.held.items.reverse() }
    if continuation.next != nil { transfer.held.dropLast(engine.pagination.policy.overlap) }
    let items = try delivered.received(transfer.held, isLast: true)
    var head = head(
      of: transfer.response, fingerprint: items.fingerprint ?? delivered.hash,
      badItems: items.badItems,
      document: transfer.document, resume: continuation.resume)
    head.form = listing.format.form
    head.traffic.items = items.items.count
    head.next = continuation.next
    head.previous = continuation.previous
    head.total = continuation.total
    head.nextFailure = continuation.nextFailure.map { exchange.describe($0, after: .zero) }
    head.closing = continuation.closing
    head.warnings = continuation.warnings
    head.endDoubt = continuation.endDoubt.map { exchange.describe($0, after: .zero) }
    if transfer.response.hop.text != request.url, sent == nil {
      var answered = request
      answered.url = transfer.response.hop.text
      answered.method = transfer.response.hop.method
      head.answeredIdentity = listing.identity(of: answered)
    }
    if sent?.recoveries ?? 0 > 0 {
      // After a restart of the listing, the same pages come again without being a loop.
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

  /// Returns the head of a part of the page.
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
    head.metadata = PageMetadata(
      HTTPPageInfo(
        head: response.head, document: document, badItems: redacted(badItems),
        metrics: metrics, traffic: head.traffic, url: response.hop.text,
        permanentRedirect: exchange.movedTo, recovery: recovery, resume: resume, listing: listing,
        asked: request, sent: sent, fieldDecoder: { [decoder] in decoder as? any FieldDecoder }))
    return head
  }

  /// Returns the page for a 304, which is unchanged since the last time.
  @inline(never)
  private func unchanged(
    _ response: Exchange.Response, _ entry: PageValidators.Entry
  ) -> Page<Item> {
    conditions.renew(response.head.headerFields)
    var head = head(of: response)
    head.next = entry.next
    head.isUnchanged = true
    return Page([], head: head)
  }

  /// Returns bad items with secrets redacted in their descriptions.
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
      headerFields: response.head.headerFields, document: document, requestedBookmark: sent)
    answer.indexes = indexes
    return answer
  }

  /// Returns a response in its public form.
  private func response(
    _ response: Exchange.Response, _ body: [UInt8]
  ) -> PageClient.Response {
    PageClient.Response(
      response.head, url: response.hop.text, permanentRedirect: exchange.movedTo, body: body,
      decoder: decoder, limits: shared.configuration.decodingLimits, redactor: redactor)
  }

  /// Classifies a response whose status is not a success as an end, an empty page or a failure.
  private func classifyErrorStatus(
    _ response: Exchange.Response
  ) async throws -> Page<Item>? {
    let body = await exchange.beginning(of: response)
    // If the task was cancelled, the body may be incomplete.
    try Task.checkCancellation()
    let answer = answer(to: response, document: document(of: body, response))
    switch try engine.reader.classify(answer) {
    case .end:
      try engine.reader.checkPromise(of: answer)
      return nil
    case .emptyPage:
      try engine.reader.checkPromise(of: answer)
      return Page([], head: head(of: response, document: answer.document))
    case .failure(let failure):
      throw RetryMachine.Failure(failure, self.response(response, body), listing, redactor)
    case .page:
      throw RetryMachine.Failure(
        status: self.response(response, body), isFirst: sent == nil, listing,
        redactor)
    }
  }

  /// Returns the document of an error's body: JSON, which explains errors in APIs of every format,
  /// or else the format of the pages.
  private func document(of body: [UInt8], _ response: Exchange.Response) -> any PageDocument {
    if let value = try? JSONValue(parsing: body) { return ValueDocument(value) }
    do {
      var session = try decoder.begin(context(of: response))
      try session.receive(body)
      return try session.finish()
    } catch {
      // The status is enough, and the error message quotes the body.
      return EmptyDocument()
    }
  }
}

extension HTTPResponse.Status {
  /// Whether the status says by itself that nothing was meant to come (RFC 9110, §15.3.5 and §15.3.6).
  fileprivate var isBodyless: Bool { [204, 205].contains(code) }
}

// MARK: - Requests beside those for pages

extension PageFetch {
  /// Returns the answer to a request whose document is needed but not its items.
  func answer() async throws -> PageAnswer {
    try await attempts.repeating {
      let response = try await success()
      var session = try decoder.begin(context(of: response))
      while let slice = try await nextSlice(of: response) { try session.receive(slice) }
      let isBodyless = response.status.isBodyless
      let answer = answer(
        to: response, document: isBodyless ? EmptyDocument() : try session.finish())
      switch try engine.reader.classify(answer) {
      case .failure(let failure):
        throw RetryMachine.Failure(failure, self.response(response, []), listing, redactor)
      case .page: if isBodyless { throw PageError.noPage(self.response(response, [])) }
      case .end, .emptyPage: break
      }
      listing.health.pageReceived(refund: exchange.takeRefund())
      return answer
    }
  }

  /// Returns the response to a plain request, with its complete body.
  func response() async throws -> PageClient.Response {
    try await attempts.repeating {
      let response = try await success()
      var body: [UInt8] = []
      while let slice = try await nextSlice(of: response) { body += slice }
      if response.framing == .untilClose, !shared.configuration.acceptsUnprovenEnd {
        // Only the format can prove that the body is complete.
        var session = try decoder.begin(context(of: response))
        try session.receive(body)
        _ = try session.finish()
      }
      listing.health.pageReceived(refund: exchange.takeRefund())
      return self.response(response, body)
    }
  }

  /// Sends the request once and ignores the body of its answer. Throws if the status is not a
  /// success.
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

  /// Returns the response if its status is a success, and throws otherwise.
  private func success() async throws -> Exchange.Response {
    let response = try await exchange.send()
    guard response.status.kind == .successful else {
      _ = try await classifyErrorStatus(response)
      throw PageError(.status, "The server answered \(response.status.words).")
    }
    return response
  }
}
