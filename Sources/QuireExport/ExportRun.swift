import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One run of an export: opens the sink, walks, writes and commits. Used by one task.
final class ExportRun {
  private let export: Export
  private let stop: ExportStop
  private let stopwatch: Stopwatch
  private var machine: CommitMachine
  private var report = ExportReport()
  /// The checkpoint of the next commit.
  private var next = Checkpoint()
  /// The counts of uncommitted pages.
  private var pending = ExportReport()
  /// The receipts of uncommitted pages.
  private var receipts: [PageReceipt] = []
  private var increment: IncrementMachine?
  /// The stored form of the position at which a later run reads changes; nil until a page gives
  /// one.
  private var changes: JSONValue?
  /// Whether the next run has to begin where this one began, because items are missing.
  private var fellShort = false
  /// Whether the next page begins with the item in front of the position, which was written before.
  private var overlaps = false
  /// Whether the next page is the first since the run goes on behind a page.
  private var followsPage = false
  /// The last item of the latest page, if that is whole. Its own bytes, because the item would keep
  /// the page in memory.
  private var lastOnPage: [UInt8]?
  /// The warnings that the walk cannot give, because they compare it with the one before.
  private var warnings: [WalkReport.Warning] = []
  /// The number of pages that had changed since a part of them was written, and were read again.
  private var changedPages = 0

  init(_ export: Export, _ stop: ExportStop) {
    self.export = export
    self.stop = stop
    stopwatch = Stopwatch(export.clock)
    machine = CommitMachine(export.commits)
  }

  func outcome() async -> ExportReport {
    var opening = SinkOpening(restarts: export.restarts) { [stop] in stop.isStopping }
    opening.onWait = export.onWait
    do {
      let session = try await export.sink.open(opening)
      do {
        try await run(session)
      } catch {
        failed(error)
      }
      await session.close()
    } catch {
      failed(error)
    }
    return report
  }

  private func failed(_ error: any Error) {
    report.end = error is CancellationError ? .cancelled : .failed(error)
  }

  private func run(_ session: any SinkSession) async throws {
    report.checkpoint = session.checkpoint
    switch try ExportStart(export, finding: session.checkpoint) {
    case .nothing(let end):
      report.end = end
      // The run that reached the limit may have been killed before it ended.
      if case .limit = end { try await (session as? any PausableSession)?.pause() }
    case .walk(var cursor, let checkpoint, let increment, let isResumed):
      next = checkpoint
      self.increment = increment
      changes = checkpoint.memory?["next"]
      report.isResumed = isResumed
      cursor = overlapping(cursor)
      followsPage = isResumed && next.lastOnPage != nil
      while true {
        let feed = PageFeed(
          cursor, lookAhead: export.lookAhead, clock: export.clock, stopwatch: stopwatch)
        stop.watch(feed)
        do {
          report.walk = try await write(from: feed, to: session)
        } catch {
          failed(error)
          report.walk = feed.report
        }
        report.walk.warnings += warnings
        await feed.close()
        guard let again = rereading(cursor) ?? restart() else { return }
        cursor = again
      }
    }
  }

  /// Returns the cursor from one item earlier if the run continues inside a page: unless that item
  /// is the one that was written last, items would be left out by their number.
  private func overlapping(_ cursor: Cursor<RawItem>) -> Cursor<RawItem> {
    guard let position = next.position, next.lastItem != nil else { return cursor }
    overlaps = true
    var cursor = cursor.resuming(from: position.at(itemOffset: position.itemOffset - 1))
    cursor.limits.items = cursor.limits.items?.plus(1)
    return cursor
  }

  /// Returns a page without the item that was written before.
  private func withoutOverlap(_ page: Page<RawItem>) throws(PageError) -> Page<RawItem> {
    guard overlaps, let position = next.position else { return page }
    overlaps = false
    let known = next.lastItem.map { ItemDigest(text: $0) }
    guard let found = page.items.first.map({ ItemDigest($0) }) else { throw changed }
    if found.whole != known?.whole {
      // A sink with a key reads the page again, and so takes the item as it is now.
      guard export.sink.mode != .upsert, let identity = known?.identity, identity == found.identity
      else { throw changed }
      warnings.append(.changedItem)
    }
    var rest = page.dropping(items: 1)
    rest.position = position
    rest.traffic.items -= 1
    return rest
  }

