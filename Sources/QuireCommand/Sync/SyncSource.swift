import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization

/// Reads a listing for each of its parents, one after the other in the order of their numbers. A
/// listing without a parent is read once.
///
/// A position combines the parent's number with the position in that parent's listing, and the
/// values with which that listing was begun: the parent may have others by the time it goes on. Where
/// later runs read what has changed, it also has the greatest increment value of the parent's items.
final class SyncSource: Sendable {
  /// The pages of one walk: all items, or those changed since a value.
  struct Pages: PageSource {
    let source: SyncSource
    let since: JSONValue?
    /// The walk through one parent's listing, identified by the parent's number.
    let open = OpenWalk<Int>()

    /// True, because the walk through a parent's listing stays open between pages.
    var needsClosing: Bool { true }
    func page(at position: Position?) async throws -> Page<RawItem>? {
      try await source.page(at: position, since: since, open)
    }
    func close(at position: Position?) async { await open.close() }
  }

  /// The place of a page: a parent and a position in its listing.
  private struct PagePlace {
    var parent: SyncState.Parent
    /// Nil at the beginning of the parent's listing.
    var inner: Position?
    /// The items received so far of the parent's listing; unknown if it was not read from its
    /// start.
    var tally = ItemTally()
    /// The greatest increment value of the items before; nil at the beginning.
    var greatest: JSONValue?
  }

  /// The parents whose listings are read.
  enum Parents: Sendable {
    /// The stored parents of the rounds that the record's run reads.
    case noted(SyncState, SyncState.Record)
    /// One parent or none, and perhaps only one part of its listing.
    case one(SyncState.Parent, part: Range<Int64>?)
  }

  private let listing: SyncListing
  private let client: PageClient
  private let requests: SyncRequests
  private let parents: Parents
  /// The number of parents whose listings are read at a time.
  private let parallel: Int
  private let notes = Mutex(Notes())

  private struct Notes {
    /// The number of parents whose listing was missing and was skipped.
    var skipped = 0
    /// The parents whose listing ended with the page at a position.
    var finished: [Position?: SyncState.ReadParent] = [:]
    /// The number of listings of parents that failed one after the other and were left out.
    var failedInARow = 0
    /// The number of parents whose listing was read to its end, by earlier commands too; nil before
    /// the first page.
    var done: Int?
    /// Nil if no items of several parents can displace each other.
    var keys: SyncKeys?
  }

  /// The most failures in a row that are attributed to the parents themselves.
  static let mostFailuresInARow = 10

  init(
    _ listing: SyncListing, _ client: PageClient, _ origins: Set<Origin>, _ parents: Parents,
    parallel: Int = 1
  ) {
    self.listing = listing
    self.client = client
    requests = SyncRequests(listing, origins)
    self.parents = parents
    self.parallel = parallel
    if case .noted = parents { notes.withLock { $0.keys = SyncKeys(listing) } }
  }

  /// Returns a cursor through the listings of all parents, or through what has changed in them.
  func cursor(since: JSONValue?) -> Cursor<RawItem> {
    let since = since ?? listing.since?.start
    return Cursor<RawItem>.ofEachWalk { Pages(source: self, since: since) }
      .limited(to: listing.limits)
  }

  /// The number of parents whose listing was missing and was skipped.
  var skipped: Int { notes.withLock { $0.skipped } }

  /// What to say of items that displaced those of other parents; empty for none.
  var keyWarning: String { notes.withLock { $0.keys?.warning ?? "" } }

  /// The number of parents whose listing was read to its end.
  var parentsDone: Int { notes.withLock { $0.done ?? 0 } }

  private func page(
    at position: Position?, since: JSONValue?, _ open: OpenWalk<Int>
  ) async throws -> Page<RawItem>? {
    guard let place = try place(position) else { return nil }
    if case .noted(let state, let record) = parents, let parent = listing.parent,
      notes.withLock({ $0.done == nil })
    {
      let before = try state.countParents(
        of: parent, in: record.parentRounds, before: place.parent.number)
      notes.withLock { $0.done = before }
    }
    try readAhead(behind: place.parent, since, open)
    let found: Page<RawItem>?
    do {
      found = try await read(place, since, open)
    } catch let error as PageError {
      guard try await mayLeaveOutRest(after: error, of: place.parent) else { throw error }
      var page = Page<RawItem>([])
      page.traffic = error.traffic
      page.traffic.items = 0
      try await leaveOutRest(of: place.parent, behind: &page, error, open)
      return page
    }
    return try await page(of: found, at: place, position, open)
  }

