import Logging
import QuireCore

// What a walk needs besides its pages: something opened before the first one and closed behind the
// last, another way on where a cursor was lost, and the indexes that list pages.

extension HTTPPageSource {
  /// The first page, after what the walk needs was opened.
  func firstPage(_ setup: Setup, traffic: inout Traffic) async throws -> Page<Item>? {
    guard let opened = try await open(setup, traffic: &traffic) else {
      return try await page(at: nil, setup, traffic: &traffic)
    }
    var start = Bookmark(Bookmark.Target.start)
    start.carried = opened
    do {
      return try await page(at: start.position, setup, traffic: &traffic)
    } catch {
      // Whoever asks again opens again.
      let position = start.position
      Task.parting(client.configuration.clock) { await close(at: position) }
      throw error
    }
  }

  /// The values that the opening request gives; nil where there is none.
  func open(_ setup: Setup, traffic: inout Traffic) async throws -> [JSONValue.Member]? {
    guard let request = try setup.engine.opening() else { return nil }
    let visit = visit(request, at: .start, setup)
    let answer = try await repeating(visit, setup, traffic: &traffic) { traffic in
      try await visit.answer(decoder: decoder, traffic: &traffic)
    }
    return try setup.engine.opened(by: answer)
  }

  /// The page to go on with where the server does not know `position` any more.
  func page(
    instead position: Position, of error: PageError, _ setup: Setup, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    guard setup.engine.recovery(at: position, from: error) != nil else { throw error }
    let opened = try await open(setup, traffic: &traffic)
    guard
      let (instead, recovery) = setup.engine.recovery(
        at: position, from: error, reopened: opened ?? [])
    else { throw error }
    client.configuration.logger.warning(
      "cursor lost", metadata: ["recovery": "\(recovery)", "code": "\(error.code)"])
    var page = try await page(at: instead, setup, traffic: &traffic)
    page?.metadata[HTTPPageInfo.self]?.recovery = recovery
    return page
  }

  func close(at position: Position?) async {
    guard let position, let setup = try? setup.get() else { return }
    do {
      let position = try reveal(position, setup)
      guard let request = try setup.engine.closing(at: position) else { return }
      var traffic = Traffic(requests: 0)
      try await visit(request, at: position, setup).discard(traffic: &traffic)
    } catch {
      client.configuration.logger.notice("close failed", metadata: ["error": "\(error)"])
    }
  }

  /// The indexes that say what is behind a page, fetched where this process has not seen them.
  func indexes(
    at position: Position?, _ setup: Setup, traffic: inout Traffic
  ) async throws -> [String: [String]] {
    guard setup.engine.indexRouteExists else { return [:] }
    let needed = setup.engine.indexes(neededAt: position)
    for url in needed where setup.indexes.all[url] == nil {
      let request = try setup.engine.request(at: Bookmark(.url(url)).position)
      let visit = visit(request, at: .start, setup)
      let answer = try await repeating(visit, setup, traffic: &traffic) { traffic in
        try await visit.answer(decoder: decoder, traffic: &traffic)
      }
      let list = try setup.engine.pages(listedIn: answer.document, at: answer.url)
      setup.indexes.store(list, at: url, keeping: needed)
    }
    return setup.indexes.all
  }

  /// Keeps what a page lists, if it is an index.
  func remember(_ page: Page<Item>, _ setup: Setup) throws {
    guard setup.engine.indexRouteExists, let http = page.http, let next = page.next else { return }
    let needed = setup.engine.indexes(neededAt: next)
    guard let index = needed.last, index == http.visit.request.url else { return }
    let list = try setup.engine.pages(listedIn: http.document, at: http.url)
    setup.indexes.store(list, at: index, keeping: needed)
  }
}
