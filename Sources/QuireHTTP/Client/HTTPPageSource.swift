import HTTPTypes
import Logging
package import QuireCore
package import QuirePagination
import Synchronization

/// The pages of one listing over HTTP: asks the description what to request, the transport to send
/// it, the decoder to read it, and the retry machine whether to do so again.
package struct HTTPPageSource<Item: Sendable>: PartedPageSource, IdentifiedPageSource {
  let decoder: any PageDecoder<Item>
  /// A description or a URL that cannot work is thrown at the first page, where the caller is
  /// listening.
  package let listing: Result<Listing, any Error>

  package init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int?,
    decoder: any PageDecoder<Item>, secrets: [String] = [],
    custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) {
    self.decoder = decoder
    listing = Result {
      try Listing(
        client: client, pagination: pagination, first: first, pageSize: pageSize,
        secrets: secrets, custom: custom)
    }
  }

  package var repeatedPositions: RepeatedPositions {
    (try? listing.get())?.policy.handle == true ? .allowed : .refused
  }

  package var identity: ListingIdentity? { (try? listing.get())?.identity }

  package var needsClosing: Bool { (try? listing.get())?.policy.close != nil }

  /// Whether pages cannot be handed out in parts, because something must be known of all their items
  /// first.
  var needsWholePages: Bool { (try? listing.get())?.engine.needsWholePages ?? false }

  package func parts(at position: Position) throws -> any PageParts<Item> {
    let listing = try listing.get()
    return HTTPPageParts(listing, decoder: decoder, from: position) {
      try await listing.redactingErrors {
        let revealed = position.value == nil ? nil : try await reveal(position.page, listing)
        return listing.visit(try listing.engine.request(at: revealed), at: revealed ?? .start)
      }
    }
  }

  package var allowsLookAhead: Bool {
    (try? listing.get())?.policy.pacing.readsAhead ?? true
  }

  package func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
    guard let listing = try? listing.get(), listing.isRepeatable else { return [] }
    return listing.engine.positions(
      after: position.flatMap { try? listing.reveal($0) }, total: total, count: count
    ).map { listing.secrets.conceal($0) }
  }

  /// The answer that a page comes in, for whoever looks at more than its items.
  package func answer(at position: Position?) async throws -> PageAnswer {
    let listing = try listing.get()
    return try await listing.redactingErrors {
      var revealed: Position?
      if let position { revealed = try await reveal(position, listing) }
      let visit = listing.visit(try listing.engine.request(at: revealed), at: revealed ?? .start)
      var traffic = Traffic(requests: 0)
      return try await repeating(visit, traffic: &traffic) { visit, traffic in
        try await visit.answer(decoder: decoder, traffic: &traffic)
      }
    }
  }

  package func page(at position: Position?) async throws -> Page<Item>? {
    let listing = try listing.get()
    return try await listing.redactingErrors {
      var traffic = Traffic(requests: 0)
      guard let position, position.value != nil else {
        return try await firstPage(listing, traffic: &traffic)
      }
      let revealed = try await reveal(position, listing)
      do {
        return try await page(at: revealed, listing, traffic: &traffic)
      } catch let error as PageError {
        return try await page(instead: revealed, of: error, listing, traffic: &traffic)
      }
    }
  }

  /// The position with its secrets. Where a walk begins with a position that has those of a
  /// credential, its source is asked for the present one; those that only a signer knows have it sign
  /// once in vain.
  func reveal(_ position: Position, _ listing: Listing) async throws -> Position {
    if let keeper = listing.keeper, keeper.serves,
      SecretParameters.marks(in: position).contains(where: {
        $0.hasPrefix(Secret.credentialSource)
      })
    {
      _ = try await keeper.ticket(listing.client.environment.now)
    }
    if listing.signed.isNeeded(for: position) {
      try await listing.visit(listing.engine.first, at: .start).signInVain()
    }
    return try listing.reveal(position)
  }

  // Inlined where it is called, it would take its room in every waiting task once for each call.
  @inline(never)
  func page(
    at position: Position?, _ listing: Listing, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let request = try listing.engine.request(at: position)
    var visit = listing.visit(request, at: position ?? .start)
    visit.indexes = try await indexes(at: position, listing, traffic: &traffic)
    let answer = try await repeating(visit, traffic: &traffic) { visit, traffic in
      try await visit.attempt(decoder: decoder, traffic: &traffic)
    }
    guard var page = answer else { return nil }
    try remember(page, listing)
    // What was begun again brings the same pages again.
    if listing.policy.expiry != .fail, let position,
      (try? Bookmark(position))?.restarts ?? 0 > 0
    {
      page.fingerprint = nil
      page.sample = nil
    }
    return listing.conceal(page)
  }

  /// Makes attempts until one succeeds or the retry machine gives up.
  func repeating<Result>(
    _ visit: PageVisit, traffic: inout Traffic,
    _ attempt: (PageVisit, inout Traffic) async throws -> Result
  ) async throws -> Result {
    let listing = visit.listing
    var visit = visit
    let clock = listing.client.configuration.clock
    let stopwatch = Stopwatch(clock)
    var retry = visit.retryMachine
    let before = traffic.requests - traffic.redirects
    var isProbing = false
    defer { if isProbing { listing.outage.leave() } }
    while true {
      visit.requestsLeft = retry.requestsLeft(
        afterWireRequests: traffic.requests - traffic.redirects - before)
      do {
        let result = try await attempt(visit, &traffic)
        listing.outage.paid()
        return result
      } catch let failure as RetryMachine.Failure {
        let action = retry.failed(
          failure, wireRequests: traffic.requests - traffic.redirects - before,
          random: listing.client.environment.random(), now: stopwatch.elapsed(),
          debt: listing.outage.debt)
        switch action {
        case .fail(let error):
          throw visit.describe(error, after: traffic)
        case .retry(let delay):
          visit.logRetry(of: failure.error, after: delay)
          try await clock.sleep(for: delay)
        case .probe(let delay, let remaining):
          isProbing = isProbing || listing.outage.lead()
          if isProbing {
            visit.logRetry(of: failure.error, after: delay, remaining: remaining)
            try await clock.sleep(for: delay)
          } else {
            try await listing.outage.follow()
            visit.logRetry(of: failure.error, after: .zero)
          }
        }
        traffic.retries += 1
        listing.outage.retried()
      }
    }
  }
}