  /// Warns if the first page of a run that goes on begins with items that the run has written: the
  /// last one of them is among those that it begins with.
  private func warnOfOverlap(_ page: Page<RawItem>) {
    guard let known = next.lastOnPage, let sample = page.head.sample, sample.isCounted,
      !sample.edges.isEmpty,
      let index = page.items.prefix(64).firstIndex(where: {
        ItemDigest.identity(of: $0.compact) == known
      })
    else { return }
    warnings.append(.overlap(ofItems: index + 1))
  }

  private var changed: PageError {
    PageError(
      .pageChanged,
      "The export was to go on inside a page, and the page is not what it was: its item "
        + "\((next.position?.itemOffset ?? 1) - 1), counted from 0, differs from the one that was written, or is gone. Items may be "
        + "missing or come twice.", remedies: [Remedy(.position, ["start"])])
  }

  /// Returns the cursor from the beginning of a page that has changed since a part of it was
  /// written, if items that come again replace themselves.
  private func rereading(_ cursor: Cursor<RawItem>) -> Cursor<RawItem>? {
    guard case .failed(let error as PageError) = report.end, error.code == .pageChanged,
      export.sink.mode == .upsert, !stop.isStopping, changedPages < 3,
      let position = next.position, position.itemOffset > 0, !position.isOver
    else { return nil }
    changedPages += 1
    overlaps = false
    report.end = .running
    (next.position, next.lastItem, next.tally.received) = (position.page, nil, nil)
    lastOnPage = nil
    return cursor.resuming(from: position.page)
  }

  /// Returns the listing from its beginning if its cursor has expired and `restartsExpired`
  /// applies.
  private func restart() -> Cursor<RawItem>? {
    guard case .failed(let error as PageError) = report.end, error.code == .cursorExpired,
      export.restartsExpired, export.sink.mode == .upsert, !stop.isStopping,
      report.recoveries.count(where: { $0 == .restarted }) < 3
    else { return nil }
    let cursor = export.makeCursor(increment?.since)
    report.recoveries.append(.restarted)
    report.end = .running
    next.position = cursor.start
    (next.pages, next.items, next.tally) = (0, 0, ItemTally())
    (next.missing, next.leftOut, next.lastItem, next.lastOnPage) = (nil, nil, nil, nil)
    (overlaps, followsPage, lastOnPage) = (false, false, nil)
    fellShort = false
    increment?.fellShort = false
    return cursor
  }

  /// Writes and commits pages until none is left, and returns the report of the walk. Throws the
  /// sink's errors.
  private func write(
    from feed: PageFeed, to session: any SinkSession
  ) async throws -> WalkReport {
    var isWithinPage = false
    while true {
      // After the last page no commit falls due: `finish` makes the one that completes the run.
      let due = next.isComplete ? nil : machine.due
      if let due, due <= stopwatch.elapsed() {
        try await commit(to: session)
        continue
      }
      switch await feed.next(by: due) {
      case .page(let received):
        let found = try withoutOverlap(received)
        if followsPage { warnOfOverlap(found) }
        followsPage = false
        // All parts of a page have its recovery.
        if !isWithinPage, let recovery = found.http?.recovery { report.recoveries.append(recovery) }
        let page = isWithinPage ? found : found.countingOwnPart()
        isWithinPage = found.hasMoreParts
        var (written, isOver) = (page, false)
        if increment != nil, let time = page.http?.serverTime {
          increment?.note(serverTime: time)
        }
        if let (new, isKnown) = try increment?.take(page.items) {
          (written.items, isOver) = (new, isKnown)
        }
        do {
          for part in try parts(of: written) { try await session.write(part) }
        } catch let error as SinkError where error.sparesEarlierPages {
          try await finish(after: error, session)
          return feed.report
        }
        wrote(written)
        let endsInside = page.endsInside
        next.lastItem = endsInside ? page.items.last.map { ItemDigest($0).text } : nil
        lastOnPage = endsInside || page.head.sample == nil ? nil : page.items.last?.compact
        receipts += page.head.receipts
        guard isOver else { continue }
        // All further items are older than the value this run asked for, so they are not missing.
        next.tally = ItemTally(received: nil)
        finishListing()
        try await commit(to: session)
        return feed.report
      case .late: try await commit(to: session)
      case .end:
        let walk = feed.report
        try await finish(walk, session)
        return walk
      case .failed(let error):
        try await finish(after: error, session)
        return feed.report
      }
    }
  }

