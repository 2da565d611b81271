public import QuireCore
import QuireJSON
public import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An export of a listing into a destination.
///
/// ```swift
/// let export = Export(issues, to: FileSink("issues.jsonl"))
/// let report = try await export.run()     // run it again after any death: it goes on, exactly
/// ```
/// Items and checkpoint are committed as one, so progress is never ahead of nor behind what the
/// destination holds. A run that finds an unfinished run of the same listing continues after its
/// last commit. If the destination holds another listing, the run fails before anything is
/// requested.
public struct Export: Sendable {
  /// When written pages are committed. Default: every 16 MiB, 50,000 items or 5 seconds.
  public var commits = CommitPolicy()
  /// The number of pages to load while earlier ones are written; 0 for none. Default 1.
  public var lookAhead = 1
  /// Whether to begin anew regardless of what the destination holds, which the first commit
  /// removes. Default false.
  public var restarts = false
  /// How the API marks deleted items; nil if it does not. Sinks with a key remove such items.
  public var deleted: Tombstone?
  /// Whether a later run asks only for what has changed since this one, by a token that the server
  /// sends with the last page, such as a sync token or a delta link (`HTTPPageInfo.resume`). The
  /// token is stored with the data. If the server sends none, the later run reads everything.
  /// Default false.
  public var readsChanges = false
  /// Whether a run begins its listing again, at most three times, if the server has expired its
  /// cursor and the description's `Pagination.ExpiryRule` cannot recover it. Items read twice
  /// replace themselves, so this applies only to sinks whose mode is `.upsert`. The report lists
  /// each restart. Default false.
  public var restartsExpired = false
  /// Whether the cursor's limits apply to this call alone rather than to all calls of a run.
  package var countsLimitsAnew = false
  /// Returns the current time in seconds since 1970.
  package var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
  /// Called in the export's task after every written page and every commit. The report includes
  /// pages that are not committed yet.
  public var onProgress: (@Sendable (ExportReport) -> Void)?

  /// Called before each wait for the destination; see `SinkOpening.onWait`.
  package var onWait: @Sendable (Duration, any Error) -> Void = { _, _ in }

  /// Makes the cursor of the whole listing (nil), or of what has changed in it since a value.
  let makeCursor: @Sendable (JSONValue?) -> Cursor<RawItem>
  let increment: Increment?
  let sink: any Sink
  let clock: any Clock<Duration>

  /// Creates an export of items as the server wrote them.
  ///
  /// The cursor's limits on pages and items apply to all calls of one run together. `clock`
  /// measures the time between commits.
  public init(
    _ cursor: Cursor<RawItem>, to sink: some Sink, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(to: sink, increment: nil, clock: clock) { _ in cursor }
  }

  /// Creates an export whose later runs read only what has changed.
  ///
  /// `cursor` makes the listing of what has changed since a value; nil asks for the whole listing.
  public init(
    to sink: some Sink, increment: Increment, clock: any Clock<Duration> = ContinuousClock(),
    _ cursor: @escaping @Sendable (_ since: JSONValue?) -> Cursor<RawItem>
  ) {
    self.init(to: sink, increment: increment as Increment?, clock: clock, cursor)
  }

  private init(
    to sink: some Sink, increment: Increment?, clock: any Clock<Duration>,
    _ cursor: @escaping @Sendable (JSONValue?) -> Cursor<RawItem>
  ) {
    makeCursor = cursor
    self.increment = increment
    self.sink = sink
    self.clock = clock
  }

