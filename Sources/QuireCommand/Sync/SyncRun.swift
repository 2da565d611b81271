import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireCurl
import QuireExport
import QuireHTTP
import QuireJSON
import QuirePagination

/// One run of a sync: its listings, parents before children, each as an export of its own, and several at a time where
/// that is asked for.
struct SyncRun: Sendable {
  /// How a listing, or a unit of one, ended, or that it is being read.
  struct Outcome: Codable, CustomStringConvertible, Sendable {
    enum Kind: String, Codable, Sendable {
      case complete, limited, incomplete, failed, interrupted, skipped, running
    }

    var kind: Kind
    /// In a sentence.
    var words: String
    /// The greatest value of an increment; known by its record.
    var watermark: JSONValue?

    private enum CodingKeys: CodingKey { case kind, words }

    var description: String { words.isEmpty ? kind.rawValue : "\(kind.rawValue): \(words)" }
    /// Whether nothing of the listing is missing but what was not asked for.
    var isSuccess: Bool { kind == .complete || kind == .limited }

    /// That of a listing whose parent has not come to its end yet, be it for a limit of its own.
    static func waiting(for parent: SyncState.Record) -> Outcome {
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

    /// That of a listing that would not be read for parents that changed before it was there; nil where all that
    /// no run of it has read are known.
    static func partial(
      _ listing: SyncListing, _ record: SyncState.Record, _ parent: SyncState.Record
    ) -> Outcome? {
      guard listing.readsChangedParents, record.read(of: parent.name) < parent.dropped ?? 0 else {
        return nil
      }
      return Outcome(
        kind: .failed,
        words:
          "\(parent.name) is read for what has changed, and not all of its items that \(listing.name) "
          + "has to be read for are known. Begin both anew by --restart --only \(parent.name) --only "
          + "\(listing.name).")
    }

    /// That of a listing, for itself or its descendants, which need what was not noted of a parent's item; nil
    /// where all was, be it null. The next round reads the parents anew.
    static func lacking(
      _ values: String?, for listing: SyncListing, _ wanted: [SyncPlaceholder]
    ) throws -> Outcome? {
      guard let values = try values.map({ try JSONValue(parsing: $0) }) else { return nil }
      let needed = listing.placeholders + wanted.filter { $0.listing != nil }
      return needed.first { values[SyncSource.name(of: $0, for: listing.parent)] == nil }.map {
        Outcome(
          kind: .skipped,
          words: unnoted($0, for: listing)
            + " Read those anew: without --only, or, where they are read once, by --restart.")
      }
    }

    static func unnoted(_ placeholder: SyncPlaceholder, for listing: SyncListing) -> String {
      "The items of \(ServerText(listing.parent ?? "")) were read before the file asked for "
        + "\(ServerText(SyncSource.name(of: placeholder, for: listing.parent))) of them."
    }

    /// That of a listing that the file describes otherwise than when its unfinished run began; nil where it
    /// does not.
    static func changed(_ listing: SyncListing, since record: SyncState.Record) -> Outcome? {
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
  /// The listings to read; all where none is named.
  let names: [String]
  let restarts: Bool
  /// How many listings, and of each how many parents', are read at a time.
  var parallel = 1

  /// Reads each listing that this round has not read yet. Returns whether all of them are complete;
  /// throws `CancellationError` where the run was asked to stop.
  func run(_ tell: @escaping @Sendable (SyncNote) -> Void) async throws -> Bool {
    let listings = file.listings(named: names)
    if restarts {
      try file.checkReaders(of: listings.map(\.name)) { try state.record($0) }
      for listing in listings { try state.restart(listing.name) }
    }
    let isPartial = listings.count < file.listings.count
    let round = try state.beginRound(of: isPartial ? listings.map(\.name) : [])
    let left = try listings.filter { try state.record($0.name).tried < round }
    let isComplete = try await read(left, round, tell)
    try state.endRound(isPartial: isPartial)
    return isComplete
  }

  /// Reads listings, each once its parent has ended. One that ends does not keep the next waiting, and where one is
  /// interrupted all are.
  private func read(
    _ listings: [SyncListing], _ round: Int, _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> Bool {
    let wanted = file.wantedValues
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
            (listing, try await read(listing, wanted[listing.name] ?? [], round, tell))
          }
        }
        guard let (listing, outcome) = try await group.next() else { break }
        running.remove(listing.name)
        tell(SyncNote(listing.name, "\(outcome.kind)", outcome.words, isLast: true))
        if case .interrupted = outcome.kind {
          isInterrupted = true
        } else {
          try ended(listing, outcome, round)
          if !outcome.isSuccess { isComplete = false }
        }
      }
      if isInterrupted { throw CancellationError() }
      return isComplete
    }
  }

