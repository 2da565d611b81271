import HTTPTypes
import Logging
import QuireCore
package import QuirePagination
import Synchronization

/// The state of a listing that its walks share: its description, secrets and host.
///
/// A class, because every request of a walk uses it.
package final class Listing: Sendable {
  let client: PageClient
  let engine: PaginationEngine
  /// The origin of the first request.
  let home: Origin
  /// The digests by which positions are recognized as those of this listing.
  let identity: ListingIdentity
  /// The secrets that signers have put into requests.
  let signed = SignedSecrets()
  /// The secrets of the first request.
  private let ownSecrets: SecretParameters
  /// Whether a request for a page may be sent again.
  let isRepeatable: Bool
  /// The health of the listing's own host, which all walks of the client share.
  let health: HostHealth
  /// The number of the credential of requests to its own host. The server's limits apply to each
  /// credential.
  let account: Int
  /// Notes whether the address of its own host is public.
  let homeNote = HomeNote()
  /// Whether its own host and scheme were found allowed, as far as its URL shows. They are the same
  /// for all its requests, and transports check the address of each connection.
  let isHomeChecked = Atomic(false)
  /// The address in its own URL; nil if the URL has a name.
  private let homeAddress: IPAddress?
  /// The interval between requests that its description asks for.
  let interval: Duration
  /// The page sizes to ask for; nil if the size cannot change.
  let sizes: PageSizes?
  /// Notes the format of the first page, which later pages must have.
  let format = PageFormatNote()
  /// The field that asks for pages in the formats of its description.
  let accept: HTTPField

  /// Throws `invalidArgument` or `invalidURL` if the description or the URL cannot work.
  package init(
    client: PageClient, pagination: Pagination, first: PageRequest, pageSize: Int? = nil,
    secrets: [String] = [], custom: (@Sendable (AnsweredPage) throws -> NextPage?)? = nil
  ) throws {
    self.client = client
    home = try Origin(url: first.url)
    engine = try PaginationEngine(
      pagination, first: first, home: home, pageSize: pageSize, nextPageClosure: custom)
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
    accept = HTTPField(name: .accept, value: PageFormat.accept(pagination.formats))
    for notice in engine.notices { client.shared.emit(.warning, .adjusted(notice)) }
  }

  /// Returns a number for the credential of a listing, which is the same after a renewal; 0 for
  /// none.
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

  /// Returns the guard of addresses for requests to a host. If the listing's own host is private,
  /// so may be the same host by https and the hosts that the link policy names, because the caller
  /// has chosen them and not the server.
  func addresses(of host: Origin) -> AddressGuard {
    let isOwn =
      host == home || homeNote.isPrivate && (isUpgrade(host) || policy.links.allowsByName(host))
    return AddressGuard(
      client.shared.configuration.addresses, isHome: isOwn,
      literal: host == home ? homeAddress : nil,
      homeNote)
  }

  /// Returns whether an origin is the listing's own host by https, and the listing began by http.
  private func isUpgrade(_ other: Origin) -> Bool {
    home.scheme == "http" && home.port == 80 && other.scheme == "https" && other.port == 443
      && other.host == home.host
  }

  /// Throws `refusedLink` if a redirect would take a secret of the walk to another origin.
  func checkSecrets(of hop: RedirectMachine.Hop) throws(PageError) {
    guard hop.origin != home, !isUpgrade(hop.origin), secrets.appear(in: hop.text) else { return }
    throw PageError(
      .refusedLink,
      "A redirect would take a secret of the walk from \(home) to \(hop.origin.displayText). If that is right, "
        + "start the walk at its target.")
  }

  /// Returns the lane of requests to a host. Other hosts never get the credential, so they have the
  /// account 0.
  func lane(to host: Origin) -> BudgetMachine.Lane {
    BudgetMachine.Lane(host: host, account: host == home ? account : 0)
  }

  var policy: Pagination.Policy { engine.pagination.policy }

  /// All known secrets, including those of credentials and signers.
  var secrets: SecretParameters { ownSecrets.adding(credentialSecrets + signed.all) }

  /// The credentials of the listing's requests; nil if there are none for its origin.
  var keeper: CredentialKeeper? {
    client.shared.configuration.keeper.flatMap { $0.origin == home ? $0 : nil }
  }

  /// The secrets of the last credentials, without those of the first request.
  private var credentialSecrets: [Secret] {
    keeper?.secrets.filter { !ownSecrets.holds($0.value) } ?? []
  }

  /// Returns the URL with the current credential in place of an older one: a link may have been
  /// made before a renewal.
  func renewingCredential(in url: String) -> String {
    let secrets = credentialSecrets
    return secrets.isEmpty ? url : SecretParameters(secrets).renewing(url)
  }

  /// Decodes a position and restores its secrets; nil for the start. Throws if they would go to
  /// another origin than the listing's.
  ///
  /// All positions come in here, and go out through `redactPositions(of:)`.
  func continuation(at position: Position) throws -> Bookmark? {
    guard position.value != nil else { return nil }
    guard SecretParameters.isMarked(position) else { return try Bookmark(position) }
    let bookmark = try Bookmark(try secrets.restore(position))
    let origin = try Origin(url: engine.builder.request(for: bookmark).url)
    guard origin == home else {
      throw PageError(
        .refusedLink,
        "The next link would take a secret of the walk from \(home) to \(origin.displayText).")
    }
    return bookmark
  }

  /// Makes the secrets of a position known: gets the current credential from its source, or makes a
  /// signature that is not sent. Needed if a walk begins with a stored position.
  func findSecrets(of position: Position) async throws {
    if let keeper, keeper.serves,
      SecretParameters.marks(in: position).contains(where: {
        $0.hasPrefix(Secret.credentialSource)
      })
    {
      _ = try await keeper.ticket(client.environment.now, client.environment.limitClock)
    }
    if signed.isNeeded(for: position) {
      try await Exchange(self, engine.first).signWithoutSending()
    }
  }

  /// Returns a redactor of the listing's secrets and those of one of its requests.
  package func redactor(for request: PageRequest? = nil) -> Redactor {
    let first = engine.first
    let request = request ?? first
    return Redactor(
      fields: client.shared.configuration.headers.appending(request.headerFields)
        .appending(client.shared.configuration.keeper?.fields ?? [:]),
      urls: [request.url, first.url], body: request.body,
      known: secrets.values + client.transport.secrets.map { Array($0.utf8) })
  }

  /// Redacts the positions and warnings of a page's head before it is delivered.
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

  /// Returns the error for the caller, redacted unless an exchange has done so.
  // Not inlined, because its locals would be part of the frame of every page that waits.
  @inline(never)
  func redacted(_ error: any Error) -> any Error {
    guard var error = error as? PageError, error.request == nil else { return error }
    error.redactText(by: redactor())
    return error
  }

  /// Decodes a position, and returns it with its request; nil for the start.
  func destination(of position: Position) throws -> Destination? {
    try continuation(at: position).map { try destination(of: $0, at: position) }
  }

  /// Returns the request of a bookmark, which may replace the one in the position.
  func destination(of bookmark: Bookmark, at position: Position) throws -> Destination {
    let request = try engine.builder.request(for: bookmark)
    return Destination(position, bookmark, request, try? hop(for: request))
  }

  /// Returns the first hop of a request, with its URL parsed.
  func hop(for request: PageRequest) throws(PageError) -> RedirectMachine.Hop {
    try RedirectMachine.Hop(
      request.method, URLReference(request.url), request.url, home: home,
      keepsBody: request.body != .none)
  }

  /// Returns a hash of a destination and an item offset, for detecting loops within this process.
  /// Positions that lead to the same request have the same hash; nil is the start.
  func identity(of destination: Destination?, itemOffset: Int) -> Int {
    guard let destination else { return identity(of: engine.first, itemOffset: itemOffset) }
    return identity(
      of: destination.request, destination.hop, at: destination.bookmark, itemOffset: itemOffset)
  }

  /// Returns a hash of a request, and of the parts of a position that lead to other pages although
  /// the request is the same: the number of restarts, the state of a closure, and the indexes in
  /// which a page is looked up.
  func identity(
    of request: PageRequest, _ hop: RedirectMachine.Hop? = nil, at bookmark: Bookmark? = nil,
    itemOffset: Int = 0
  ) -> Int {
    var hasher = Hasher()
    hasher.combine(request.method.rawValue)
    // Most requests of a walk have the same fields and body as the first.
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
    hasher.combine(bookmark?.recoveries ?? 0)
    hasher.combine(bookmark?.state)
    hasher.combine(bookmark?.enclosingIndexes ?? [])
    return hasher.finalize()
  }
}

/// The decoded position of a page, and its request.
final class Destination: Sendable {
  let position: Position
  let bookmark: Bookmark
  let request: PageRequest
  /// The first hop; nil if the URL cannot be parsed, which is an error once it is requested.
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

extension PageError {
  /// Redacts the message and the remedies.
  mutating func redactText(by redactor: Redactor) {
    message = redactor.scrub(message)
    for index in remedies.indices {
      remedies[index].values = remedies[index].values.map(redactor.scrub)
    }
  }
}
