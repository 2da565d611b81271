public import QuireCore
import QuireJSON
public import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A listing on its way into a destination.
///
/// ```swift
/// let export = Export(issues, to: FileSink("issues.jsonl"))
/// let report = try await export.run()     // run it again after any death: it goes on, exactly
/// ```
/// Items and the place behind them are committed as one, so that progress never runs ahead of what the
/// destination holds, nor falls behind it. A run that finds an unfinished one of the same listing goes
/// on where that one was committed; one of another listing is refused before anything is requested.
public struct Export: Sendable {
  /// When what the sink has taken is committed. Default: every 16 MiB, 50,000 items or 5 seconds.
  public var commits = CommitPolicy()
  /// Pages that load while earlier ones are written; 0 for none. Default 1.
  public var lookAhead = 1
  /// Whether to begin anew, whatever the destination holds: the first commit takes that away. Default
  /// false.
  public var restarts = false
  /// How the API tells that an item is gone; nil where it does not. Sinks with a key take it away then.
  public var deleted: Tombstone?
  /// Whether a later run asks for what has changed since this one, by what the server gives for that with the
  /// last page: a sync token, a delta link (`HTTPPageInfo.resume`). It is kept with the data. Where the server
  /// gives nothing, a later run reads everything. Default false.
  public var readsChanges = false
  /// Whether a run whose cursor the server has forgotten, beyond what the description mends
  /// (`Pagination.ExpiryRule`), begins its listing again, three times at most; what is held takes its own place
  /// then. Only into sinks whose mode is `.upsert`. The report names it. Default false.
  public var restartsExpired = false
  /// Whether the cursor's limits count from here, and not over all calls of a run.
  package var countsLimitsAnew = false
  /// The time, in seconds since 1970.
  package var now: @Sendable () -> Double = { Date().timeIntervalSince1970 }
  /// Hears of every page that was written and every commit, in the export's own task; pages count that are
  /// not committed yet.
  public var onProgress: (@Sendable (ExportReport) -> Void)?

  /// The listing, or what has changed in it since a value.
  let makeCursor: @Sendable (JSONValue?) -> Cursor<RawItem>
  let increment: Increment?
  let sink: any Sink
  let clock: any Clock<Duration>

  /// An export of items as the server wrote them.
  ///
  /// The cursor's limits on pages and items count over all calls that continue one run. The clock measures
  /// the time between commits.
  public init(
    _ cursor: Cursor<RawItem>, to sink: some Sink, clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(to: sink, increment: nil, clock: clock) { _ in cursor }
  }

  /// An export whose later runs bring what has changed: `cursor` makes the listing of it, and gets nil for all
  /// of it.
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

  /// An export of items of a type of yours, as `encoder` writes them.
  public init<Item: Encodable & Sendable>(
    _ cursor: Cursor<Item>, to sink: some Sink, encoder: JSONEncoder = JSONEncoder(),
    clock: any Clock<Duration> = ContinuousClock()
  ) {
    self.init(cursor.map { try RawItem(Array(encoder.encode($0))) }, to: sink, clock: clock)
  }

  /// Writes what is left of the listing, and returns when all of it is in the destination.
  ///
  /// A limit of the caller's, a listing that ended with fewer items than were declared, and a complete
  /// destination return, too: see the report's `end`. Throws `PageError`, `SinkError`, what a sink of your
  /// own throws, or `CancellationError`, once all pages that came are committed.
  @discardableResult
  public func run() async throws -> ExportReport {
    let report = await outcome()
    switch report.end {
    case .failed(let error): throw error
    case .cancelled: throw CancellationError()
    case .running, .complete, .alreadyComplete, .truncationSuspected, .limit: return report
    }
  }

  /// As `run()`, with what it would throw in the report's `end`: for programs that report failures, too.
  ///
  /// A cancelled task commits what has come and returns within the time that a commit takes.
  public func outcome() async -> ExportReport {
    let stop = ExportStop()
    // Cancelling ends the requests. What has come is committed all the same, by code of sinks that would
    // give up in a task that is cancelled.
    let task = Task { await ExportRun(self, stop).outcome() }
    return await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      stop.stop()
    }
  }
}

extension Export {
  /// What a run would find and do.
  package struct Prospect: Sendable {
    /// How far the destination holds the listing; nil for not at all, or where that is to be taken away.
    package var found: Checkpoint?
    /// Why nothing would be requested; nil where pages would be.
    package var end: ExportReport.End?
    /// Whether the run that is there would go on.
    package var isResumed = false
    /// What is left to a run by the caller's limits.
    package var limits: Limits
  }

  /// What a run would do. Opens the destination and lets it go; requests nothing, and throws what would refuse the
  /// run.
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

/// The wish that an export should end.
final class ExportStop: Sendable {
  private let state = Mutex<(isStopping: Bool, feed: PageFeed?)>((false, nil))

  var isStopping: Bool { state.withLock { $0.isStopping } }

  /// The requests to end.
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
  /// Runs exports at once, such as several listings of one API, which share the budget of their client.
  ///
  /// ```swift
  /// let reports = await Export.outcomes(of: [issues, pulls, comments])
  /// ```
  /// Each has a destination and a checkpoint of its own; one that fails keeps no other waiting. Cancelling
  /// stops all of them, each with what it had.
  ///
  /// - Parameters:
  ///   - exports: What is to be run; they begin in this order.
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
