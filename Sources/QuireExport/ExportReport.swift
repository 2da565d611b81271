public import QuireCore
public import QuirePagination

/// The progress of an export's run, and how it ended.
public struct ExportReport: Sendable {
  /// How a run ended.
  public enum End: Sendable {
    /// The run has not ended.
    case running
    /// The destination holds the whole listing.
    case complete
    /// The destination held the whole listing before this run, which requested nothing; see
    /// `SinkMode.once`.
    case alreadyComplete
    /// The listing ended with fewer items than the exact number the server had declared. If a
    /// complete run should have been replaced (`SinkMode.replace`), it is kept if it lacks fewer
    /// items: the new items then stay beside it, and the next run begins anew.
    case truncationSuspected(declared: Int)
    /// The caller's own limit was reached; a run with a higher limit continues.
    case limit(WalkReport.Limit)
    /// The task was cancelled; all pages received are committed.
    case cancelled
    /// The listing or the destination failed: a `PageError`, a `SinkError`, or an error of a custom
    /// sink. Another run continues.
    case failed(any Error)
  }

  /// How the run ended; `.running` until then.
  public internal(set) var end = End.running
  /// Whether the run continued an earlier one.
  public internal(set) var isResumed = false
  /// Pages committed by this call.
  public internal(set) var pages = 0
  /// Items committed by this call.
  public internal(set) var items = 0
  /// Bytes of these items as the server wrote them.
  public internal(set) var bytes = 0
  /// Items on these pages that were set aside because they could not be decoded.
  public internal(set) var badItems = 0
  /// The number of commits by this call.
  public internal(set) var commits = 0
  /// The checkpoint in the destination. Its totals cover the whole run, including earlier calls.
  public internal(set) var checkpoint: Checkpoint?
  /// How the run recovered each time the server had expired its cursor, in order: with another
  /// cursor, after the last item, by opening it again, or from the beginning.
  public internal(set) var recoveries: [PageRecovery] = []
  /// The report of the walk, including requests and retries.
  public internal(set) var walk = WalkReport()
  /// The cost of the committed pages, and of an answer without a page that ended the listing.
  public internal(set) var traffic = WalkReport.Traffic.zero

  /// Creates the report of an export that has not begun.
  public init() {}

  /// Whether the destination holds the whole listing, with no items known to be missing.
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
  /// Adds the counts of another report.
  mutating func add(_ other: ExportReport) {
    pages += other.pages
    items += other.items
    bytes += other.bytes
    badItems += other.badItems
    traffic += other.traffic
  }
}

extension WalkReport.Warning.Code {
  /// The item behind which an export went on has changed since it was written.
  public static let changedItem = Self("changedItem")
}
