import HTTPTypes
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
  /// By what positions of this listing are known.
  let identity: ListingIdentity
  /// What signers have put into the walk's requests.
  let signed = SignedSecrets()
  /// The secrets of the first request.
  private let ownSecrets: SecretParameters
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
    secrets: [String] = [], custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) throws {
    self.client = client
    home = try Origin(url: first.url)
    engine = try PaginationEngine(
      pagination, first: first, home: home, pageSize: pageSize, custom: custom)
    identity = engine.identity
    ownSecrets = SecretParameters(
      Secret.all(
        in: first, client.configuration.headers.appending(first.headerFields),
        segments: try pagination.policy.secretSegment.map { [try SecretSegment($0)] } ?? [],
        named: secrets))
    isRepeatable = first.method.isSafe || pagination.request.isQuery
    pacer = Self.pacer(pagination.policy.pacing, client.configuration.clock)
    for notice in engine.notices { client.configuration.logger.warning("\(notice)") }
  }

  private static func pacer(_ pacing: Pacing, _ clock: any Clock<Duration>) -> Pacer? {
    guard pacing.interval > 0 || pacing.backoff != nil else { return nil }
    return Pacer(interval: .seconds(pacing.interval), clock: clock)
  }

  var policy: PagePolicy { engine.pagination.policy }

  /// All that is known to be secret, what signers add included.
  var secrets: SecretParameters { ownSecrets.adding(signed.all) }

  /// The position with its secrets, if it leads home: they are nobody else's.
  func reveal(_ position: Position) throws -> Position {
    guard SecretParameters.isMarked(position) else { return position }
    let revealed = try secrets.reveal(position)
    let origin = try Origin(url: engine.request(at: revealed).url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take a secret of the walk from \(home) to \(origin.shown).")
    }
    return revealed
  }

  /// What takes the listing's secrets out of texts, and those of another of its requests.
  func redactor(for request: PageRequest? = nil) -> Redactor {
    let first = engine.first
    let request = request ?? first
    return Redactor(
      fields: client.configuration.headers.appending(request.headerFields)
        .appending(client.configuration.keeper?.fields ?? [:]),
      urls: [request.url, first.url], body: request.body, known: secrets.values)
  }

  /// The page as its reader gets it: no secret in its positions, nor in what is said about it, and
  /// positions that say whose they are.
  func conceal<Item>(_ page: Page<Item>) -> Page<Item> {
    var page = secrets.conceal(page)
    if page.http?.resume != nil {
      page.metadata[HTTPPageInfo.self]?.resume?.listing = identity
    }
    guard !page.warnings.isEmpty else { return page }
    let redactor = redactor()
    page.warnings = page.warnings.map { warning in
      var warning = warning
      warning.message = redactor.scrub(warning.message)
      if let remedy = warning.remedy {
        warning.remedy?.values = remedy.values.map(redactor.scrub)
      }
      return warning
    }
    return page
  }

  /// What `operation` returns; errors that no visit has described are thrown without secrets.
  func redactingErrors<Result>(
    _ operation: () async throws -> Result
  ) async throws -> Result {
    do {
      return try await operation()
    } catch var error as PageError where error.request == nil {
      error.message = redactor().scrub(error.message)
      throw error
    }
  }

  func visit(_ request: PageRequest, at position: Position) -> PageVisit {
    PageVisit(listing: self, request: request, position: position)
  }
}