  /// Returns the parts of a page for the sink: sinks that can delete get deleted items separately.
  private func parts(of page: Page<RawItem>) throws -> [SinkPage] {
    let whole = SinkPage(page)
    guard let deleted = export.deleted, export.sink.mode == .upsert else { return [whole] }
    return try deleted.parts(of: page.items).enumerated().map { index, found in
      var part = whole
      (part.items, part.deleted) = (found.items, found.deleted)
      if index > 0 { part.badItems = [] }
      return part
    }
  }

  private func wrote(_ page: Page<RawItem>) {
    let bytes = page.items.reduce(0) { $0 + $1.bytes.count }
    machine.wrote(bytes: bytes, items: page.items.count, at: stopwatch.elapsed())
    next.position = page.checkpoint
    count(page)
    if export.readsChanges,
      let resume = page.metadata[ChangesPlace.self]?.position ?? page.http?.resume
    {
      changes = try? resume.sealedJSON
    }
    // The rest of a page cut by a limit has it again.
    if let part = page.metadata[MissingItems.self], page.next?.itemOffset ?? 0 == 0 {
      next.missing = (next.missing ?? 0).plus(part.count)
      if !part.isReadAnew { fallShort() }
      if let failure = part.failure {
        next.leftOut = LeftOut(
          count: (next.leftOut?.count ?? 0) + 1, failure: next.leftOut?.failure ?? failure)
      }
    }
    next.pages += 1
    next.items += page.items.count
    pending.pages += 1
    pending.items += page.items.count
    pending.bytes += bytes
    pending.badItems += page.badItems.count
    pending.traffic += page.traffic
    report.walk.total = page.total ?? report.walk.total
    guard let onProgress = export.onProgress else { return }
    var progress = report
    progress.add(pending)
    onProgress(progress)
  }

  /// Adds a page to the tally of received items, which starts at the beginning of the listing. Of a
  /// page cut by a limit, each of the calls that read it counts its own part.
  private func count(_ page: Page<RawItem>) {
    if next.pages == 0, next.start == .start, !page.head.startsMidway, page.previous == nil {
      next.tally = ItemTally()
    }
    next.tally.add(page, declaring: page.total)
  }

  private func commit(to session: any SinkSession) async throws {
    next.sequence += 1
    next.memory = memory
    if pending.pages > 0 {
      next.lastOnPage = next.isComplete ? nil : lastOnPage.flatMap { ItemDigest.identity(of: $0) }
    }
    try await session.commit(next)
    machine.committed()
    receipts.confirm()
    receipts = []
    report.checkpoint = next
    report.commits += 1
    report.add(pending)
    pending = ExportReport()
  }

  /// What later runs need. Until the run is over, the position at which it began is kept beside the
  /// one at which the next run is to begin.
  private var memory: JSONValue? {
    guard let changes else { return increment?.memory ?? next.memory }
    let began = next.memory?["changes"]
    if next.isOver {
      guard fellShort else { return ["changes": changes] }
      return began.map { ["changes": $0] }
    }
    guard let began else { return ["next": changes] }
    return ["changes": began, "next": changes]
  }

  private func fallShort() {
    fellShort = true
    increment?.fellShort = true
  }

  /// Sets the report's end by the end of the walk, and commits the remaining pages.
  private func finish(_ walk: WalkReport, _ session: any SinkSession) async throws {
    report.traffic += walk.endTraffic
    switch walk.end {
    case .limit(let limit):
      report.end = .limit(limit)
      next.position = next.position?.afterWalk
    // The page is not there any more.
    case _ where overlaps: throw changed
    case .truncationSuspected(let declared):
      // Items dropped by a transform were received, so they are not missing.
      let received = walk.traffic.items + walk.traffic.badItems
      finishListing(missing: next.tally.missing ?? (declared - received), of: declared)
    default: finishListing()
    }
    if machine.hasUncommittedPages || next.isOver { try await commit(to: session) }
    if case .limit = walk.end { try await (session as? any PausableSession)?.pause() }
  }

