import Logging
import QuireCore

/// What is known of a listing before its first page.
///
/// A reference: every request of the walk has it at hand, and as a value it would be copied at every
/// turn.
final class Listing: Sendable {
  let client: PageClient
  let engine: PaginationEngine
  /// Where the first request goes.
  let home: Origin
  let secrets: SecretParameters
  /// By what positions of this listing are known.
  let identity: ListingIdentity
  /// Whether a page may be asked for again.
  let isRepeatable: Bool
  /// Nil where nothing asks for a pace.
  let pacer: Pacer?
  let indexes = IndexCache()
  let outage = OutageWatch()
  /// The format of the first page, which binds the later ones.
  let format = PageFormatNote()

  init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int?,
    custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) throws {
    self.client = client
    home = try Origin(url: first.url)
    engine = try PaginationEngine(
      pagination, first: first, home: home, pageSize: pageSize, custom: custom)
    identity = engine.identity
    secrets = SecretParameters(
      of: first.url, fields: client.configuration.headers.appending(first.headerFields))
    isRepeatable = first.method.isSafe || pagination.request.isQuery
    pacer = Self.pacer(pagination.policy.pacing, client.configuration.clock)
    for notice in engine.notices { client.configuration.logger.warning("\(notice)") }
  }

  private static func pacer(_ pacing: Pacing, _ clock: any Clock<Duration>) -> Pacer? {
    guard pacing.interval > 0 || pacing.backoff != nil else { return nil }
    return Pacer(interval: .seconds(pacing.interval), clock: clock)
  }

  var policy: PagePolicy { engine.pagination.policy }

  /// The position with its secrets, if it leads home: they are nobody else's.
  func reveal(_ position: Position) throws -> Position {
    guard SecretParameters.isMarked(position) else { return position }
    let origin = try Origin(url: engine.request(at: position).url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take a secret of the walk from \(home) to \(origin).")
    }
    return try secrets.reveal(position)
  }

  /// The page as it may be seen and stored: without secrets, and with positions that say whose they
  /// are.
  func conceal<Item>(_ page: Page<Item>) -> Page<Item> {
    var page = secrets.conceal(page)
    if page.http?.resume != nil {
      page.metadata[HTTPPageInfo.self]?.resume?.listing = identity
    }
    return page
  }

  func visit(_ request: PageRequest, at position: Position) -> PageVisit {
    PageVisit(listing: self, request: request, position: position)
  }
}