  /// Returns a page of a parent's listing as a page of the whole; nil means that the parent's
  /// listing has ended.
  private func page(
    of found: Page<RawItem>?, at place: PagePlace, _ position: Position?, _ open: OpenWalk<Int>
  ) async throws -> Page<RawItem> {
    var page = Page<RawItem>(
      try requests.addingMembers(of: place.parent, to: found?.items ?? []))
    _ = try notes.withLock { try $0.keys?.note(page.items, of: place.parent.number) }
    var tally = place.tally
    if let found { try fill(&page, from: found, at: place, &tally) }
    let greatest = try greatest(of: page.items, at: place)
    if let inner = found?.next {
      page.next = Self.position(place.parent, try inner.sealedJSON, tally, greatest)
    } else if let failure = found?.nextFailure {
      if try await mayLeaveOutRest(after: failure, of: place.parent) {
        try await leaveOutRest(of: place.parent, behind: &page, failure, open)
      }
    } else {
      notes.withLock { $0.failedInARow = 0 }
      if listing.parent != nil, found != nil, let missing = tally.missing {
        page.metadata[MissingItems.self] = MissingItems(
          missing, isReadAnew: try forget(place.parent))
      } else if listing.since != nil, let found, place.inner != nil || !found.head.isAbsent {
        // Pages are written in order; `SyncSession` takes this when it writes the page, perhaps
        // while the next one is read.
        let parent = SyncState.ReadParent(values: place.parent.values, greatest: greatest)
        notes.withLock { $0.finished[position == .start ? nil : position] = parent }
      }
      try await continueWithNextParent(after: place.parent, behind: &page, open)
    }
    return page
  }

  /// Copies the properties of a parent's page, except for its next position, and counts its items.
  private func fill(
    _ page: inout Page<RawItem>, from found: Page<RawItem>, at place: PagePlace,
    _ tally: inout ItemTally
  ) throws {
    page.traffic = found.traffic
    page.metadata = found.metadata
    page.warnings = found.warnings
    page.nextFailure = found.nextFailure
    // The total of one parent's listing, or of a part, is not the total of the whole.
    if listing.parent == nil, listing.split == nil {
      (page.total, page.head.endDoubt) = (found.total, found.head.endDoubt)
      page.head.beginsAnew = found.head.beginsAnew
    }
    if place.inner == nil, found.head.startsMidway || found.previous != nil { tally.received = nil }
    tally.add(found, declaring: found.total)
    if let resume = found.http?.resume, listing.changes {
      page.metadata[ChangesPlace.self] = ChangesPlace(
        Self.position(place.parent, try resume.sealedJSON))
    }
  }

  /// Returns the page of a parent's listing; nil if the listing has ended, or if it is missing and
  /// the file says to skip it.
  private func read(
    _ place: PagePlace, _ since: JSONValue?, _ open: OpenWalk<Int>
  ) async throws -> Page<RawItem>? {
    if place.inner == nil, let placeholder = try requests.missingValue(place.parent) {
      guard listing.skipsMissing else {
        throw PageError(
          .shape,
          "An item of \(ServerText(placeholder.listing ?? listing.parent ?? "")) has no text or number at "
            + "\(ServerText(placeholder.path.text)), which the URL of \(ServerText(listing.name)) needs. Name "
            + "what all items have, or say missing: skip.")
      }
      notes.withLock { $0.skipped += 1 }
      return nil
    }
    do {
      return try await open.page(of: place.parent.number, at: place.inner) {
        let cursor = try cursor(of: place.parent, since, by: client)
        return place.inner.map { cursor.resuming(from: $0) } ?? cursor
      }
    } catch let error as PageError where listing.skipsMissing && Self.isMissing(error) {
      notes.withLock { $0.skipped += 1 }
      return nil
    }
  }

  /// Starts reading the first pages of the next parents' listings, so that `parallel` requests are
  /// sent at a time. Pages and errors are still delivered in the order of the parents.
  private func readAhead(
    behind parent: SyncState.Parent, _ since: JSONValue?, _ open: OpenWalk<Int>
  ) throws {
    guard listing.parent != nil, case .noted = parents else { return }
    while case let ahead = open.listingsAhead, ahead.count < parallel - 1,
      let next = try next(after: ahead.last ?? parent.number)
    {
      let parent = try start(of: next).parent
      do {
        guard try requests.missingValue(parent) == nil else { return }
        try open.readAhead(of: parent.number) { try cursor(of: parent, since, by: client) }
      } catch is PageError {
        return  // Thrown again when the parent's turn comes.
      }
    }
  }