  /// Ends the run at the end of its listing. `missing` is the number of missing items by the walk,
  /// if it knows one. The walk of a run's last call has not seen earlier calls, so the tally over
  /// all calls is used otherwise.
  private func finishListing(missing: Int? = nil, of declared: Int? = nil) {
    (next.position, next.lastItem) = (nil, nil)
    if let missing = missing ?? next.tally.missing {
      next.missing = missing
      fallShort()
    }
    guard let missing = next.missing else { return report.end = .complete }
    report.end = .truncationSuspected(
      declared: declared ?? missing.plus(next.tally.received ?? next.items))
    // Keeps the complete run in the destination if it lacks fewer items than this one.
    guard let standing = next.replacedMissing, missing > standing else { return }
    (next.position, next.fellShort) = (next.start, true)
  }

  /// Commits the pages received before the walk failed, so that a later run continues after them.
  private func finish(after error: any Error, _ session: any SinkSession) async throws {
    failed(error)
    report.traffic += (error as? PageError)?.traffic ?? .zero
    let isRefusal = takeRefusal(from: error)
    guard machine.hasUncommittedPages || isRefusal else { return }
    next.position = next.position?.afterWalk
    // The last page was delivered; the walk failed after it.
    if next.isComplete { finishListing() }
    try await commit(to: session)
  }

  /// Takes over what the walk remembers of a page that it refused because its place or its items had
  /// come before, so that a later run refuses it again. Returns false if it refused none, or if the
  /// checkpoint in the destination remembers it already.
  private func takeRefusal(from error: any Error) -> Bool {
    guard let error = error as? PageError, [.stalledContent, .loopDetected].contains(error.code),
      let refused = error.checkpoint, refused == next.position,
      refused.trail?.text != next.position?.trail?.text
    else { return false }
    next.position?.trail = refused.trail
    return true
  }
}

/// What a run has to do, given the checkpoint in its destination.
enum ExportStart {
  /// The run ends without a request.
  case nothing(ExportReport.End)
  /// The run reads the pages of the cursor, and commits them as the checkpoint's successors.
  case walk(Cursor<RawItem>, Checkpoint, IncrementMachine?, isResumed: Bool)

  /// Throws `SinkError` with the code `otherRequest` if the destination holds another listing, or a
  /// replacement that fell short while the sink's mode is no longer `.replace`.
  init(_ export: Export, finding found: Checkpoint?) throws(SinkError) {
    let isNewRun = found?.isOver ?? true
    let machine = try export.increment.map { increment throws(SinkError) in
      try IncrementMachine(
        increment, memory: found?.memory, isNewRun: isNewRun, at: export.now())
    }
    let cursor = export.makeCursor(machine?.since)
    let listing = cursor.identity?.digests ?? [:]
    guard let found else {
      self = .walk(
        cursor, Checkpoint(start: cursor.start, listing: listing), machine, isResumed: false)
      return
    }
    try Self.check(export.makeCursor(export.increment == nil ? nil : found.memory?["since"]), found)
    guard export.sink.mode == .replace || !found.fellShort else {
      throw SinkError(
        .otherRequest,
        "The destination was to be replaced by an export that fell short of what the server had declared, "
          + "and is as it was. Go on by the mode replace, or begin anew. Nothing was requested.")
    }
    guard found.isOver else {
      self = Self.resuming(cursor, found, machine, countsAnew: export.countsLimitsAnew)
      return
    }
    let changes = export.readsChanges ? Self.resume(in: found.memory) : nil
    guard export.sink.mode != .once || machine != nil || changes != nil else {
      self = .nothing(.alreadyComplete)
      return
    }
    var next = Checkpoint(
      sequence: found.sequence, run: found.run + 1, start: cursor.start, listing: listing)
    next.memory = machine?.memory ?? found.memory
    if export.sink.mode == .replace {
      next.replacedMissing = found.isComplete ? found.missing ?? 0 : found.replacedMissing
    }
    next.position = changes ?? next.position
    self = .walk(
      changes.map { cursor.resuming(from: $0) } ?? cursor, next, machine, isResumed: false)
  }