// By what a walk knows that it was somewhere before: not by how a server spells the way there, but by
// the request that it leads to.
extension HTTPPageSource: RequestingSource {
  package func identity(of position: Position) -> Int {
    guard let listing = try? listing.get() else { return position.hashValue }
    guard position.value != nil else {
      return listing.identity(of: listing.engine.first, itemOffset: position.itemOffset)
    }
    guard let revealed = try? listing.reveal(position.page),
      let bookmark = try? Bookmark(revealed),
      let request = try? listing.engine.request(at: revealed)
    else { return position.hashValue }
    return listing.identity(of: request, at: bookmark, itemOffset: position.itemOffset)
  }
}

extension Listing {
  /// A hash of a request, and of what a position holds besides that leads to other pages: what was
  /// begun again, what a closure remembers, and the indexes that a page is looked up in.
  func identity(
    of request: PageRequest, at bookmark: Bookmark? = nil, itemOffset: Int = 0
  ) -> Int {
    var hasher = Hasher()
    request.hashMeaning(into: &hasher)
    hasher.combine(itemOffset)
    hasher.combine(bookmark?.restarts ?? 0)
    hasher.combine(bookmark?.state)
    hasher.combine(bookmark?.within ?? [])
    return hasher.finalize()
  }
}

extension PageRequest {
  /// Hashes what the request asks for, however it is spelt: scheme and host in any case, the default
  /// port named or not, dots in the path, percent-encoding where none was needed, and parameters of
  /// different names in any order (RFC 3986, §6.2.2 and §6.2.3).
  func hashMeaning(into hasher: inout Hasher) {
    hasher.combine(method.rawValue)
    hasher.combine(headerFields)
    hasher.combine(body)
    guard let reference = try? URLReference(url), let origin = try? Origin(reference) else {
      hasher.combine(url)
      return
    }
    hasher.combine(origin)
    for segment in reference.pathWithoutDots.split(separator: "/", omittingEmptySubsequences: false)
    {
      hasher.combine(PercentEncoding.decodedBytes(segment))
    }
    let parameters = QueryString(reference.query).pairs
    let names = parameters.map(\.name)
    for index in parameters.indices.sorted(by: { (names[$0], $0) < (names[$1], $1) }) {
      hasher.combine(names[index])
      hasher.combine(PercentEncoding.decodedBytes(parameters[index].encoded, plusIsSpace: true))
    }
  }
}

// What a walk needs besides its pages: something opened before the first one and closed behind the
// last, another way on where a cursor was lost, and the indexes that list pages.
extension HTTPPageSource {
  /// The first page, after what the walk needs was opened.
  func firstPage(_ listing: Listing, traffic: inout Traffic) async throws -> Page<Item>? {
    guard let opened = try await open(listing, traffic: &traffic) else {
      return try await page(at: nil, listing, traffic: &traffic)
    }
    var start = Bookmark(Bookmark.Target.start)
    start.carried = opened
    do {
      return try await page(at: start.position, listing, traffic: &traffic)
    } catch {
      // Whoever asks again opens again.
      let position = start.position
      Task.parting(listing.client.configuration.clock) { await close(at: position) }
      throw error
    }
  }

