import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// One run of a sync. It exports the listings, several at a time if asked for, parents before
/// children.
struct SyncRun: Sendable {
  /// How a listing or a unit of one ended, or that it is being read.
  struct Outcome: Codable, CustomStringConvertible, Sendable {
    enum Kind: String, Codable, Sendable {
      case complete, limited, incomplete, failed, interrupted, skipped, running
    }

    var kind: Kind
    /// The outcome in a sentence.
    var words: String
    /// The greatest value of an increment. Not encoded, because the record stores it.
    var watermark: JSONValue?

    private enum CodingKeys: CodingKey { case kind, words }

    var description: String { words.isEmpty ? kind.rawValue : "\(kind.rawValue): \(words)" }
    /// Whether no items are missing except those beyond a limit.
    var isSuccess: Bool { kind == .complete || kind == .limited }

    /// Returns the outcome of a listing that cannot be read in this round; nil if it can.
    ///
    /// `firstValues` returns the values of one parent's item, which is checked for all: the values of
    /// a round have the same names, unless the file was changed during it.
    static func refusal(
      of listing: SyncListing, _ record: SyncState.Record, isUnfinished: Bool,
      _ parent: SyncState.Record?, _ neededValues: [SyncPlaceholder],
      firstValues: (_ parent: SyncState.Record) throws -> String?
    ) throws -> Outcome? {
      if isUnfinished { return definitionChanged(listing, since: record) }
      guard let parent else { return nil }
      if parent.lastRound(for: listing) == 0 { return waiting(for: parent) }
      return try missingParents(listing, record, parent)
        ?? missingValues(firstValues(parent), for: listing, neededValues)
    }

    /// Returns the outcome of a listing whose parent was never read to its end, perhaps because of
    /// a limit.
    private static func waiting(for parent: SyncState.Record) -> Outcome {
      guard parent.outcome?.kind == .limited else {
        return Outcome(
          kind: .skipped,
          words: "\(parent.name) was never read to its end, so it is not known what to read it for."
        )
      }
      return Outcome(
        kind: .limited,
        words: "it is read once \(parent.name) has come to its end, behind its limit")
    }

    /// Returns the outcome of a child listing that was added after its parent had discarded changed
    /// items it would need; nil if all of those items are still known.
    private static func missingParents(
      _ listing: SyncListing, _ record: SyncState.Record, _ parent: SyncState.Record
    ) -> Outcome? {
      guard listing.readsChangedParents,
        record.readParentRound(of: parent.name) < parent.droppedRound ?? 0
      else {
        return nil
      }
      return Outcome(
        kind: .failed,
        words:
          "\(parent.name) is read for what has changed, and not all of its items that \(listing.name) "
          + "has to be read for are known. Begin both anew by --restart --only \(parent.name) --only "
          + "\(listing.name).")
    }

    /// Returns the outcome of a listing that needs, for itself or its descendants, a value that was
    /// not stored for a parent's item; nil if all were stored, even as null. The next round reads
    /// the parents anew.
    private static func missingValues(
      _ values: String?, for listing: SyncListing, _ neededValues: [SyncPlaceholder]
    ) throws -> Outcome? {
      guard let values = try values.map({ try JSONValue(parsing: $0) }) else { return nil }
      let all = listing.placeholders + neededValues.filter { $0.listing != nil }
      return all.first { values[$0.memberName(in: listing.parent)] == nil }.map {
        Outcome(
          kind: .skipped,
          words: unnoted($0, for: listing)
            + " Read those anew: without --only, or, where they are read once, by --restart.")
      }
    }

    static func unnoted(_ placeholder: SyncPlaceholder, for listing: SyncListing) -> String {
      "The items of \(ServerText(listing.parent ?? "")) were read before the file asked for "
        + "\(ServerText(placeholder.memberName(in: listing.parent))) of them."
    }

