import Logging
import QuireCore

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
    guard listing.engine.recovery(at: position, from: error) != nil else { throw error }
    let opened = try await open(listing, traffic: &traffic)
    guard
      let (instead, recovery) = listing.engine.recovery(
        at: position, from: error, reopened: opened ?? [])
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

  func close(at position: Position?) async {
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
      let list = try listing.engine.pages(listedIn: answer.document, at: answer.url)
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
    let list = try listing.engine.pages(listedIn: http.document, at: http.url)
    listing.indexes.store(list, at: index, keeping: needed)
  }
}
