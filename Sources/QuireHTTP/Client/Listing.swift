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
        in: first, client.shared.configuration.headers.appending(first.headerFields),
        segments: try pagination.policy.secretSegment.map { [try SecretSegment($0)] } ?? [],
        named: secrets))
    isRepeatable = first.method.isSafe || pagination.request.isQuery
    homeAddress = IPAddress(home.host)
    health = client.budget.health(of: home)
    interval = Duration.wait(seconds: pagination.policy.pacing.interval) ?? .zero
    sizes = pagination.size?.send == nil ? nil : engine.pageSize.map(PageSizes.init)
    account = Self.account(client.shared.configuration.keeper, home, ownSecrets)
    for notice in engine.notices { client.shared.emit(.warning, .adjusted(notice)) }
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
      client.shared.configuration.addresses, isHome: isOwn,
      literal: host == home ? homeAddress : nil,
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
    client.shared.configuration.keeper.flatMap { $0.origin == home ? $0 : nil }
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

  /// A position decoded, with its secrets, if it leads to the listing's own origin, which alone may receive
  /// them; nil for the start.
  /// The one place where positions come in; `redactPositions(of:)` is the one where they go out.
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
      _ = try await keeper.ticket(client.environment.now, client.environment.limitClock)
    }
    if signed.isNeeded(for: position) { try await Exchange(self, engine.first).signInVain() }
  }

  /// What takes the listing's secrets out of texts, and those of another of its requests.
  package func redactor(for request: PageRequest? = nil) -> Redactor {
    let first = engine.first
    let request = request ?? first
    return Redactor(
      fields: client.shared.configuration.headers.appending(request.headerFields)
        .appending(client.shared.configuration.keeper?.fields ?? [:]),
      urls: [request.url, first.url], body: request.body, known: secrets.values)
  }

  /// Makes the head of a page what is delivered: no secret in its positions, nor in what is said about it.
  func redactPositions(of head: inout PageHead) {
    secrets.redact(&head)
    if head.next == nil, head.metadata[HTTPPageInfo.self]?.resume != nil {
      head.metadata[HTTPPageInfo.self]?.resume?.listing = identity
    }
    guard !head.warnings.isEmpty else { return }
    let redactor = redactor()
    for index in head.warnings.indices {
      head.warnings[index].message = redactor.scrub(head.warnings[index].message)
      if let remedy = head.warnings[index].remedy {
        head.warnings[index].remedy?.values = remedy.values.map(redactor.scrub)
      }
    }
  }

  /// The error as it is thrown: redacted, where no exchange has described it.
  // What it needs must not lie in the frame of every page that is waited for.
  @inline(never)
  func redacted(_ error: any Error) -> any Error {
    guard var error = error as? PageError, error.request == nil else { return error }
    error.redactText(by: redactor())
    return error
  }

  /// A position decoded, and the request that it leads to; nil for the start.
  func destination(of position: Position) throws -> Destination? {
    try continuation(at: position).map { try destination(of: $0, at: position) }
  }

  /// The request that a bookmark leads to, in the place of a position.
  func destination(of bookmark: Bookmark, at position: Position) throws -> Destination {
    let request = try engine.request(for: bookmark)
    return Destination(position, bookmark, request, try? hop(for: request))
  }

  /// The first hop of a request, its address taken apart.
  func hop(for request: PageRequest) throws(PageError) -> RedirectMachine.Hop {
    try RedirectMachine.Hop(
      request.method, URLReference(request.url), request.url, home: home,
      keepsBody: request.body != .none)
  }

  /// A hash of what is requested at a destination, the same for all positions that lead to the same
  /// request, within this process; nil is the start.
  func identity(of destination: Destination?, itemOffset: Int) -> Int {
    guard let destination else { return identity(of: engine.first, itemOffset: itemOffset) }
    return identity(
      of: destination.request, destination.hop, at: destination.bookmark, itemOffset: itemOffset)
  }

  /// A hash of a request, and of what a position holds besides that leads to other pages: what was
  /// begun again, what a closure remembers, and the indexes that a page is looked up in.
  func identity(
    of request: PageRequest, _ hop: RedirectMachine.Hop? = nil, at bookmark: Bookmark? = nil,
    itemOffset: Int = 0
  ) -> Int {
    var hasher = Hasher()
    hasher.combine(request.method.rawValue)
    // Most requests of a walk have the fields and the body of its first.
    hasher.combine(
      request.headerFields == engine.first.headerFields ? nil : request.headerFields)
    hasher.combine(request.body == engine.first.body ? nil : request.body)
    if let hop = try? hop ?? self.hop(for: request) {
      hasher.combine(hop.origin == home ? nil : hop.origin)
      hop.url.hashMeaning(into: &hasher)
    } else {
      hasher.combine(request.url)
    }
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

/// Where a position leads: what a walk asks about before it reads there.
final class Destination: Sendable {
  let position: Position
  let bookmark: Bookmark
  let request: PageRequest
  /// Nil for an address that cannot be taken apart, which is an error when it is asked.
  let hop: RedirectMachine.Hop?

  init(
    _ position: Position, _ bookmark: Bookmark, _ request: PageRequest, _ hop: RedirectMachine.Hop?
  ) {
    self.position = position
    self.bookmark = bookmark
    self.request = request
    self.hop = hop
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