  /// Whether to leave out a parent's listing that failed with `error`. False after several failures
  /// in a row: the run then stops, and the next one continues here.
  private func mayLeaveOutRest(
    after error: PageError, of parent: SyncState.Parent
  ) async throws -> Bool {
    guard case .noted = parents,
      notes.withLock({ $0.failedInARow }) < Self.mostFailuresInARow
    else { return false }
    return try await concernsOneParent(error, parent) {
      try self.others(than: parent.number)
    }
  }

  /// Leaves out the rest of a parent's listing, and counts at least one item as missing.
  private func leaveOutRest(
    of parent: SyncState.Parent, behind page: inout Page<RawItem>, _ error: PageError,
    _ open: OpenWalk<Int>
  ) async throws {
    // A failure without a request says nothing about the server.
    if error.traffic.requests > 0 { notes.withLock { $0.failedInARow += 1 } }
    page.nextFailure = nil
    page.metadata[MissingItems.self] = MissingItems(
      1, isReadAnew: try forget(parent), failure: Self.words(for: error))
    try await continueWithNextParent(after: parent, behind: &page, open)
  }

  private static func words(for error: PageError) -> String {
    SyncRun.words.line(error)
      + (isMissing(error) ? " Where listings may be gone, say missing: skip." : "")
  }

  /// Makes the next run read all of a parent's listing, not only what has changed since this run.
  /// Returns false if a run reads one listing alone: its checkpoint then makes the next run begin
  /// where this one began.
  private func forget(_ parent: SyncState.Parent) throws -> Bool {
    guard case .noted(let state, _) = parents else { return false }
    try state.forget(parent.values, of: listing.name)
    return true
  }

  /// Skips the rest of this parent's listing and continues with the next parent.
  private func continueWithNextParent(
    after parent: SyncState.Parent, behind page: inout Page<RawItem>, _ open: OpenWalk<Int>
  ) async throws {
    await open.closeListing()
    page.next = try next(after: parent.number).map { Self.position($0, .null) }
    // After all that can throw: a page that is read again must not count its parent twice.
    notes.withLock { $0.done = ($0.done ?? 0) + 1 }
  }

  /// Removes and returns the parent whose listing ends with the page at a position; nil if the
  /// listing goes on.
  func finished(at position: Position?) -> SyncState.ReadParent? {
    notes.withLock { $0.finished.removeValue(forKey: position == .start ? nil : position) }
  }

  /// Returns the values of the parent to whose listing the page at a position belongs.
  func values(at position: Position) throws -> JSONValue {
    try place(position).map { try JSONValue(parsing: $0.parent.values) } ?? .null
  }

  // MARK: Failures of one parent

  /// Whether a failure concerns one parent's listing alone, so that the others can still be read. A
  /// later run reads the failed listing anew and replaces items by key. False if the server
  /// throttles or refuses all requests, or if it does not answer for another parent either.
  func concernsOneParent(
    _ error: PageError, _ parent: SyncState.Parent,
    others: () async throws -> [SyncState.Parent]
  ) async throws -> Bool {
    guard listing.parent != nil, listing.destination.mode == .upsert,
      !Self.concernsAllRequests(error)
    else {
      return false
    }
    guard Self.isOutage(error) else { return true }
    for other in try await others() {
      if let answers = try await answers(other, where: parent) { return answers }
    }
    return false
  }

  private static func concernsAllRequests(_ error: PageError) -> Bool {
    let codes: [PageError.Code] = [
      .tls, .throttled, .credentialsFailed, .refusedAddress, .clientClosed, .invalidArgument,
      .positionMismatch,
    ]
    let status = error.response?.status.code ?? 0
    return codes.contains(error.code) || [401, 407].contains(status)
      || PassingStatus.later.contains(status)
  }

  /// Whether a failure may come from an outage, or from a gateway that timed out on one page.
  private static func isOutage(_ error: PageError) -> Bool {
    [.connectFailed, .timedOut].contains(error.code)
      || PassingStatus.outage.contains(error.response?.status.code ?? 0)
  }

  /// Whether the server of `parent`'s listing answers one request for another parent; nil if the
  /// other parent has no listing there.
  private func answers(
    _ other: SyncState.Parent, where parent: SyncState.Parent
  ) async throws -> Bool? {
    var once = client
    once.configuration.retry = .never
    let cursor: Cursor<RawItem>
    do {
      guard try requests.missingValue(other) == nil,
        try requests.origin(of: other) == requests.origin(of: parent)
      else { return nil }
      cursor = try self.cursor(of: other, listing.since?.start, by: once)
    } catch is PageError {
      return nil
    }
    let walk = cursor.walk()
    var failure: PageError?
    do {
      _ = try await walk.next()
    } catch let error as PageError {
      failure = error
    }
    await walk.close()
    return failure.map { !Self.isOutage($0) && !Self.concernsAllRequests($0) } ?? true
  }