    /// Returns the outcome of a listing that the file has changed since its unfinished run began;
    /// nil if it is the same.
    static func definitionChanged(_ listing: SyncListing, since record: SyncState.Record)
      -> Outcome?
    {
      let (old, new) = (record.definition, listing.definition)
      let names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }.sorted()
      guard !names.isEmpty else { return nil }
      return Outcome(
        kind: .failed,
        words: "An unfinished run was of another listing: the two differ in "
          + "\(names.joined(separator: ", ")). Put it back, or begin anew by --restart --only "
          + "\(listing.name).")
    }
  }

  let file: SyncFile
  let state: SyncState
  /// The names of the listings to read; all if empty.
  let names: [String]
  let restarts: Bool
  /// The number of listings that are read at a time, and of parents of each.
  let parallel: Int

  /// Reads each listing that this round has not read yet. Returns whether all of the round
  /// succeeded, and tells what earlier commands have read, too: nothing else would tell of a failure
  /// before an interruption. Throws `CancellationError` if the run was asked to stop.
  func run(_ tell: @escaping @Sendable (SyncNote) -> Void) async throws -> Bool {
    let listings = file.listings(named: names)
    if restarts {
      try file.checkReaders(of: listings.map(\.name)) { try state.record($0) }
      for listing in listings { try state.restart(listing.name) }
    }
    let isPartial = listings.count < file.listings.count
    let round = try state.beginRound(of: isPartial ? listings.map(\.name) : [])
    var left: [SyncListing] = []
    var isComplete = true
    for listing in listings {
      let record = try state.record(listing.name)
      guard record.endedRound >= round, let outcome = record.outcome else {
        left.append(listing)
        continue
      }
      tell(SyncNote(listing: listing.name, event: .ended(outcome)))
      if !outcome.isSuccess { isComplete = false }
    }
    if try await !read(left, round, tell) { isComplete = false }
    try state.endRound(isPartial: isPartial)
    return isComplete
  }

  /// Reads listings, each after its parent has ended, up to `parallel` at a time. A failed listing
  /// stops no other; an interruption stops all.
  private func read(
    _ listings: [SyncListing], _ round: Int, _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> Bool {
    let neededValues = file.neededValues
    return try await withThrowingTaskGroup(of: (SyncListing, Outcome).self) { group in
      var (left, running) = (listings, Set<String>())
      var (isComplete, isInterrupted) = (true, false)
      while true {
        while running.count < parallel, !isInterrupted,
          let next = left.firstIndex(where: { listing in
            !left.contains { $0.name == listing.parent } && !running.contains(listing.parent ?? "")
          })
        {
          let listing = left.remove(at: next)
          running.insert(listing.name)
          group.addTask {
            (listing, try await read(listing, neededValues[listing.name] ?? [], round, tell))
          }
        }
        guard let (listing, outcome) = try await group.next() else { break }
        running.remove(listing.name)
        tell(SyncNote(listing: listing.name, event: .ended(outcome)))
        if case .interrupted = outcome.kind {
          isInterrupted = true
        } else {
          try storeEnd(of: listing, outcome, round)
          if !outcome.isSuccess { isComplete = false }
        }
      }
      if isInterrupted { throw CancellationError() }
      return isComplete
    }
  }

  // MARK: One listing

  private func read(
    _ listing: SyncListing, _ neededValues: [SyncPlaceholder], _ round: Int,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> Outcome {
    var record = try state.record(listing.name)
    let parent = try listing.parent.map { try state.record($0) }
    let refusal = try Outcome.refusal(
      of: listing, record, isUnfinished: record.isUnfinished, parent, neededValues
    ) { parent in
      let round = parent.lastRound(for: listing)
      return try state.parent(of: parent.name, in: round..<round + 1, after: -1)?.values
    }
    if let refusal { return refusal }
    // An unfinished run keeps its record.
    if !record.isUnfinished {
      record.begin(listing, in: round, parentRound: parent?.lastRound(for: listing) ?? 0)
      record.outcome = Outcome(kind: .running, words: "")
      try state.save(record)
    }
    let source = SyncSource(
      listing, file.client(for: listing, tell), file.origins, .noted(state, record),
      parallel: parallel)
    let sink = SyncSink(
      base: try listing.destination.sink(), listing: listing,
      values: SyncValues(listing: listing, neededValues: neededValues, source: source), state: state
    )
    var export = listing.export(source, to: sink, tell)
    export.restarts = record.isRestarting
    let parents = try listing.parent.map { parent in
      try state.countParents(of: parent, in: record.parentRounds)
    }
    export.onProgress = { report in
      let parents = parents.map { (done: source.parentsDone, count: $0) }
      tell(SyncNote(listing: listing.name, event: .page(report, parents: parents)))
    }
    let report = await export.outcome()
    var outcome = Self.outcome(report, of: listing, skipped: source.skipped)
    outcome.words += source.keyWarning
    return outcome
  }

  /// The words for the errors of requests.
  static let words = {
    var words = RemedyWords(for: SyncCommand.self, isDescribed: true)
    words.fileMembers = [
      .init("RetryPolicy.patience"): "client.patience",
      .init("RetryPolicy.maximumRetryAfter"): "client.maxRetryAfter",
      .init("RetryPolicy.polls"): "client.retries",
    ]
    return words
  }()

  /// Returns how a listing or a unit of one ended.
  static func outcome(
    _ report: ExportReport, of listing: SyncListing, skipped: Int
  ) -> Outcome {
    let checkpoint = checkpoint(of: report)
    var outcome = outcome(of: report, at: checkpoint, listing, skipped)
    if let leftOut = checkpoint?.leftOut {
      outcome.words +=
        "; left out \(leftOut.count.counted("parent")) whose listing failed: \(leftOut.failure)"
    }
    outcome.words += keptDeletions(of: listing, isRestarted: report.recoveries.contains(.restarted))
    if let since = listing.since, let value = outcome.watermark {
      outcome.words += warning(about: value, at: since.increment.field)
    }
    return outcome
  }

  /// Returns what to say of the greatest value of an increment, at which the next run would miss
  /// changes; empty for most.
  private static func warning(about value: JSONValue, at field: PagePath) -> String {
    let text = "\(ServerText(value.description, limit: 40)) at \(field.place)"
    if !Increment.canLookBack(from: value) {
      return "; there is no look-back from \(text), whose time is not known: what changed during "
        + "the run may be missing"
    }
    guard Increment.isTime(value, after: Date().timeIntervalSince1970 + 86_400) else { return "" }
    return "; \(text) lies in the future: the next run asks for what has changed since this one "
      + "began"
  }

  /// Returns the checkpoint of the run that has ended; nil before its first commit.
  private static func checkpoint(of report: ExportReport) -> Checkpoint? {
    switch report.end {
    case .failed(let done as SyncSink.AlreadyDone): done.checkpoint
    // A new run then reports the checkpoint of the run before it.
    case .failed where report.commits == 0 && !report.isResumed,
      .cancelled where report.commits == 0 && !report.isResumed:
      nil
    default: report.checkpoint
    }
  }

  private static func outcome(
    of report: ExportReport, at checkpoint: Checkpoint?, _ listing: SyncListing, _ skipped: Int
  ) -> Outcome {
    var words = counts(items: checkpoint?.items ?? 0, skipped: skipped)
    if !report.recoveries.isEmpty {
      words += ", cursors expired: \(report.recoveries.map(\.rawValue).joined(separator: ", "))"
    }
    switch report.end {
    case .complete, .alreadyComplete, .truncationSuspected, .running:
      return outcomeAtEnd(words, checkpoint)
    case .limit(let limit):
      return Outcome(
        kind: .limited,
        words: "\(words); its limit of \(limit.rawValue) ended this run, and the next goes on")
    case .cancelled: return Outcome(kind: .interrupted, words: words)
    case .failed(is SyncSink.AlreadyDone): return outcomeAtEnd(words, checkpoint)
    case .failed(is CancellationError): return Outcome(kind: .interrupted, words: words)
    case .failed(let error as PageError):
      return Outcome(kind: .failed, words: Self.words.line(error))
    case .failed(let error): return Outcome(kind: .failed, words: refusal(by: error, of: listing))
    }
  }

  /// Returns the number of items, and of parents whose listing was missing and was skipped.
  static func counts(items: Int, skipped: Int) -> String {
    items.counted("item")
      + (skipped > 0 ? ", \(skipped.counted("parent")) without a listing" : "")
  }

  /// Returns what to say of a listing of changes that was read from its start, which does not tell
  /// what was deleted before; empty for any other.
  static func keptDeletions(of listing: SyncListing, isRestarted: Bool) -> String {
    guard listing.changes, isRestarted else { return "" }
    return "; what was deleted while the token expired stays, and --restart --only "
      + "\(listing.name) takes it away"
  }

  /// Returns the message for a failed destination, with the options that begin it anew if that
  /// helps.
  static func refusal(by error: any Error, of listing: SyncListing) -> String {
    guard let error = error as? SinkError,
      [.notOurs, .otherRequest, .damaged].contains(error.code)
    else { return "\(error)" }
    return "\(error) --restart --only \(listing.name) begins anew."
  }

  /// Returns the outcome of a run that reached the end of its listing: complete unless items are
  /// missing that were declared, as in `ExportReport.isComplete`.
  private static func outcomeAtEnd(_ words: String, _ checkpoint: Checkpoint?) -> Outcome {
    guard let missing = checkpoint?.missing else {
      return Outcome(kind: .complete, words: words, watermark: checkpoint?.memory?["greatest"])
    }
    let undelivered = missing - (checkpoint?.leftOut?.count ?? 0)
    return Outcome(
      kind: .incomplete,
      words: (undelivered > 0
        ? "\(words), \(undelivered) fewer than the server had declared" : words)
        + (checkpoint?.fellShort == true ? "; what was there stays" : ""))
  }

  /// Stores how a listing ended. A failed listing continues in a later round and does not delay the
  /// next listing.
  private func storeEnd(of listing: SyncListing, _ outcome: Outcome, _ round: Int) throws {
    let readers = try file.listings.filter { $0.parent == listing.name }.map {
      try state.record($0.name)
    }
    var record = try state.record(listing.name)
    record.end(outcome, of: listing, in: round)
    let (read, kept) = record.drop(listing, readBy: readers)
    try state.save(record)
    try state.dropParents(of: listing.name, upTo: read, keeping: kept)
  }
}

extension SyncFile {
  /// Returns a client that passes the waits for a listing on to `tell`; it shares the budget of `client`.
  func client(
    for listing: SyncListing, _ tell: @escaping @Sendable (SyncNote) -> Void
  ) -> PageClient {
    var client = client
    client.configuration.onEvent = { event in
      switch event {
      case .retry(let retry):
        tell(
          SyncNote(listing: listing.name, event: .retry(after: retry.delay, reason: retry.message)))
      case .pause(let wait): tell(SyncNote(listing: listing.name, event: .pause(wait)))
      default: break
      }
    }
    return client
  }

  /// The values of a listing's items that its descendants need, including those of its ancestors
  /// that it passes on, by the listing's name.
  var neededValues: [String: [SyncPlaceholder]] {
    var needed: [String: [SyncPlaceholder]] = [:]
    for listing in listings.reversed() {
      guard let parent = listing.parent else { continue }
      let passed = (needed[listing.name] ?? []).filter { $0.listing != nil }
      for placeholder in listing.placeholders + passed {
        let isOwn = placeholder.listing == nil || placeholder.listing == parent
        let value = isOwn ? SyncPlaceholder(placeholder.path) : placeholder
        if needed[parent]?.contains(value) != true { needed[parent, default: []].append(value) }
      }
    }
    return needed
  }
}

extension SyncListing {
  /// Returns what passes the waits for the listing's destination on to `tell`.
  func waitHandler(
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) -> @Sendable (Duration, any Error) -> Void {
    { [name] wait, error in
      tell(SyncNote(listing: name, event: .retry(after: wait, reason: "\(error)")))
    }
  }

  /// Returns an export of the listing, or of what has changed in it, which tells of waits for its
  /// destination.
  func export(
    _ source: SyncSource, to sink: some Sink,
    _ tell: @escaping @Sendable (SyncNote) -> Void = { _ in }
  ) -> Export {
    var export =
      since.map { since in
        Export(to: sink, increment: since.increment) { source.cursor(since: $0) }
      } ?? Export(source.cursor(since: nil), to: sink)
    export.deleted = deleted
    export.readsChanges = changes
    export.onWait = waitHandler(tell)
    // A limit applies to each round, which continues where the last one stopped.
    export.countsLimitsAnew = true
    // For mode `upsert` only, where repeated items replace the stored ones.
    export.restartsExpired = true
    return export
  }
}

extension SyncFile {
  /// Throws if an unfinished run reads parents that would be forgotten: its position refers to one
  /// of them.
  func checkReaders(
    of restarted: [String], _ record: (String) throws -> SyncState.Record
  ) throws {
    for listing in listings where !restarted.contains(listing.name) {
      guard let parent = listing.parent, restarted.contains(parent),
        try record(listing.name).isUnfinished
      else { continue }
      throw ValidationError(
        "--restart: \(listing.name) is in the middle of a run for the items of \(parent), which would be "
          + "forgotten. Begin it anew as well, by --only \(listing.name), or let it come to its end before."
      )
    }
  }
}
