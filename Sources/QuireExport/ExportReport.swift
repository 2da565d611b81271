public import QuireCore
public import QuirePagination

/// What a run of an export did, and how it ended.
public struct ExportReport: Sendable {
  /// Why no more is written.
  public enum End: Sendable {
    /// The run is going on.
    case running
    /// The destination holds the whole listing.
    case complete
    /// It held all of it before this run, which requested nothing; see `SinkMode.once`.
    case alreadyComplete
    /// The listing ended with fewer items than the server had declared exactly. A complete destination is not
    /// replaced by it (`SinkMode.replace`): what came stays beside it, and the next run reads all anew.
    case truncationSuspected(declared: Int)
    /// The caller's own limit was reached; another run goes on with a higher one.
    case limit(WalkReport.Limit)
    /// The task was cancelled; what had come is committed.
    case cancelled
    /// The listing or the destination failed: a `PageError`, a `SinkError`, or what a sink of your own
    /// throws. Another run goes on.
    case failed(any Error)
  }

  /// Why no more is written.
  public internal(set) var end = End.running
  /// Whether an earlier run was continued.
  public internal(set) var isResumed = false
  /// Pages committed by this call.
  public internal(set) var pages = 0
  /// Items committed by this call.
  public internal(set) var items = 0
  /// Bytes of these items, as the server wrote them.
  public internal(set) var bytes = 0
  /// Items that were set aside on these pages.
  public internal(set) var badItems = 0
  /// Commits of this call.
  public internal(set) var commits = 0
  /// What the destination holds: its totals count the whole run, calls before this one included.
  public internal(set) var checkpoint: Checkpoint?
  /// How the run went on each time the server had forgotten its cursor, in order: by another cursor, behind
  /// the last item, by opening again, or from the beginning.
  public internal(set) var recoveries: [PageRecovery] = []
  /// What the walk did, requests and retries among it.
  public internal(set) var walk = WalkReport()
  /// What fetching the committed pages took, and the answer that ended the listing without one.
  public internal(set) var traffic = WalkReport.Traffic(requests: 0)

  /// The report of an export that has not begun.
  public init() {}

  /// Whether the destination holds the whole listing, and nothing speaks against it.
  public var isComplete: Bool {
    switch end {
    case .complete: true
    case .alreadyComplete: checkpoint?.missing == nil
    case .running, .truncationSuspected, .limit, .cancelled, .failed: false
    }
  }
}

extension ExportReport: CustomStringConvertible {
  /// One line: how the run ended, then what this call wrote and what the destination holds.
  public var description: String {
    var parts = [pages.counted("page"), items.counted("item"), commits.counted("commit")]
    if isResumed, let checkpoint { parts.append("\(checkpoint.items.counted("item")) in all") }
    if !recoveries.isEmpty {
      let list = recoveries.map(\.rawValue).joined(separator: ", ")
      parts.append("\(recoveries.count.counted("expired cursor")) (\(list))")
    }
    if badItems > 0 { parts.append(badItems.counted("item set aside", "items set aside")) }
    return "\(end): \(parts.joined(separator: ", "))"
  }
}

extension ExportReport.End: CustomStringConvertible {
  /// `complete`, `already complete`, `limit (pages)`, `failed (code)` and so on.
  public var description: String {
    switch self {
    case .running: "running"
    case .complete: "complete"
    case .alreadyComplete: "already complete"
    case .truncationSuspected: "truncation suspected"
    case .limit(let limit): "limit (\(limit.rawValue))"
    case .cancelled: "cancelled"
    case .failed(let error as PageError): "failed (\(error.code))"
    case .failed(let error as SinkError): "failed (\(error.code))"
    case .failed: "failed"
    }
  }
}

extension ExportReport {
  /// Counts what another one counts.
  mutating func add(_ other: ExportReport) {
    pages += other.pages
    items += other.items
    bytes += other.bytes
    badItems += other.badItems
    traffic = traffic + other.traffic
  }
}