  /// Returns some of the parents after `number`, and the first of all if it is before `number`.
  private func others(than number: Int) throws -> [SyncState.Parent] {
    var others: [SyncState.Parent] = []
    while others.count < Self.mostFailuresInARow,
      let next = try next(after: others.last?.number ?? number)
    {
      others.append(next)
    }
    if let first = try next(after: -1), first.number < number { others.append(first) }
    return others
  }

  // MARK: Parents

  private func next(after number: Int) throws -> SyncState.Parent? {
    switch parents {
    case .one(let parent, _): return number < parent.number ? parent : nil
    case .noted(let state, let record):
      guard let parent = listing.parent else { return number < 0 ? SyncState.Parent.none : nil }
      return try state.parent(of: parent, in: record.parentRounds, after: number)
    }
  }

  /// Returns the value at which a parent's listing begins.
  private func since(_ since: JSONValue?, for parent: SyncState.Parent) throws -> JSONValue? {
    let start = listing.since?.start
    guard let since, since != start, let increment = listing.since?.increment,
      listing.parent != nil, case .noted(let state, let record) = parents
    else { return since }
    let greatest = try state.greatest(of: parent.values, by: record)
    return try greatest.map { try increment.beginning(since, behind: $0) } ?? start
  }

  /// Returns the greatest increment value of a parent's items, up to those of a page.
  private func greatest(of items: [RawItem], at place: PagePlace) throws -> JSONValue? {
    guard let increment = listing.since?.increment, listing.parent != nil,
      case .noted(let state, let record) = parents
    else { return nil }
    var greatest = place.greatest
    if place.inner == nil { greatest = try state.greatest(of: place.parent.values, by: record) }
    for item in items {
      guard let value = try item.valueIfUnicode(at: increment.field), value != .null else {
        continue
      }
      greatest = try greatest.map { try Increment.greater($0, value) } ?? value
    }
    return greatest
  }

  /// Returns the start of a parent's listing. A run that is continued begins it with the parent's
  /// newest values.
  private func start(of parent: SyncState.Parent) throws -> PagePlace {
    guard case .noted(let state, _) = parents, listing.parent != nil else {
      return PagePlace(parent: parent)
    }
    return PagePlace(parent: try state.newest(of: parent))
  }

  private func place(_ position: Position?) throws -> PagePlace? {
    guard let value = position?.value else { return try next(after: -1).map { try start(of: $0) } }
    guard let number = value["parent"]?.integer, let parent = try next(after: number - 1),
      parent.number == number
    else {
      throw PageError(
        .invalidArgument,
        "The parent that the listing \(ServerText(listing.name)) was at is not known any more. Begin the "
          + "listing anew by --restart.")
    }
    guard let inner = value["at"], inner != .null else { return try start(of: parent) }
    return PagePlace(
      parent: SyncState.Parent(number: number, values: value["values"]?.string ?? parent.values),
      inner: try Position(sealedJSON: inner),
      tally: ItemTally(value), greatest: value["greatest"])
  }

  private static func position(
    _ parent: SyncState.Parent, _ inner: JSONValue, _ tally: ItemTally? = nil,
    _ greatest: JSONValue? = nil
  ) -> Position {
    var place: [JSONValue.Member] = [
      .init("parent", .number("\(parent.number)")), .init("at", inner),
    ]
    if inner != .null, parent.number > 0 {
      place.append(.init("values", .string(parent.values)))
    }
    if let greatest { place.append(.init("greatest", greatest)) }
    return Position(.object(place + (tally?.members ?? [])))
  }

  /// Whether the server answered that a listing does not exist (404, 410).
  static func isMissing(_ error: PageError) -> Bool {
    error.response.map { [404, 410].contains($0.status.code) } ?? false
  }

  /// Returns the cursor of a parent's listing, in parts if the file says `split`.
  private func cursor(
    of parent: SyncState.Parent, _ since: JSONValue?, by client: PageClient
  ) throws -> Cursor<RawItem> {
    let values = try JSONValue(parsing: parent.values)
    let since = try self.since(since, for: parent)
    guard let split = listing.split else {
      return try requests.cursor(values, nil, since, by: client)
    }
    var range: Range<Int64>?
    if case .one(_, let part) = parents { range = part }
    return Cursor.partitioned(by: split.split(of: range)) { [requests] part in
      try requests.cursor(values, part, since, by: client)
    }
  }
}