  private static func resume(in memory: JSONValue?) -> Position? {
    (memory?["changes"]).flatMap { try? Position(sealedJSON: $0) }
  }

  /// Continues after the last commit. The caller's limits cover the whole run.
  private static func resuming(
    _ cursor: Cursor<RawItem>, _ found: Checkpoint, _ machine: IncrementMachine?, countsAnew: Bool
  ) -> ExportStart {
    var limits = cursor.limits
    if !countsAnew {
      limits.pages = limits.pages.map { $0 - found.pages }
      limits.items = limits.items.map { $0 - found.items }
    }
    if let pages = limits.pages, pages <= 0 { return .nothing(.limit(.pages)) }
    if let items = limits.items, items <= 0 { return .nothing(.limit(.items)) }
    return .walk(
      cursor.resuming(from: found.position ?? cursor.start).limited(to: limits), found,
      machine, isResumed: true)
  }

  private static func check(
    _ cursor: Cursor<RawItem>, _ found: Checkpoint
  ) throws(SinkError) {
    var differences =
      cursor.identity?.differences(from: found.listing, at: found.position ?? found.start)
      ?? (found.listing.isEmpty ? [] : ["the listing"])
    if cursor.start != found.start { differences.append("the position to begin at") }
    guard !differences.isEmpty else { return }
    throw SinkError(
      .otherRequest,
      "The destination holds an export of another request: the two differ in \(differences.listed()). Export to "
        + "another destination, or begin anew. Nothing was requested.")
  }
}

extension RawItem {
  /// A digest of the item. The order of members does not count, because encoders may change it.
  var digest: String {
    let compact = compact
    var sum = FileSum()
    sum.add((try? JSONValue(parsing: compact)).map { Array("\($0.sorted)".utf8) } ?? compact)
    return "\(sum.text).\(compact.count)"
  }
}

/// The digests of an item by which a run that goes on knows it again.
struct ItemDigest {
  let whole: String
  /// The digest of the member that identifies the item; nil if it has none.
  let identity: String?

  init(_ item: RawItem) { (whole, identity) = (item.digest, Self.identity(of: item.compact)) }

  /// Creates the digests from their `text`; older checkpoints hold only the first.
  init(text: String) {
    let parts = text.split(separator: " ").map(String.init)
    (whole, identity) = (parts.first ?? "", parts.count > 1 ? parts[1] : nil)
  }

  /// Both digests, for a checkpoint.
  var text: String { identity.map { "\(whole) \($0)" } ?? whole }

  /// Returns the digest of the member that identifies an item, by its compact form; nil if it has
  /// none.
  static func identity(of compact: [UInt8]) -> String? {
    guard let member = (try? JSONValue(parsing: compact))?.identity else { return nil }
    var sum = FileSum()
    sum.add(Array("\(member.name) \(member.value)".utf8))
    return sum.text
  }
}

extension WalkReport.Warning {
  fileprivate static let changedItem = Self(
    .changedItem,
    "the item behind which the export went on has changed since it was written, and stays as it was: other items of "
      + "the listing may have changed as well.")

  /// Returns the warning that a run that goes on begins with items that it has written before.
  fileprivate static func overlap(ofItems count: Int) -> Self {
    Self(
      .overlappingPages,
      "the export went on with a page that begins with \(count == 1 ? "the item" : "the \(count) items") that it had "
        + "written before, which came twice: items were added while pages were counted. Drop what comes again by a key, "
        + "or read in an order that does not change, oldest first, or by a cursor.")
  }
}

extension JSONValue {
  /// The value with the members of all objects in the order of their names.
  fileprivate var sorted: JSONValue {
    switch self {
    case .object(let members):
      .object(members.map { Member($0.name, $0.value.sorted) }.sorted { $0.name < $1.name })
    case .array(let elements): .array(elements.map(\.sorted))
    default: self
    }
  }
}