  /// Creates an export of items of your own type, encoded by `encoder`.
  public init<Item: Encodable & Sendable>(
    _ cursor: Cursor<Item>, to sink: some Sink, encoder: JSONEncoder = JSONEncoder(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(cursor.map { try RawItem(Array(encoder.encode($0))) }, to: sink, clock: clock)
  }

  /// Writes the rest of the listing, and returns once all of it is in the destination.
  ///
  /// Also returns if the caller's limit is reached, if the listing ends with fewer items than the
  /// server declared, and if the destination is complete already: see the report's `end`. Throws
  /// `PageError`, `SinkError`, an error of a custom sink, or `CancellationError`, after committing
  /// all pages received.
  @discardableResult
  public func run() async throws -> ExportReport {
    let report = await outcome()
    switch report.end {
    case .failed(let error): throw error
    case .cancelled: throw CancellationError()
    case .running, .complete, .alreadyComplete, .truncationSuspected, .limit: return report
    }
  }

  /// Runs as `run()` does, but returns errors in the report's `end`, for programs that report
  /// failures.
  ///
  /// If the task is cancelled, commits the pages received and returns within the time of a commit.
  public func outcome() async -> ExportReport {
    let stop = ExportStop()
    // An unstructured task, because sinks may refuse to commit in a cancelled task. Cancellation
    // only stops the requests; the pages received are still committed.
    let task = Task { await ExportRun(self, stop).outcome() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      stop.stop()
    }
  }
}

extension Export {
  /// The outcome that a run would have, without its requests.
  package struct Prospect: Sendable {
    /// The checkpoint in the destination; nil if there is none or if the run would remove it.
    package var found: Checkpoint?
    /// Why the run would request nothing; nil if it would read pages.
    package var end: ExportReport.End?
    /// Whether the run would continue the one in the destination.
    package var isResumed = false
    /// The remainder of the caller's limits.
    package var limits: Limits
  }

  /// Returns what a run would do. Opens and closes the destination but requests nothing. Throws the
  /// errors with which the run would be refused.
  package func prospect() async throws -> Prospect {
    let session = try await sink.open(SinkOpening(restarts: restarts))
    let found = session.checkpoint
    await session.close()
    var prospect = Prospect(found: found, limits: makeCursor(nil).limits)
    switch try ExportStart(self, finding: found) {
    case .nothing(let end): prospect.end = end
    case .walk(let cursor, _, _, let isResumed):
      (prospect.isResumed, prospect.limits) = (isResumed, cursor.limits)
    }
    return prospect
  }
}

/// A request to stop an export, which may precede the feed whose requests it cancels.
final class ExportStop: Sendable {
  private let state = Mutex<(isStopping: Bool, feed: PageFeed?)>((false, nil))

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// Sets the feed to cancel on `stop`; cancels it now if the export was stopped before.
  func watch(_ feed: PageFeed) {
    let isStopping = state.withLock { state in
      state.feed = feed
      return state.isStopping
    }
    if isStopping { feed.cancel() }
  }

  func stop() {
    let feed = state.withLock { state in
      state.isStopping = true
      return state.feed
    }
    feed?.cancel()
  }
}

extension Export {
  /// Runs several exports concurrently, such as listings of one API that share the budget of their
  /// client.
  ///
  /// ```swift
  /// let reports = await Export.outcomes(of: [issues, pulls, comments])
  /// ```
  /// Each export has its own destination and checkpoint; a failing one does not delay the others.
  /// Cancellation stops all of them, each after committing the pages it received.
  ///
  /// - Parameters:
  ///   - exports: The exports, which begin in this order.
  ///   - concurrency: How many run at once. Default 4.
  /// - Returns: The reports, in the order of the exports; see `outcome()`.
  public static func outcomes(of exports: [Export], concurrency: Int = 4) async -> [ExportReport] {
    await withTaskGroup(of: (Int, ExportReport).self) { group in
      var reports = Array(repeating: ExportReport(), count: exports.count)
      for (index, export) in exports.enumerated() {
        if index >= max(1, concurrency), let (ended, report) = await group.next() {
          reports[ended] = report
        }
        group.addTask { (index, await export.outcome()) }
      }
      for await (ended, report) in group { reports[ended] = report }
      return reports
    }
  }
}
