import QuirePagination
import QuireCore

/// One page over HTTP, its items handed out as they arrive.
///
/// What was handed out stays handed out: after a failure the page is fetched anew, and its first
/// items are passed over, unless the last of them is not what it was.
actor HTTPPageParts<Item: Sendable>: PageParts {
  /// The first page's, until the one that was asked for is known.
  private var visit: PageVisit
  private var find: (@Sendable () async throws -> PageVisit)?
  private let decoder: any PageDecoder<Item>
  private let position: Position

  private var transfer: PageTransfer<Item>?
  private var retry: RetryMachine
  private let stopwatch: Stopwatch
  /// Requests for the page since somebody asked for it anew, without redirects followed.
  private var requests = 0
  /// What was spent since the last part.
  private var traffic = Traffic(requests: 0)

  /// Items of the page that were handed out, in this walk or before it.
  private var handedOut: Int
  /// The digest of the last of them; nil when another walk got it.
  private var digest: Int?
  /// How many of them `transfer` has brought.
  private var passed = 0
  /// By what the page that `transfer` brings is known again.
  private var fingerprint = ItemsFingerprint()
  private var sample: PageSample?
  /// Items set aside that no part has carried yet.
  private var badItems: [BadItem] = []
  /// The place behind the last item set aside.
  private var badItemsEnd = 0

  /// The parts of the page that `find` returns, from `position` on.
  init(
    _ listing: Listing, decoder: any PageDecoder<Item>, from position: Position,
    find: @escaping @Sendable () async throws -> PageVisit
  ) {
    visit = listing.visit(listing.engine.first, at: .start)
    self.find = find
    self.decoder = decoder
    self.position = position
    handedOut = position.itemOffset
    retry = visit.retryMachine
    stopwatch = Stopwatch(visit.listing.client.configuration.clock)
  }

  func next() async throws -> Page<Item>? {
    if let find {
      visit = try await find()
      retry = visit.retryMachine
      self.find = nil
    }
    while true {
      do {
        return try await attempt()
      } catch let failure as RetryMachine.Failure {
        try await judge(failure)
      }
    }
  }

  /// Returns when there shall be another attempt.
  private func judge(_ failure: RetryMachine.Failure) async throws {
    let client = visit.listing.client
    let action = retry.failed(
      failure, wireRequests: requests, random: client.environment.random(),
      now: stopwatch.elapsed(), debt: visit.listing.outage.debt)
    switch action {
    case .fail(let error):
      retry = visit.retryMachine
      requests = 0
      defer { traffic = Traffic(requests: 0) }
      throw visit.describe(error, after: traffic)
    case .retry(let delay):
      try await wait(delay, after: failure.error)
    case .probe(let delay, let remaining):
      try await wait(delay, after: failure.error, remaining: remaining)
    }
  }

  private func wait(
    _ delay: Duration, after error: PageError, remaining: Duration? = nil
  ) async throws {
    visit.logRetry(of: error, after: delay, remaining: remaining)
    traffic.retries += 1
    visit.listing.outage.retried()
    try await visit.listing.client.configuration.clock.sleep(for: delay)
  }

  private func attempt() async throws -> Page<Item>? {
    var spent = traffic
    defer { traffic = spent }
    do {
      return try await part(spent: &spent)
    } catch let error as PageError {
      throw PageVisit.failure(error)
    }
  }

  /// The next part. The transfer is kept only where more parts follow: throwing ends it.
  private func part(spent: inout Traffic) async throws -> Page<Item>? {
    let opening = try await takeTransfer(spent: &spent)
    guard case .transfer(var transfer) = opening else {
      guard handedOut == 0 else { throw Self.changed(1) }
      if case .answer(let page) = opening { return page.map { visit.listing.conceal($0) } }
      return nil
    }
    while try await visit.receive(&transfer, traffic: &spent) {
      let ready = try transfer.session.readyItems()
      transfer.itemCount += ready.count
      let items = handOut(try unseen(of: ready))
      guard !items.items.isEmpty else {
        badItems = items.badItems
        continue
      }
      var part = visit.page(items, of: transfer, traffic: spent)
      spent = Traffic(requests: 0)
      part.next = Position(position.value, itemOffset: handedOut)
      part.hasMoreParts = true
      // Only whole pages are compared.
      part.sample = nil
      self.transfer = transfer
      return part
    }
    guard let (answer, rest) = try visit.finish(&transfer) else {
      guard handedOut == 0 else { throw Self.changed(1) }
      return nil
    }
    visit.listing.outage.paid()
    let items = handOut(try unseen(of: rest))
    if passed < handedOut { throw Self.changed(passed + 1) }
    var page = visit.page(items, of: transfer, answer: answer, traffic: spent)
    page.fingerprint = page.fingerprint ?? fingerprint.value
    sample?.isCounted = visit.isCounted
    page.sample = sample
    spent = Traffic(requests: 0)
    return visit.listing.conceal(page)
  }

  private func takeTransfer(spent: inout Traffic) async throws -> PageTransfer<Item>.Opening {
    if let transfer {
      self.transfer = nil
      return .transfer(transfer)
    }
    passed = 0
    fingerprint = ItemsFingerprint()
    sample = nil
    let before = spent.requests - spent.redirects
    defer { requests += spent.requests - spent.redirects - before }
    var visit = visit
    visit.requestsLeft = retry.requestsLeft(afterWireRequests: requests)
    return try await visit.open(decoder, .asItArrives, traffic: &spent)
  }

  // MARK: Items

  /// The items without those that were handed out before.
  private func unseen(of items: DecodedItems<Item>) throws -> DecodedItems<Item> {
    fingerprint.add(items)
    if let more = items.sample {
      if sample == nil { sample = more } else { sample?.append(more) }
    }
    var rest = items
    let seen = min(handedOut - passed, items.items.count)
    if seen > 0 {
      passed += seen
      let isLast = passed == handedOut
      if isLast, let digest, let again = items.digests?[seen - 1], again != digest {
        throw Self.changed(passed)
      }
      rest.items.removeFirst(seen)
      rest.digests?.removeFirst(seen)
    }
    rest.badItems.removeAll { $0.index < badItemsEnd }
    return rest
  }

  /// Takes note of items that nobody has seen yet.
  private func handOut(_ items: DecodedItems<Item>) -> DecodedItems<Item> {
    var items = items
    handedOut += items.items.count
    passed += items.items.count
    digest = items.digests?.last ?? digest
    badItemsEnd = items.badItems.last.map { $0.index + 1 } ?? badItemsEnd
    items.badItems = badItems + items.badItems
    badItems = []
    return items
  }

  private static func changed(_ count: Int) -> PageError {
    PageError(
      .pageChanged,
      "The page is not what it was when it broke off: its item \(count - 1), counted from 0, differs from the "
        + "one handed out, or is gone. Start again, or go on from the checkpoint in a new walk if items may be "
        + "missing or come twice.")
  }
}