  // MARK: One listing

  private func read(
    _ listing: SyncListing, _ wanted: [SyncPlaceholder], _ round: Int,
    _ tell: @escaping @Sendable (SyncNote) -> Void
  ) async throws -> Outcome {
    if let outcome = try refused(listing, wanted) { return outcome }
    guard let record = try begin(listing, round) else {
      return .waiting(for: try state.record(listing.parent ?? ""))
    }
    if let outcome = Outcome.changed(listing, since: record) { return outcome }
    // What a client shares, such as its budget, its copies share.
    var client = file.client
    client.configuration.onEvent = { event in
      switch event {
      case .retry, .pause: tell(SyncNote(listing.name, event))
      default: break
      }
    }
    let source = SyncSource(
      listing, client, file.origins, .noted(state, record), parallel: parallel)
    let sink = SyncSink(
      base: try listing.destination.sink(), listing: listing,
      values: SyncValues(listing: listing, wanted: wanted, source: source), state: state)
    var export = listing.export(source, to: sink)
    export.restarts = record.isRestarting
    let parents = try listing.parent.map { parent in
      try state.countParents(of: parent, in: record.parentRounds)
    }
    export.onProgress = { report in
      tell(SyncNote(listing.name, report, parents.map { (done: source.parentsDone, count: $0) }))
    }
    let report = await export.outcome()
    var outcome = Self.outcome(
      report, of: listing, skipped: source.skipped, failed: source.failed)
    if listing.changes, report.recoveries.contains(.restarted) {
      outcome.words +=
        "; what was deleted while the token expired stays, and --restart --only \(listing.name) takes it away"
    }
    return outcome
  }

  /// The outcome of a listing that would begin for parents that are not all known, or of which it lacks
  /// something. All of a round have the same values, but for a file that was changed within one.
  private func refused(_ listing: SyncListing, _ wanted: [SyncPlaceholder]) throws -> Outcome? {
    let record = try state.record(listing.name)
    guard let parent = try listing.parent.map({ try state.record($0) }), !record.isUnfinished else {
      return nil
    }
    let round = parent.lastRound(for: listing)
    let first = try state.parent(of: parent.name, in: round..<round + 1, after: -1)
    return try Outcome.partial(listing, record, parent)
      ?? Outcome.lacking(first?.values, for: listing, wanted)
  }

  /// The record of a run that goes on or begins; nil where the parent has none to read it for.
  private func begin(_ listing: SyncListing, _ round: Int) throws -> SyncState.Record? {
    var record = try state.record(listing.name)
    // Of a run that is going on, nothing changes.
    if record.isUnfinished { return record }
    let parentRound = try listing.parent.map { try state.record($0).lastRound(for: listing) }
    guard parentRound != 0 else { return nil }
    record.begin(listing, in: round, parentRound: parentRound ?? 0)
    record.outcome = Outcome(kind: .running, words: "")
    try state.save(record)
    return record
  }

  private static let words = {
    var words = RemedyWords(for: SyncCommand.self, isDescribed: true)
    words.fileMembers = [
      .init("RetryPolicy.patience"): "client.patience",
      .init("RetryPolicy.maximumRetryAfter"): "client.maxRetryAfter",
      .init("RetryPolicy.polls"): "client.retries",
    ]
    return words
  }()

  /// How a listing, or a unit of one, ended.
  static func outcome(
    _ report: ExportReport, of listing: SyncListing, skipped: Int,
    failed: SyncSource.Failures = .init()
  ) -> Outcome {
    var outcome = outcome(of: report, listing, skipped, failed.count)
    if let error = failed.first {
      let words = Self.words.line(error)
      let isMissing = [404, 410].contains(error.response?.status.code ?? 0)
      let advice = isMissing ? " Where listings may be gone, say missing: skip." : ""
      outcome.words +=
        "; left out \(failed.count.counted("parent")) whose listing failed: \(words)\(advice)"
    }
    return outcome
  }

