package import HTTPTypes
import Logging
import QuireCore

/// The pages of one listing over HTTP: asks the description what to request, the transport to send
/// it, the decoder to read it, and the retry machine whether to do so again.
struct HTTPPageSource<Item: Sendable>: PartedPageSource, IdentifiedPageSource {
  let decoder: any PageDecoder<Item>
  /// A description or a URL that cannot work is thrown at the first page, where the caller is
  /// listening.
  let listing: Result<Listing, any Error>

  init(
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

  var repeatedPositions: RepeatedPositions {
    (try? listing.get())?.policy.handle == true ? .allowed : .refused
  }

  var identity: ListingIdentity? { (try? listing.get())?.identity }

  var needsClosing: Bool { (try? listing.get())?.policy.close != nil }

  /// Whether pages cannot be handed out in parts, because something must be known of all their items
  /// first.
  var needsWholePages: Bool { (try? listing.get())?.engine.needsWholePages ?? false }

  func parts(at position: Position) throws -> any PageParts<Item> {
    let listing = try listing.get()
    return HTTPPageParts(listing, decoder: decoder, from: position) {
      try await listing.redactingErrors {
        let revealed = position.value == nil ? nil : try await reveal(position.page, listing)
        return listing.visit(try listing.engine.request(at: revealed), at: revealed ?? .start)
      }
    }
  }

  var allowsLookAhead: Bool {
    (try? listing.get())?.policy.pacing.readsAhead ?? true
  }

  func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
    guard let listing = try? listing.get(), listing.isRepeatable else { return [] }
    return listing.engine.positions(
      after: position.flatMap { try? listing.reveal($0) }, total: total, count: count
    ).map { listing.secrets.conceal($0) }
  }

  /// The answer that a page comes in, for whoever looks at more than its items.
  func answer(at position: Position?) async throws -> PageAnswer {
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

  func page(at position: Position?) async throws -> Page<Item>? {
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

  /// The position with its secrets. Those that only a signer knows have it sign once in vain where a
  /// walk begins with such a position.
  func reveal(_ position: Position, _ listing: Listing) async throws -> Position {
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

extension HTTPRequest.Method {
  /// Whether the method asks for nothing but an answer (RFC 9110, §9.2.1).
  package var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    default: ["QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(rawValue)
    }
  }
}
