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
  /// How the listing's own host is, for all walks of the client.
  let health: HostHealth
  /// Which credential its requests home carry: what the server allows is allowed to that.
  let account: Int
  /// Whether its own host has a public address.
  let homeNote = HomeNote()
  /// The address that its own URL has in the place of a name.
  private let homeAddress: IPAddress?
  /// How far apart its description wants requests.
  let interval: Duration
  /// How many items pages are asked for in; nil where that cannot change.
  let sizes: PageSizes?
  let indexes = IndexCache()
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
    homeAddress = IPAddress(home.host)
    health = client.budget.health(of: home)
    interval = .seconds(pagination.policy.pacing.interval)
    sizes = pagination.size?.send == nil ? nil : engine.pageSize.map(PageSizes.init)
    account = Self.account(client.configuration.keeper, home, ownSecrets)
    for notice in engine.notices { client.configuration.emit(.warning, .adjusted(notice)) }
  }

  /// Tells credentials apart, whatever becomes of a token that is renewed; 0 for none.
  private static func account(
    _ keeper: CredentialKeeper?, _ home: Origin, _ secrets: SecretParameters
  ) -> Int {
    var hasher = Hasher()
    if let keeper, keeper.origin == home {
      hasher.combine(ObjectIdentifier(keeper))
    } else if secrets.isEmpty {
      return 0
    }
    secrets.hash(into: &hasher)
    return hasher.finalize()
  }

  /// Which addresses a request to a host may reach. A private host may lead to those that the link policy
  /// names, for they are the caller's word and not the server's.
  func addresses(of host: Origin) -> AddressGuard {
    let isUpgrade =
      home.scheme == "http" && home.port == 80 && host.scheme == "https" && host.port == 443
      && host.host == home.host
    let isOwn = host == home || homeNote.isPrivate && (isUpgrade || policy.links.names(host))
    return AddressGuard(
      client.configuration.addresses, isHome: isOwn, literal: host == home ? homeAddress : nil,
      homeNote)
  }

  /// The lane of requests to a host.
  func lane(to host: Origin) -> BudgetMachine.Lane {
    BudgetMachine.Lane(host: host, account: host == home ? account : 0)
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

extension PageError {
  /// Takes secrets out of what the error says.
  mutating func redactText(by redactor: Redactor) {
    message = redactor.scrub(message)
    for index in remedies.indices {
      remedies[index].values = remedies[index].values.map(redactor.scrub)
    }
  }
}