  private static func outcome(
    of report: ExportReport, _ listing: SyncListing, _ skipped: Int, _ failed: Int
  ) -> Outcome {
    // Up to its first commit, a run that begins finds what the one before it has left.
    let isOfRunBefore =
      if case .cancelled = report.end { report.commits == 0 && !report.isResumed } else { false }
    var words = (isOfRunBefore ? 0 : report.checkpoint?.items ?? 0).counted("item")
    if skipped > 0 { words += ", \(skipped.counted("parent")) without a listing" }
    if !report.recoveries.isEmpty {
      words += ", cursors expired: \(report.recoveries.map(\.rawValue).joined(separator: ", "))"
    }
    switch report.end {
    case .complete, .alreadyComplete, .truncationSuspected, .running:
      return ended(words, report.checkpoint, failed)
    case .limit(let limit):
      return Outcome(
        kind: .limited,
        words: "\(words); its limit of \(limit.rawValue) ended this run, and the next goes on")
    case .cancelled: return Outcome(kind: .interrupted, words: words)
    case .failed(let done as SyncSink.AlreadyDone):
      return ended(done.checkpoint.items.counted("item"), done.checkpoint, failed)
    case .failed(is CancellationError): return Outcome(kind: .interrupted, words: words)
    case .failed(let error as PageError):
      return Outcome(kind: .failed, words: Self.words.line(error))
    case .failed(let error): return Outcome(kind: .failed, words: refusal(by: error, of: listing))
    }
  }

  /// A failure of a listing's destination, with the options by which it begins anew where that helps.
  static func refusal(by error: any Error, of listing: SyncListing) -> String {
    guard let error = error as? SinkError,
      [.notOurs, .otherRequest, .damaged].contains(error.code)
    else { return "\(error)" }
    return "\(error) --restart --only \(listing.name) begins anew."
  }

  /// A run that came to the end of its listing is complete, unless items are missing that were declared: as
  /// `ExportReport.isComplete`.
  private static func ended(
    _ words: String, _ checkpoint: Checkpoint?, _ failed: Int
  ) -> Outcome {
    guard let missing = checkpoint?.missing else {
      return Outcome(kind: .complete, words: words, watermark: checkpoint?.memory?["greatest"])
    }
    return Outcome(
      kind: .incomplete,
      words: (missing > failed
        ? "\(words), \(missing - failed) fewer than the server had declared" : words)
        + (checkpoint?.fellShort == true ? "; what was there stays" : ""))
  }

  /// Notes how a listing ended. One that failed goes on in a later round; the next is not kept waiting.
  private func ended(_ listing: SyncListing, _ outcome: Outcome, _ round: Int) throws {
    let readers = try file.listings.filter { $0.parent == listing.name }.map {
      try state.record($0.name)
    }
    var record = try state.record(listing.name)
    record.end(outcome, of: listing, in: round)
    let read = record.drop(listing, readBy: readers)
    try state.save(record)
    try state.dropParents(
      of: listing.name, upTo: read,
      keeping: readers.map(\.parentRound) + [record.done, record.runRound, record.reached ?? 0])
  }
}

extension SyncFile {
  /// For each listing what its descendants need of its items, and of its ancestors' through it.
  var wantedValues: [String: [SyncPlaceholder]] {
    var wanted: [String: [SyncPlaceholder]] = [:]
    for listing in listings.reversed() {
      guard let parent = listing.parent else { continue }
      let passed = (wanted[listing.name] ?? []).filter { $0.listing != nil }
      for placeholder in listing.placeholders + passed {
        let isOwn = placeholder.listing == nil || placeholder.listing == parent
        let value = isOwn ? SyncPlaceholder(placeholder.path) : placeholder
        if wanted[parent]?.contains(value) != true { wanted[parent, default: []].append(value) }
      }
    }
    return wanted
  }
}

extension SyncListing {
  /// The listing on its way into a sink, or what has changed in it.
  func export(_ source: SyncSource, to sink: some Sink) -> Export {
    var export =
      since.map { since in
        Export(to: sink, increment: since.increment) { source.cursor(since: $0) }
      } ?? Export(source.cursor(since: nil), to: sink)
    export.deleted = deleted
    export.readsChanges = changes
    // A limit is one of each round, which goes on behind the last.
    export.countsLimitsAnew = true
    // What comes again takes its own place.
    export.restartsExpired = true
    return export
  }
}

extension SyncFile {
  /// Throws where a run that goes on reads parents that would be forgotten: its place is one among them.
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
