/// How a walk ended and what it did.
public struct WalkReport: Sendable {
  /// The reason why no more pages come.
  public enum End: Sendable {
    /// The walk is not over.
    case running
    /// The server had no more pages.
    case exhausted
    /// The server had no more pages, but delivered fewer items than its total, which is exact or a
    /// lower bound.
    case truncationSuspected(declared: Int)
    /// The caller's own limit was reached.
    case limit(Limit)
    /// The consuming task was cancelled.
    case cancelled
    /// The consumer left the loop.
    case stoppedByConsumer
    /// An error was thrown; reaching a safety cap is one, too.
    indirect case failed(PageError)
  }

  /// The caller's own limits.
  public enum Limit: String, Hashable, Sendable { case pages, items }

  /// The reason why no more pages come.
  public package(set) var end: End = .running
  /// The number of pages delivered.
  public package(set) var pages = 0
  /// The number of items delivered; in a loop over items, the number consumed.
  public package(set) var items = 0
  /// The number of pages delivered from before the start, which `pages` does not count.
  public package(set) var pagesBefore = 0
  /// The number of their items, which `items` does not count.
  public package(set) var itemsBefore = 0
  /// The bytes, requests, retries and bad items of all pages, delivered or failed, in both
  /// directions, and of an answer that ended the listing without a page.
  public package(set) var traffic = WalkReport.Traffic.zero
  /// The part of `traffic` that belongs to an answer that ended the listing without a page.
  package var endTraffic = WalkReport.Traffic.zero
  /// The part of `adjustments` that came with such an answer.
  var endAdjustments: [Adjustment] = []
  /// The number of items that a deduplicating transform dropped.
  public package(set) var duplicatesDropped = 0
  /// The time in which the consumer waited for a page.
  public package(set) var waitingForNetwork: Duration = .zero
  /// The time in which the walk waited for the consumer.
  public package(set) var waitingForConsumer: Duration = .zero
  /// The position at which a later walk continues: after the last page delivered, or the last item
  /// consumed; nil when the listing is exhausted.
  ///
  /// If the end of the walk closes what the server held for it, such as a scroll, the position
  /// cannot be resumed from: a walk from it throws `PageError.Code.notResumable` and requests
  /// nothing, even if the position was stored. `warnings` say so before anything is closed.
  public package(set) var checkpoint: Position? = .start
  /// The error in the continuation behind the last page delivered, if the walk ended before
  /// throwing it, for example at a limit; else nil. A walk from `checkpoint` throws it.
  public package(set) var nextFailure: PageError?
  /// The last total the server declared.
  public package(set) var total: Total?
  /// Signs that the walk is incomplete, and other problems that are no failures; each once, at most
  /// 64.
  public package(set) var warnings: [Warning] = []
  /// The settings that the walk has changed because of its measurements; the last 64 changes.
  public package(set) var adjustments: [Adjustment] = []

  /// Whether the walk came to the end of the listing, and nothing indicates that items are missing:
  /// `end` is `.exhausted`. Items that a server does not list cannot be known.
  public var isComplete: Bool {
    if case .exhausted = end { true } else { false }
  }

  /// Creates the report of a walk that has not begun.
  public init() {}
}

extension WalkReport: CustomStringConvertible {
  /// One line: how the walk ended, then pages, items, requests, and other counts that are not zero.
  public var description: String {
    var parts = [
      pages.counted("page"), items.counted("item"), traffic.requests.counted("request"),
    ]
    if pagesBefore > 0 { parts.insert("\(pagesBefore.counted("page")) before the start", at: 2) }
    if traffic.retries > 0 { parts.append(traffic.retries.counted("retry", "retries")) }
    if traffic.badItems > 0 {
      parts.append(traffic.badItems.counted("item set aside", "items set aside"))
    }
    if duplicatesDropped > 0 {
      parts.append(duplicatesDropped.counted("duplicate dropped", "duplicates dropped"))
    }
    if !warnings.isEmpty { parts.append(warnings.count.counted("warning")) }
    return "\(end): \(parts.joined(separator: ", "))"
  }
}

extension WalkReport.End: CustomStringConvertible {
  /// `exhausted`, `limit (pages)`, `truncation suspected`, `failed (code)` and so on.
  public var description: String {
    switch self {
    case .running: "running"
    case .exhausted: "exhausted"
    case .truncationSuspected: "truncation suspected"
    case .limit(let limit): "limit (\(limit.rawValue))"
    case .cancelled: "cancelled"
    case .stoppedByConsumer: "stopped by consumer"
    case .failed(let error): "failed (\(error.code))"
    }
  }
}

extension WalkReport {
  /// A sign that a walk has not delivered everything, or another problem that the caller may want
  /// to solve, without a failure.
  public struct Warning: Hashable, Sendable {
    /// A kind of warning. Compare it with the constants; new ones may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      /// The name, in lower camel case.
      public let description: String

      /// Creates a code for a source of your own.
      public init(_ name: String) { description = name }
    }

    /// The kind of warning.
    public var code: Code
    /// What was observed and where, in a sentence. Text from the server is escaped.
    public var message: String {
      didSet { message = message.escapedForDisplay }
    }
    /// The change to make if the warning is right; nil if none would help.
    public var remedy: Remedy?

