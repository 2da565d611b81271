import HTTPTypes
import Logging
import QuireCore
package import QuirePagination
import Synchronization

/// What is known of a listing before its first page, shared by its walks.
///
/// A reference: every request of a walk uses it, and as a value it would be copied each time.
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

  /// Throws `invalidArgument` or `invalidURL` for a description or a URL that cannot work.
  package init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int? = nil,
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
    for notice in engine.notices { client.configuration.emit(.warning, .adjusted(notice)) }
  }

  private static func pacer(_ pacing: Pagination.Pacing, _ configuration: PageClient.Configuration)
    -> Pacer?
  {
    guard pacing.interval > 0 || pacing.backoff != nil else { return nil }
    return Pacer(
      interval: .seconds(pacing.interval), longest: configuration.retry.maximumRetryAfter,
      clock: configuration.clock)
  }

  var policy: Pagination.Policy { engine.pagination.policy }

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

  /// A position decoded, with its secrets, if it leads home, which alone may get them; nil for the start.
  /// The one place where positions come in; `redacted(_:)` is the one where they go out.
  func continuation(at position: Position) throws -> Bookmark? {
    guard position.value != nil else { return nil }
    guard SecretParameters.isMarked(position) else { return try Bookmark(position) }
    let bookmark = try Bookmark(try secrets.restore(position))
    let origin = try Origin(url: engine.request(for: bookmark).url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take a secret of the walk from \(home) to \(origin.shown).")
    }
    return bookmark
  }

  /// Makes sure that the secrets of a position are known: where a walk begins with one that has those
  /// of a credential, its source is asked for the present one; those of a signer take a signature that
  /// is not sent.
  func findSecrets(of position: Position) async throws {
    if let keeper, keeper.serves,
      SecretParameters.marks(in: position).contains(where: {
        $0.hasPrefix(Secret.credentialSource)
      })
    {
      _ = try await keeper.ticket(client.environment.now)
    }
    if signed.isNeeded(for: position) { try await Exchange(self, engine.first).signInVain() }
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

  /// The page as it is delivered: no secret in its positions, nor in what is said about it.
  func redacted<Item>(_ page: Page<Item>) -> Page<Item> {
    var page = secrets.redact(page)
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

  /// What `operation` returns; errors that no exchange has described are redacted.
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

  /// A hash of what is requested at a position: the same for all positions that lead to the same
  /// request, within this process.
  func identity(of position: Position) -> Int {
    guard position.value != nil else {
      return identity(of: engine.first, itemOffset: position.itemOffset)
    }
    guard let bookmark = try? continuation(at: position),
      let request = try? engine.request(for: bookmark)
    else { return position.hashValue }
    return identity(of: request, at: bookmark, itemOffset: position.itemOffset)
  }

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

  /// Keeps the pages that an answer lists, if it is an index that later pages are looked up in.
  func remember(_ answer: PageAnswer, next: Position?) throws {
    guard engine.indexRouteExists, let next else { return }
    let needed = engine.indexes(neededAt: try Bookmark(next))
    guard let index = needed.last, index == answer.request.url else { return }
    indexes.store(try engine.pages(listedIn: answer), at: index, keeping: needed)
  }
}

extension PageRequest {
  /// Hashes what the request asks for, however it is spelt: scheme and host in any case, the default
  /// port named or not, dots in the path, percent-encoding where none was needed, and parameters of
  /// different names in any order (RFC 3986, §6.2.2 and §6.2.3).
  fileprivate func hashMeaning(into hasher: inout Hasher) {
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

/// The indexes that the walks of a listing are in the middle of, by their addresses.
final class IndexCache: Sendable {
  private let lists = Mutex<[String: [String]]>([:])

  /// What is known; an index that no walk is in the middle of is forgotten when another one comes.
  var all: [String: [String]] { lists.withLock { $0 } }

  func store(_ list: [String], at url: String, keeping urls: [String]) {
    lists.withLock { lists in
      lists = lists.filter { urls.contains($0.key) }
      lists[url] = list
    }
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

/// What the fetches of one listing share while its server is away: one of them probes, the others wait
/// for its result, and all share the debt of retries.
final class OutageWatch: Sendable {
  private struct State {
    var debt = RetryDebt()
    var isProbed = false
    var followers: [Suspension<Void>] = []
  }

  private let state = Mutex(State())

  /// Retries that no page has paid for.
  var debt: Int { state.withLock(\.debt.count) }

  func retried() { state.withLock { $0.debt.retried() } }

  func paid() { state.withLock { $0.debt.paid() } }

  /// Takes the probing over; false while another fetch does it.
  func lead() -> Bool {
    state.withLock { state in
      defer { state.isProbed = true }
      return !state.isProbed
    }
  }

  /// Ends the probing, because the server answered or because it was given up: every other fetch tries
  /// for itself.
  func leave() {
    let followers = state.withLock { state in
      defer { (state.isProbed, state.followers) = (false, []) }
      return state.followers
    }
    for follower in followers { follower.resume(returning: ()) }
  }

  /// Waits until the fetch that probes has ended.
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
