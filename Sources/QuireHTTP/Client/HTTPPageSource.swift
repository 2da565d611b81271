import HTTPTypes
import Logging
import QuireCore

/// The pages of one listing over HTTP: asks the description what to request, the transport to send
/// it, the decoder to read it, and the retry machine whether to do so again.
struct HTTPPageSource<Item: Sendable>: PartedPageSource {
  let client: PageClient
  let decoder: any PageDecoder<Item>
  /// A description or a URL that cannot work is thrown at the first page, where the caller is
  /// listening.
  let setup: Result<Setup, PageError>

  struct Setup: Sendable {
    let engine: PaginationEngine
    let home: Origin
    let secrets: SecretParameters
    let isRepeatable: Bool
    /// Nil where nothing asks for a pace.
    let pacer: Pacer?
    let indexes = IndexCache()
  }

  init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int?,
    decoder: any PageDecoder<Item>,
    custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) {
    self.client = client
    self.decoder = decoder
    setup = Result { () throws(PageError) -> Setup in
      let home = try Origin(url: first.url)
      var engine = try PaginationEngine(pagination, first: first, home: home, pageSize: pageSize)
      engine.custom = custom
      for notice in engine.notices { client.configuration.logger.warning("\(notice)") }
      return Setup(
        engine: engine, home: home,
        secrets: SecretParameters(
          of: first.url, fields: client.configuration.headers.appending(first.headerFields)),
        isRepeatable: first.method.isSafe || pagination.request.isQuery,
        pacer: Self.pacer(pagination.policy.pacing, client.configuration.clock))
    }
  }

  private static func pacer(_ pacing: Pacing, _ clock: any Clock<Duration>) -> Pacer? {
    guard pacing.interval > 0 || pacing.backoff != nil else { return nil }
    return Pacer(interval: .seconds(pacing.interval), clock: clock)
  }

  var repeatedPositions: RepeatedPositions {
    (try? setup.get())?.engine.pagination.policy.handle == true ? .allowed : .refused
  }

  var needsClosing: Bool { (try? setup.get())?.engine.pagination.policy.close != nil }

  /// Whether pages cannot be handed out in parts, because something must be known of all their items
  /// first.
  var needsWholePages: Bool { (try? setup.get())?.engine.needsWholePages ?? false }

  /// The position with its secrets, if it leads home: they are nobody else's.
  func reveal(_ position: Position, _ setup: Setup) throws -> Position {
    guard SecretParameters.isMarked(position) else { return position }
    let origin = try Origin(url: setup.engine.request(at: position).url)
    guard origin == setup.home else {
      throw PageError(
        .refusedLink,
        "The next link would take a secret of the walk from \(setup.home) to \(origin).")
    }
    return try setup.secrets.reveal(position)
  }

  func parts(at position: Position) throws -> any PageParts<Item> {
    let setup = try setup.get()
    let revealed = position.value == nil ? nil : try reveal(position.page, setup)
    let visit = visit(
      try setup.engine.request(at: revealed), at: revealed ?? .start, setup)
    return HTTPPageParts(
      visit, decoder: decoder, secrets: setup.secrets, isRepeatable: setup.isRepeatable,
      from: position)
  }

  var allowsLookAhead: Bool {
    (try? setup.get())?.engine.pagination.policy.pacing.readsAhead ?? true
  }

  func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
    guard let setup = try? setup.get(), setup.isRepeatable else { return [] }
    return setup.engine.positions(
      after: position.flatMap { try? reveal($0, setup) }, total: total, count: count
    ).map(setup.secrets.conceal)
  }

  /// The answer that a page comes in, for whoever looks at more than its items.
  func answer(at position: Position?) async throws -> PageAnswer {
    let setup = try setup.get()
    let position = try position.map { try reveal($0, setup) }
    let visit = visit(try setup.engine.request(at: position), at: position ?? .start, setup)
    var traffic = Traffic(requests: 0)
    return try await repeating(visit, setup, traffic: &traffic) { traffic in
      try await visit.answer(decoder: decoder, traffic: &traffic)
    }
  }

  func page(at position: Position?) async throws -> Page<Item>? {
    let setup = try setup.get()
    var traffic = Traffic(requests: 0)
    guard let position = try position.map({ try reveal($0, setup) }), position.value != nil else {
      return try await firstPage(setup, traffic: &traffic)
    }
    do {
      return try await page(at: position, setup, traffic: &traffic)
    } catch let error as PageError {
      return try await page(instead: position, of: error, setup, traffic: &traffic)
    }
  }

  func page(
    at position: Position?, _ setup: Setup, traffic: inout Traffic
  ) async throws -> Page<Item>? {
    let request = try setup.engine.request(at: position)
    var visit = visit(request, at: position ?? .start, setup)
    visit.indexes = try await indexes(at: position, setup, traffic: &traffic)
    let answer = try await repeating(visit, setup, traffic: &traffic) { [visit] traffic in
      try await visit.attempt(decoder: decoder, traffic: &traffic)
    }
    guard var page = answer else { return nil }
    try remember(page, setup)
    // What was begun again brings the same pages again.
    if setup.engine.pagination.policy.expiry != .fail, let position,
      (try? Bookmark(position))?.restarts ?? 0 > 0
    {
      page.fingerprint = nil
    }
    return setup.secrets.conceal(page)
  }

  func visit(_ request: PageRequest, at position: Position, _ setup: Setup) -> PageVisit {
    PageVisit(
      client: client, home: setup.home, engine: setup.engine, request: request, position: position,
      pacer: setup.pacer)
  }

  /// Makes attempts until one succeeds or the retry machine gives up.
  func repeating<Result>(
    _ visit: PageVisit, _ setup: Setup, traffic: inout Traffic,
    _ attempt: (inout Traffic) async throws -> Result
  ) async throws -> Result {
    var retry = RetryMachine(
      policy: client.configuration.retry,
      isRepeatable: setup.isRepeatable || visit.request.method.isSafe)
    let before = traffic.requests - traffic.redirects
    while true {
      do {
        return try await attempt(&traffic)
      } catch let failure as RetryMachine.Failure {
        let action = retry.failed(
          failure, wireRequests: traffic.requests - traffic.redirects - before,
          random: client.environment.random())
        switch action {
        case .fail(let error):
          throw visit.describe(error, after: traffic)
        case .retry(let delay):
          visit.logRetry(of: failure.error, after: delay)
          traffic.retries += 1
          try await client.configuration.clock.sleep(for: delay)
        }
      }
    }
  }
}

extension HTTPRequest.Method {
  /// Whether the method asks for nothing but an answer (RFC 9110, §9.2.1).
  var isSafe: Bool {
    switch self {
    case .get, .head, .options: true
    default: ["QUERY", "PROPFIND", "REPORT", "SEARCH"].contains(rawValue)
    }
  }
}