    /// Creates a warning of a kind, with a message.
    public init(_ code: Code, _ message: String, remedy: Remedy? = nil) {
      self.code = code
      self.message = message.escapedForDisplay
      self.remedy = remedy
    }
  }

  /// Adds what another walk for the same consumer has done; `end` and `checkpoint` stay those of
  /// this one.
  package mutating func add(_ other: WalkReport) {
    pages += other.pages
    items += other.items
    pagesBefore += other.pagesBefore
    itemsBefore += other.itemsBefore
    traffic += other.traffic
    duplicatesDropped += other.duplicatesDropped
    waitingForNetwork += other.waitingForNetwork
    waitingForConsumer += other.waitingForConsumer
    warn(other.warnings)
    note(other.adjustments)
  }

  /// The most warnings that a report keeps, so that a hostile server cannot fill it.
  static let mostWarnings = 64

  /// Adds the warnings that the report does not have yet.
  mutating func warn(_ new: [Warning]) {
    for warning in new where warnings.count < Self.mostWarnings && !warnings.contains(warning) {
      warnings.append(warning)
    }
  }
}

extension WalkReport.Warning.Code {
  /// More items or pages came than the server declared, so its total was ignored.
  public static let contradictedTotal = Self("contradictedTotal")
  /// The last page says that items remain behind it, or the pages before it that more would come.
  public static let endBeforeTotal = Self("endBeforeTotal")
}

extension WalkReport.Warning {
  /// Returns the warning that more came than the server declared.
  package static func contradicted(_ total: Total) -> WalkReport.Warning {
    let unit = total.kind == .pages ? "pages" : "items"
    return WalkReport.Warning(
      .contradictedTotal,
      "The server declared \(total.value) \(unit) and sent more than that; the number was not "
        + "believed, and ended nothing.", remedy: Remedy(.total))
  }
}

extension WalkReport.Warning: CustomStringConvertible {
  /// The message, followed by the remedy.
  public var description: String { remedy.map { "\(message) \($0)" } ?? message }
}

extension WalkReport {
  /// A setting that a walk has changed because of its measurements: how far it loads ahead, how
  /// many pages it reads at once, how large they are.
  public struct Adjustment: Hashable, Sendable, CustomStringConvertible {
    /// A setting that a walk can change.
    public enum Subject: String, Hashable, Sendable {
      /// The number of pages that a paginator loads ahead.
      case pagesAhead
      /// The number of pages that `Cursor.parallel(_:)` reads at once.
      case pagesAtOnce
      /// The number of items that are requested in a page.
      case pageSize
    }

    /// The setting that was changed.
    public var subject: Subject
    /// The value before the change.
    public var from: Int
    /// The value since the change.
    public var to: Int
    /// The reason, in a sentence.
    public var reason: String

    package init(_ subject: Subject, from: Int, to: Int, _ reason: String) {
      (self.subject, self.from, self.to, self.reason) = (subject, from, to, reason)
    }

    /// One line, such as `pagesAtOnce 8 → 4: …`.
    public var description: String { "\(subject.rawValue) \(from) → \(to): \(reason)" }
  }

  /// The most adjustments that a report keeps: a long walk has many.
  static let mostAdjustments = 64

  /// Adds changes, and drops the oldest beyond the most that are kept.
  mutating func note(_ new: [Adjustment]) {
    adjustments += new
    adjustments.removeFirst(max(0, adjustments.count - Self.mostAdjustments))
  }
}

/// An observer of all pages of a walk, which adds warnings to its report.
///
/// Each walk has one of its own, and each copy of a walk has a copy. `saw` gets every page as it
/// came from the source, before any transform; `warnings` is called when the report is read.
package struct WalkAudit: Sendable {
  package var saw: @Sendable (_ page: PageHead, _ items: Int) -> Void
  package var warnings: @Sendable (_ end: WalkReport.End) -> [WalkReport.Warning]
  package var copy: @Sendable () -> WalkAudit

  package init(
    saw: @escaping @Sendable (PageHead, Int) -> Void,
    warnings: @escaping @Sendable (WalkReport.End) -> [WalkReport.Warning],
    copy: @escaping @Sendable () -> WalkAudit
  ) {
    self.saw = saw
    self.warnings = warnings
    self.copy = copy
  }
}

extension WalkReport {
  /// What fetching a page took on the wire.
  public struct Traffic: Hashable, Sendable {
    /// Decoded bytes of the bodies that made up the page.
    public var bytes: Int
    /// Requests sent, retries and redirects included.
    public var requests: Int
    /// How many of the requests repeated a failed one.
    public var retries: Int
    /// How many of the requests followed a redirect.
    public var redirects: Int
    /// The number of items received, before any transform. The walk fills it in.
    public package(set) var items = 0
    /// The number of items that a deduplicating transform dropped.
    public package(set) var duplicates = 0
    /// The number of items that were set aside because they could not be decoded.
    public var badItems: Int

    /// Creates the traffic of one request without a body, unless told otherwise.
    public init(
      bytes: Int = 0, requests: Int = 1, retries: Int = 0, redirects: Int = 0, badItems: Int = 0
    ) {
      self.bytes = bytes
      self.requests = requests
      self.retries = retries
      self.redirects = redirects
      self.badItems = badItems
    }

    /// The traffic of nothing.
    package static var zero: Traffic { Traffic(requests: 0) }

    /// Returns the sum of two fetches.
    public static func + (left: Traffic, right: Traffic) -> Traffic {
      var sum = Traffic(
        bytes: left.bytes + right.bytes, requests: left.requests + right.requests,
        retries: left.retries + right.retries, redirects: left.redirects + right.redirects,
        badItems: left.badItems + right.badItems)
      sum.items = left.items + right.items
      sum.duplicates = left.duplicates + right.duplicates
      return sum
    }

    package static func += (left: inout Traffic, right: Traffic) { left = left + right }
  }
}