  /// The values that the opening request gives; nil where there is none.
  func open(_ listing: Listing, traffic: inout Traffic) async throws -> [JSONValue.Member]? {
    guard let request = try listing.engine.opening() else { return nil }
    let visit = listing.visit(request, at: .start)
    let answer = try await repeating(visit, traffic: &traffic) { visit, traffic in
      try await visit.answer(decoder: decoder, traffic: &traffic)
    }
    return try listing.engine.opened(by: answer)
  }

  /// The page to go on with where the server does not know `position` any more.
  func page(
    instead position: Position, of error: PageError, _ listing: Listing, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let replacement = (error.underlying as? HTTPFailure)?.replacement
    guard
      listing.engine.recovery(at: position, from: error, replacement: replacement) != nil
    else { throw error }
    let opened = try await open(listing, traffic: &traffic)
    guard
      let (instead, recovery) = listing.engine.recovery(
        at: position, from: error, replacement: replacement, reopened: opened ?? [])
    else { throw error }
    listing.client.configuration.logger.warning(
      "cursor lost",
      metadata: [
        "recovery": "\(listing.redactor().printable("\(recovery)"))", "code": "\(error.code)",
      ])
    var page = try await page(at: instead, listing, traffic: &traffic)
    page?.metadata[HTTPPageInfo.self]?.recovery = recovery
    return page
  }

  package func close(at position: Position?) async {
    guard let position, let listing = try? listing.get() else { return }
    do {
      let position = try await reveal(position, listing)
      guard let request = try listing.engine.closing(at: position) else { return }
      var traffic = Traffic(requests: 0)
      try await listing.visit(request, at: position).discard(traffic: &traffic)
    } catch {
      listing.client.configuration.logger.notice(
        "close failed", metadata: ["error": "\(listing.redactor().printable("\(error)"))"])
    }
  }

  /// The indexes that say what is behind a page, fetched where this process has not seen them.
  func indexes(
    at position: Position?, _ listing: Listing, traffic: inout Traffic
  ) async throws -> [String: [String]] {
    guard listing.engine.indexRouteExists else { return [:] }
    let needed = listing.engine.indexes(neededAt: position)
    for url in needed where listing.indexes.all[url] == nil {
      let request = try listing.engine.request(at: Bookmark(.url(url)).position)
      let visit = listing.visit(request, at: .start)
      let answer = try await repeating(visit, traffic: &traffic) { visit, traffic in
        try await visit.answer(decoder: decoder, traffic: &traffic)
      }
      let list = try listing.engine.pages(listedIn: answer)
      listing.indexes.store(list, at: url, keeping: needed)
    }
    return listing.indexes.all
  }

  /// Keeps what a page lists, if it is an index.
  func remember(_ page: Page<Item>, _ listing: Listing) throws {
    guard listing.engine.indexRouteExists, let http = page.http, let next = page.next else {
      return
    }
    let needed = listing.engine.indexes(neededAt: next)
    guard let index = needed.last, index == http.visit.request.url else { return }
    let list = try listing.engine.pages(listedIn: http.answer)
    listing.indexes.store(list, at: index, keeping: needed)
  }
}

/// The indexes that the walks of a listing are in the middle of, by their addresses.
final class IndexCache: Sendable {
  private let lists = Mutex<[String: [String]]>([:])

  /// What is known; an index that nobody is in the middle of is forgotten when another one comes.
  var all: [String: [String]] { lists.withLock { $0 } }

  func store(_ list: [String], at url: String, keeping urls: [String]) {
    lists.withLock { lists in
      lists = lists.filter { urls.contains($0.key) }
      lists[url] = list
    }
  }
}

/// A hash of all items of a page that are not there at the same time, made of those of each.
struct ItemsFingerprint {
  private var digest = ContentDigest()
  private var isEmpty = true
  private var isKnown = true

  /// Adds the items that come next; how many come at once makes no difference.
  mutating func add<Item>(_ items: DecodedItems<Item>) {
    guard items.count > 0 else { return }
    isEmpty = false
    // Items that were set aside have no digest: pages that differ in nothing else are not the same.
    guard items.badItems.isEmpty, let digests = items.digests else {
      isKnown = false
      return
    }
    for item in digests { withUnsafeBytes(of: item) { digest.add($0) } }
  }

  /// The hash; nil without items, and where one of them is not in it.
  var value: Int? { isEmpty || !isKnown ? nil : digest.value }
}
