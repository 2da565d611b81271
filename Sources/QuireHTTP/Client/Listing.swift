import HTTPTypes
import Logging
import QuireCore
package import QuirePagination
import Synchronization

/// What is known of a listing before its first page.
///
/// A reference: every request of the walk has it at hand, and as a value it would be copied at every
/// turn.
package final class Listing: Sendable {
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
    pacer = Self.pacer(pagination.policy.pacing, client.configuration)
    for notice in engine.notices { client.configuration.logger.warning("\(notice)") }
  }

  private static func pacer(_ pacing: Pacing, _ configuration: PageClient.Configuration) -> Pacer? {
    guard pacing.interval > 0 || pacing.backoff != nil else { return nil }
    return Pacer(
      interval: .seconds(pacing.interval), longest: configuration.retry.maximumRetryAfter,
      clock: configuration.clock)
  }

  var policy: PagePolicy { engine.pagination.policy }

  /// All that is known to be secret, what credentials and signers add included.
  var secrets: SecretParameters { ownSecrets.adding(credentialSecrets + signed.all) }

  /// What keeps the credential of the listing's requests; nil where they carry none.
  var keeper: CredentialKeeper? {
    client.configuration.keeper.flatMap { $0.origin == home ? $0 : nil }
  }

  /// The secrets of the last credentials, but for those that the caller put into the first request.
  private var credentialSecrets: [Secret] {
    keeper?.secrets.filter { !ownSecrets.holds($0.value) } ?? []
  }

  /// A URL that repeats a credential which was replaced, with the present one in its place: a link
  /// was made with the one, and is followed with the other.
  func renewingCredential(in url: String) -> String {
    let secrets = credentialSecrets
    return secrets.isEmpty ? url : SecretParameters(secrets).renewing(url)
  }

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
  package func redactor(for request: PageRequest? = nil) -> Redactor {
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
      error.redactText(by: redactor())
      throw error
    }
  }

  func visit(_ request: PageRequest, at position: Position) -> PageVisit {
    PageVisit(listing: self, request: request, position: position)
  }
}

/// Keeps the requests of one listing as far apart as its description and its server ask.
final class Pacer: Sendable {
  private let clock: any Clock<Duration>
  private let stopwatch: Stopwatch
  private let interval: Duration
  /// The longest wait that the server may ask for.
  private let longest: Duration
  private let state = Mutex(State())

  private struct State {
    /// When the next request may go out by the description, and when by the server.
    var (earliest, asked) = (Duration.zero, Duration.zero)
  }

  init(interval: Duration, longest: Duration, clock: any Clock<Duration>) {
    self.interval = interval
    self.longest = longest
    self.clock = clock
    stopwatch = Stopwatch(clock)
  }

  /// Returns when the next request may go out; `willWait` hears how long that takes, if it does.
  ///
  /// Throws `throttled` at once where the server asks for more than the longest wait.
  func ready(willWait: (Duration) -> Void = { _ in }) async throws {
    let now = stopwatch.elapsed()
    let wait = try state.withLock { state throws(PageError) in
      guard state.asked - now <= longest else {
        throw PageError(
          .throttled,
          "The page before asks to wait \(state.asked - now), longer than \(longest). Nothing was "
            + "requested. Resume later from the checkpoint.", remedies: [.longerRetryAfter])
      }
      let begin = max(now, state.earliest, state.asked)
      state.earliest = begin + interval
      return begin - now
    }
    guard wait > .zero else { return }
    willWait(wait)
    try await clock.sleep(for: wait)
  }

  /// Lets nothing out for a while, as the server asks.
  func wait(for duration: Duration) {
    let now = stopwatch.elapsed()
    state.withLock { $0.asked = max($0.asked, now + duration) }
  }
}

/// What the visits of one listing have in common while its server is away: one of them probes, the
/// others wait for what it finds, and all share what retries have cost.
final class OutageWatch: Sendable {
  private struct State {
    var debt = RetryDebt()
    var isProbed = false
    var followers: [Suspension<Void>] = []
  }

  private let state = Mutex(State())

  /// How many retries no page has paid for.
  var debt: Int { state.withLock(\.debt.count) }

  func retried() { state.withLock { $0.debt.retried() } }

  func paid() { state.withLock { $0.debt.paid() } }

  /// Takes the probing over; false while another visit does it.
  func lead() -> Bool {
    state.withLock { state in
      defer { state.isProbed = true }
      return !state.isProbed
    }
  }

  /// Ends the probing, because somebody answered or because it was given up: every other visit looks
  /// for itself.
  func leave() {
    let followers = state.withLock { state in
      defer { (state.isProbed, state.followers) = (false, []) }
      return state.followers
    }
    for follower in followers { follower.resume(returning: ()) }
  }

  /// Waits until the visit that probes has found something out.
  func follow() async throws {
    let follower = Suspension<Void>()
    let isProbed = state.withLock { state in
      if state.isProbed { state.followers.append(follower) }
      return state.isProbed
    }
    guard isProbed else { return }
    defer { state.withLock { $0.followers.removeAll { $0 === follower } } }
    try await follower.value()
  }
}

extension PageError {
  /// Takes secrets out of what the error says.
  mutating func redactText(by redactor: Redactor) {
    message = redactor.scrub(message)
    for index in remedies.indices {
      remedies[index].values = remedies[index].values.map(redactor.scrub)
    }
  }
}
