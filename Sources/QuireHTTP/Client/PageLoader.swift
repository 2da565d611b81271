import HTTPTypes
import Logging
package import QuireCore
package import QuirePagination
import Synchronization

/// Reads the pages of one walk over HTTP, whole or in parts as they arrive.
///
/// Positions have placeholders for secrets outside of this type, and the secrets inside. Also sends
/// the other requests of a walk: the one that opens it before the first page, the one that closes
/// it after the last, those that recover from an expired cursor, and those for indexes of pages.
package final class PageLoader<Item: Sendable>: PageReader {
  private let listing: Listing
  private let decoder: any PageDecoder<Item>
  private let delivery: PageDelivery
  private let audit: WalkAudit?
  private let requested = Mutex(RequestedPages())
  private let known = Mutex<KnownPage?>(nil)
  /// The destination for which the walk last asked the identity, and which it probably reads next.
  private let nextDestination = Mutex<Destination?>(nil)
  /// The lists of the indexes that the walk is reading, by the URLs of the indexes.
  private let indexes: Mutex<[String: [String]]>
  /// Reports the walk to an observer; nil if the client has none.
  private let observation: WalkObservation?

  /// The pages that were requested and that the walk has not got, or not all of.
  private struct RequestedPages {
    /// A page of which more parts follow.
    var current: OpenPage?
    /// A page that was requested while the one before it arrived or was decoded.
    var next: OpenPage?
  }

  /// A fetch that continues at a position.
  // SAFETY: a read takes the value out of the lock before using it, so no other read can have it
  // then.
  private final class OpenPage: @unchecked Sendable {
    let position: Position
    let fetch: PageFetch<Item>

    init(_ fetch: PageFetch<Item>, at position: Position) {
      self.position = position
      self.fetch = fetch
    }
  }

  package convenience init(
    _ listing: Listing, _ decoder: any PageDecoder<Item>, _ delivery: PageDelivery = .whole,
    audit: WalkAudit? = nil
  ) {
    self.init(listing, decoder, delivery, audit, indexes: [:])
  }

  private init(
    _ listing: Listing, _ decoder: any PageDecoder<Item>, _ delivery: PageDelivery,
    _ audit: WalkAudit?, indexes: [String: [String]]
  ) {
    self.listing = listing
    self.decoder = decoder
    self.delivery = delivery
    self.audit = audit
    self.indexes = Mutex(indexes)
    let configuration = listing.client.shared.configuration
    observation = configuration.observer.map { WalkObservation($0, configuration.clock) }
  }

  package var repeatedPositions: Position.Repetition {
    listing.policy.handle ? .allowed : .refused
  }
  package var identity: ListingIdentity? { listing.identity }
  package var needsClosing: Bool { listing.policy.close != nil }
  package var allowsLookAhead: Bool { listing.policy.pacing.readsAhead }
  package var deliversParts: Bool { delivery == .asItArrives }

  package func copy() -> any PageReader<Item> {
    PageLoader(listing, decoder, delivery, audit?.copy(), indexes: indexes.withLock { $0 })
  }
  package func expect(_ known: KnownPage) { self.known.withLock { $0 = known } }
  package func leave() { requested.withLock { $0 = RequestedPages() } }
  package func leaveNext() { requested.withLock { $0.next = nil } }
  package func identity(of position: Position) -> Int {
    do {
      if let known = nextDestination.withLock({ $0 }), known.position == position {
        return listing.identity(of: known, itemOffset: position.itemOffset)
      }
      let destination = try listing.destination(of: position)
      // Destinations with secrets are not kept, because a secret may change before the page is
      // read.
      if let destination, !SecretParameters.isMarked(position) {
        nextDestination.withLock { $0 = destination }
      }
      return listing.identity(of: destination, itemOffset: position.itemOffset)
    } catch {
      return position.hashValue
    }
  }
  package func digest(of position: Position) -> UInt64 {
    ((try? Bookmark(position))?.place ?? position).digest
  }
  package func warnings(for end: WalkReport.End) -> [WalkReport.Warning] {
    audit?.warnings(end) ?? []
  }

  package func positions(
    after position: Position, total: Total?, pages: ClosedRange<Int>
  ) -> [Position] {
    guard listing.isRepeatable else { return [] }
    return listing.engine.counter.positions(
      after: position.value == nil ? nil : position, total: total, pages: pages)
  }

  // MARK: Pages

  // Runs outside the consumer's actor, because pages must not be decoded on the main thread.
  @concurrent package func read(at position: Position) async throws -> Page<Item>? {
    guard let observation else { return try await page(at: position) }
    return try await observation.reading(of: listing) { try await page(at: position) }
  }

  private func page(at position: Position) async throws -> Page<Item>? {
    if let form = position.trail?.form { listing.format.recall(form) }
    do {
      let open = take(at: position)
      if let open, open.isBegun { return try await part(of: open, at: position) }
      guard let destination = try await destination(at: position) else {
        return try await firstPage(at: position)
      }
      return try await laterPage(destination, at: position, open)
    } catch {
      throw listing.redacted(error)
    }
  }

  /// Decodes a position, restores its secrets, and returns it with its request; nil for the start.
  private func destination(at position: Position) async throws -> Destination? {
    if let known = nextDestination.withLock({ $0.take() }), known.position == position {
      return known
    }
    try await listing.findSecrets(of: position)
    return try listing.destination(of: position)
  }

  /// Returns a page after the first, or its first part, from the fetch that has requested it
  /// already if there is one. Recovers if the server has expired the cursor.
  private func laterPage(
    _ destination: Destination, at position: Position, _ asked: PageFetch<Item>?
  ) async throws -> Page<Item>? {
    do {
      return try await part(of: asked ?? fetch(destination, for: position), at: position)
    } catch {
      guard let fetch = try await fetch(instead: destination, after: error) else { throw error }
      return try await part(of: fetch, at: position)
    }
  }

  /// Returns the fetch by which the description recovers from an expired cursor; nil for other
  /// errors.
  private func fetch(
    instead lost: Destination, after error: any Error
  ) async throws -> PageFetch<Item>? {
    guard let error = error as? PageError else { return nil }
    let (sent, position) = (lost.bookmark, lost.position)
    let replacement = (error.underlying as? HTTPFailure)?.replacement
    guard listing.engine.finder.recovery(at: sent, from: error, replacement: replacement) != nil
    else { return nil }
    let (opened, traffic) = try await opened(after: error.traffic)
    guard
      let (instead, recovery) = listing.engine.finder.recovery(
        at: sent, from: error, replacement: replacement, reopened: opened ?? [])
    else { return nil }
    listing.client.shared.emit(.warning, .recovery(recovery, after: error.code))
    let fetch = try fetch(listing.destination(of: instead, at: position), for: position)
    fetch.traffic = traffic
    fetch.recovery = recovery
    return fetch
  }

  /// Returns the first page, or its first part.
  private func firstPage(at position: Position) async throws -> Page<Item>? {
    if opens { return try await openedPage(at: position) }
    return try await part(of: fetch(nil, for: position), at: position)
  }

  private var opens: Bool { @inline(never) get { listing.policy.open != nil } }

  /// Returns the first page after opening what the walk needs at the server.
  private func openedPage(at position: Position) async throws -> Page<Item>? {
    let (opened, traffic) = try await opened()
    guard let opened else {
      let fetch = fetch(nil, for: position)
      fetch.traffic = traffic
      return try await part(of: fetch, at: position)
    }
    var start = Bookmark(Bookmark.Target.start)
    start.carried = opened
    do {
      let fetch = fetch(try listing.destination(of: start, at: position), for: position)
      fetch.traffic = traffic
      return try await part(of: fetch, at: position)
    } catch {
      // The next attempt opens a new session, so this one is closed.
      let place = start.position
      Task.detachedCleanup(listing.client.shared.configuration.clock) {
        await self.close(at: place)
      }
      throw error
    }
  }

  /// Returns the fetch of the page at a position, after the items that the position says were
  /// delivered. A nil destination means the first page.
  @inline(never)
  private func fetch(_ destination: Destination?, for position: Position) -> PageFetch<Item> {
    PageFetch(
      listing, decoder, destination?.request ?? listing.engine.first, for: destination?.bookmark,
      itemOffset: position.itemOffset, prepared: destination?.hop, known: known.withLock { $0 })
  }

  /// Returns the next part of a page as the walk gets it.
  // Not inlined, because its locals would then be part of each caller's frame in every waiting
  // task.
  @inline(never)
  private func part(
    of fetch: PageFetch<Item>, at position: Position
  ) async throws -> Page<Item>? {
    let isFirst = !fetch.isBegun
    do {
      if isFirst, listing.engine.indexRouteExists { try await findIndexes(for: fetch) }
      fetch.onNext = { [unowned fetch] in self.askAhead(at: $0, after: fetch.traffic.bytes) }
      if isFirst, WalkReading.readingOn?.overlapsTransfers == true {
        fetch.onHead = { self.askAhead(at: $0, after: $1) }
      }
      defer { (fetch.onNext, fetch.onHead) = (nil, nil) }
      guard var page = try await fetch.nextPart(delivery) else {
        return Page.absent(after: fetch.traffic)
      }
      finish(&page, of: fetch, at: position, isFirst: isFirst)
      return page
    } catch {
      // A fetch that has delivered a part must continue the page, because it knows the delivered
      // items.
      if fetch.isBegun { keep(fetch, at: position) } else { leave() }
      throw error
    }
  }

  /// Requests the next page while the items of this one, of `bytes` bytes, are decoded or still
  /// arrive, if the walk reads it at once afterwards. So decoding does not delay the request.
  @inline(never)
  private func askAhead(at next: Position, after bytes: Int) {
    guard let urgency = WalkReading.readingOn, isAskedAhead,
      bytes <= urgency.mostBytesToReadOn ?? 0
    else { return }
    // In the form that the page's head will have, so that the later read recognizes it.
    var position = listing.secrets.redact(next)
    position.listing = listing.identity
    guard requested.withLock({ $0.next?.position }) != position,
      !SecretParameters.isMarked(position),
      let destination = try? listing.destination(of: position)
    else { return }
    nextDestination.withLock { $0 = destination }
    let fetch = fetch(destination, for: position)
    let page = OpenPage(fetch, at: position)
    requested.withLock { $0.next = page }
    fetch.sendAhead(by: urgency)
  }

  /// Whether a page can be requested as soon as its position is known, at no cost if it is not
  /// needed after all. False if the request makes the server forget the page before, if it depends
  /// on another request or on the outcome of that page, if it might wait out an outage, and for an
  /// observer, which sees one page at a time.
  private var isAskedAhead: Bool {
    listing.isRepeatable && !listing.policy.handle && observation == nil
      && !listing.engine.indexRouteExists && listing.sizes?.reduced == nil
      && listing.client.shared.configuration.retry.patience == .zero
  }

  @inline(never)
  private func finish(
    _ page: inout Page<Item>, of fetch: PageFetch<Item>, at position: Position, isFirst: Bool
  ) {
    page.head.position = position
    page.head.beginsAnew = isFirst && fetch.recovery == .restarted
    if let audit {
      let (head, count) = (page.head, page.items.count + (isFirst ? position.itemOffset : 0))
      // A page that is read on a guess may come before those in front of it, or be dropped.
      if ReadUrgency.current?.level == .guess {
        page.head.onDelivery = { audit.saw(head, count) }
      } else {
        audit.saw(head, count)
      }
    }
    finish(&page.head, of: fetch, at: position)
    if let next = page.hasMoreParts ? page.next : nil { keep(fetch, at: next) }
    if !fetch.indexes.isEmpty { keepIndexes(of: fetch) }
    fetch.conditions.keepValidators(of: &page)
  }

  /// Completes the head of a page for delivery.
  private func finish(_ head: inout PageHead, of fetch: PageFetch<Item>, at position: Position) {
    if head.hasMoreParts, needsClosing { head.closing = fetch.sent?.position }
    listing.redactPositions(of: &head)
    if head.hasMoreParts { head.next = position.at(itemOffset: fetch.itemOffset) }
    head.belong(to: listing.identity)
  }

  /// Returns the fetch of the open page if its next part is at the position, else the one that was
  /// sent ahead for it.
  private func take(at position: Position) -> PageFetch<Item>? {
    let page = requested.withLock { pages -> OpenPage? in
      let (current, next) = (pages.current, pages.next)
      pages.current = nil
      if current?.position == position { return current }
      pages.next = nil
      return next?.position == position ? next : nil
    }
    return page?.fetch
  }

  private func keep(_ fetch: PageFetch<Item>, at position: Position) {
    let page = OpenPage(fetch, at: position)
    requested.withLock { $0.current = page }
  }

  /// Returns a page without items that replaces one which the server does not have.
  package func emptyPage(at position: Position, before next: Bookmark?) -> Page<Item> {
    var page = Page<Item>([], next: next?.position)
    listing.redactPositions(of: &page.head)
    page.head.position = position
    page.head.belong(to: listing.identity)
    return page
  }

  // MARK: Requests beside those for pages

  /// Returns the answer at a position whose document is needed but not its items.
  package func answer(at position: Position?) async throws -> PageAnswer {
    do {
      let destination = try await destination(at: position ?? .start)
      let fetch = PageFetch(
        listing, decoder, destination?.request ?? listing.engine.first, for: destination?.bookmark)
      return try await fetch.answer()
    } catch {
      throw listing.redacted(error)
    }
  }

  /// Returns the values that the opening request yields, nil if there is no such request, and its
  /// cost in addition to `spent`.
  private func opened(
    after spent: WalkReport.Traffic = .zero
  ) async throws -> ([JSONValue.Member]?, WalkReport.Traffic) {
    guard let request = try listing.engine.builder.opening() else { return (nil, spent) }
    let fetch = PageFetch(listing, decoder, request, traffic: spent)
    let answer = try await fetch.answer()
    return (try listing.engine.reader.opened(by: answer), fetch.traffic)
  }

  package func close(at position: Position?) async {
    guard let position else { return }
    do {
      try await listing.findSecrets(of: position)
      guard let sent = try listing.continuation(at: position),
        let request = try listing.engine.builder.closing(at: sent)
      else { return }
      let fetch = PageFetch(listing, decoder, request, for: sent)
      try await fetch.discard()
    } catch {
      listing.client.shared.emit(
        .notice, .closeFailed(listing.redactor().printable("\(error)")))
    }
  }

  /// Fetches the indexes in which the next page is looked up, unless the walk has read them.
  private func findIndexes(for fetch: PageFetch<Item>) async throws {
    let known = indexes.withLock { $0 }
    for url in listing.engine.indexes(neededAt: fetch.sent) {
      if let list = known[url] {
        fetch.indexes[url] = list
        continue
      }
      let request = try listing.engine.builder.request(for: Bookmark(.url(url)))
      let index = PageFetch(listing, decoder, request, traffic: fetch.traffic)
      let answer = try await index.answer()
      fetch.traffic = index.traffic
      fetch.indexes[url] = try listing.engine.reader.pages(listedIn: answer)
      // If the next one fails, this one is not read again.
      keepIndexes(of: fetch)
    }
  }

  private func keepIndexes(of fetch: PageFetch<Item>) {
    let lists = fetch.indexes
    indexes.withLock { $0 = lists }
  }
}
