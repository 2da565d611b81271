import Quire
import QuirePagination

extension Server {
  /// The bytes of the pages that are linked to each other.
  func pages(_ client: PageClient) -> Cursor<[UInt8]> {
    client.cursor(at: pagePrefix + "1", pagination: .linkHeader, decoder: BytesPageDecoder())
  }
}

/// Walks that follow Link headers page by page, against what one would write without Quire.
enum SequentialWalk {
  /// The bytes of each page and nothing else.
  ///
  /// The walk that is judged is off the main actor, as on a server; a consumer on an actor adds the
  /// way from and to it. Who writes against AsyncHTTPClient has to decode a page to go on from it;
  /// without that it gets the page numbers for nothing.
  static func measure(_ server: Server) async throws -> [Figure] {
    let client = PageClient()
    let pages = Server.linkedPages
    let rounds = try await Measurement.rounds(
      of: { try await walk(server.pages(client), pages: pages) },
      { try Peers.floor(server, pages: pages) },
      { try await Peers.typedAsyncHTTPClient(server, pages: pages) },
      { try await Peers.asyncHTTPClient(server, pages: pages) },
      { try await walkOnMainActor(server.pages(client), pages: pages) })
    return [
      Figure(
        "sequential walk, bytes only, to the C floor", rounds.ratio(0, to: 1), "×", .atMost(1.6)),
      Figure(
        "AsyncHTTPClient + JSONDecoder to the same walk", rounds.ratio(2, to: 0), "×", .atLeast(2)),
      Figure("  AsyncHTTPClient that decodes nothing", rounds.ratio(3, to: 0), "×"),
      Figure("  a page of 23 KB", rounds.seconds(0) / Double(pages) * 1e6, "µs"),
      Figure("  consumed on the main actor", rounds.seconds(4) / Double(pages) * 1e6, "µs"),
      Figure("  in C", rounds.seconds(1) / Double(pages) * 1e6, "µs"),
    ]
  }

  /// The items of each page decoded by JSONDecoder.
  static func measureTyped(_ server: Server) async throws -> [Figure] {
    let client = PageClient()
    let pages = Server.linkedPages / 4
    var records = client.cursor(
      of: Record.self, at: server.pagePrefix + "1", pagination: .linkHeader)
    records.limits.pages = pages
    let cursor = records
    let rounds = try await Measurement.rounds(
      of: { try await walk(cursor, pages: pages) },
      { try await Peers.typedAsyncHTTPClient(server, pages: pages) })
    return [
      Figure("AsyncHTTPClient + JSONDecoder to the typed walk", rounds.ratio(1, to: 0), "×"),
      Figure("  a typed page", rounds.seconds(0) / Double(pages) * 1e6, "µs"),
    ]
  }

  @concurrent private static func walk<Item>(_ cursor: Cursor<Item>, pages: Int) async throws {
    var count = 0
    for try await page in cursor { count += page.items.isEmpty ? 0 : 1 }
    precondition(count == pages, "The walk delivered \(count) pages of \(pages).")
  }

  @MainActor private static func walkOnMainActor<Item>(
    _ cursor: Cursor<Item>, pages: Int
  ) async throws {
    var count = 0
    for try await page in cursor { count += page.items.isEmpty ? 0 : 1 }
    precondition(count == pages, "The walk delivered \(count) pages of \(pages).")
  }
}
