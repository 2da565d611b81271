/// How a walk ended and what it did.
public struct WalkReport: Sendable {
  /// Why no more pages come.
  public enum End: Sendable {
    /// The walk is still going on.
    case running
    /// The server had no more.
    case exhausted
    /// The server had no more, yet delivered fewer items than it had declared exactly.
    case truncationSuspected(declared: Int)
    /// The caller's own limit was reached.
    case limit(Limit)
    /// The consuming task was cancelled.
    case cancelled
    /// The consumer left the loop.
    case stoppedByConsumer
    /// An error was thrown; a safety cap is one too.
    indirect case failed(PageError)
  }

  /// The caller's own limits.
  public enum Limit: String, Hashable, Sendable { case pages, items }

  /// Why no more pages come.
  public package(set) var end: End = .running
  /// Pages delivered.
  public package(set) var pages = 0
  /// Items delivered; to a loop over items, those it has taken.
  public package(set) var items = 0
  /// Pages delivered from before the start, which `pages` does not count.
  public package(set) var pagesBefore = 0
  /// Items of these, which `items` does not count.
  public package(set) var itemsBefore = 0
  /// Bytes, requests, retries and items set aside, over all pages: those delivered, and those that
  /// failed, whichever way they were read; and of an answer that ended the listing without a page.
  public package(set) var traffic = WalkReport.Traffic(requests: 0)
  /// Of that, what the answer took that ended the listing without a page.
  package var endTraffic = WalkReport.Traffic(requests: 0)
  /// Items a deduplicating transform dropped.
  public package(set) var duplicatesDropped = 0
  /// Time in which the consumer waited for a page.
  public package(set) var waitingForNetwork: Duration = .zero
  /// Time in which the walk waited for the consumer.
  public package(set) var waitingForConsumer: Duration = .zero
  /// Where a later walk goes on: after the last page delivered, or the last item taken; nil when the
  /// listing is exhausted.
  ///
  /// Where the walk's end closes what the server held for it, such as a scroll, the position leads
  /// nowhere: a walk from there throws `PageError.Code.notResumable` and requests nothing, also when the
  /// position was stored, and `warnings` say so before anything is closed.
  public package(set) var checkpoint: Position? = .start
  /// What is wrong with the continuation behind the last page delivered, where the walk ended before it was
  /// thrown, at a limit for example; nil otherwise. A walk from `checkpoint` throws it.
  public package(set) var nextFailure: PageError?
  /// The last total the server declared.
  public package(set) var total: Total?
  /// What speaks against the walk being whole, though it is no failure; each once, at most 64.
  public package(set) var warnings: [Warning] = []
  /// What the walk has changed by itself because of what it measured, the last 64 changes.
  public package(set) var adjustments: [Adjustment] = []

  /// Whether the walk came to the end of the listing, and nothing speaks against it having been all:
  /// `end` is `.exhausted`. What a server lists behind its own end is not known.
  public var isComplete: Bool {
    if case .exhausted = end { true } else { false }
  }

  /// The report of a walk that has not begun.
  public init() {}
}

extension WalkReport: CustomStringConvertible {
  /// One line: how the walk ended, then pages, items, requests, and what else there was of note.
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
  /// Something that speaks against a walk having delivered all there is, or that a caller would want
  /// to mend, though it is no failure.
  public struct Warning: Hashable, Sendable {
    /// What kind of doubt this is. Compare with the constants; new ones may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
      /// The name, in lower camel case.
      public let description: String

      /// A code of your own, for a source of your own.
      public init(_ name: String) { description = name }
    }

    /// What kind of doubt this is.
    public var code: Code
    /// What was seen and where, in a sentence. Text of the server in it is escaped.
    public var message: String {
      didSet { message = message.escapedForDisplay }
    }
    /// What to change if the doubt is right; nil where nothing can be.
    public var remedy: Remedy?

    /// A warning of a kind, in words.
    public init(_ code: Code, _ message: String, remedy: Remedy? = nil) {
      self.code = code
      self.message = message.escapedForDisplay
      self.remedy = remedy
    }
  }

  /// Adds what another walk for the same consumer has done; how this one ended, and where it goes on, stays.
  package mutating func add(_ other: WalkReport) {
    pages += other.pages
    items += other.items
    pagesBefore += other.pagesBefore
    itemsBefore += other.itemsBefore
    traffic = traffic + other.traffic
    duplicatesDropped += other.duplicatesDropped
    waitingForNetwork += other.waitingForNetwork
    waitingForConsumer += other.waitingForConsumer
    warn(other.warnings)
    note(other.adjustments)
  }

  /// The most warnings that a report keeps; a hostile server must not fill it.
  static let mostWarnings = 64

  /// Adds what is not there yet.
  mutating func warn(_ new: [Warning]) {
    for warning in new where warnings.count < Self.mostWarnings && !warnings.contains(warning) {
      warnings.append(warning)
    }
  }
}

extension WalkReport.Warning: CustomStringConvertible {
  /// The message, and what to do about it.
  public var description: String { remedy.map { "\(message) \($0)" } ?? message }
}

extension WalkReport {
  /// Something that a walk has changed by itself, because of what it measured: how far it loads ahead, how
  /// many pages it reads at once, how large they are.
  public struct Adjustment: Hashable, Sendable, CustomStringConvertible {
    /// What can be changed.
    public enum Subject: String, Hashable, Sendable {
      /// How many pages a paginator loads ahead.
      case pagesAhead
      /// How many pages `Cursor.parallel(_:)` reads at once.
      case pagesAtOnce
      /// How many items a page is asked for in.
      case pageSize
    }

    /// What was changed.
    public var subject: Subject
    /// What it was before.
    public var from: Int
    /// What it is since then.
    public var to: Int
    /// Why, in a sentence.
    public var reason: String

    package init(_ subject: Subject, from: Int, to: Int, _ reason: String) {
      (self.subject, self.from, self.to, self.reason) = (subject, from, to, reason)
    }

    /// `pagesAtOnce 8 → 4: …`
    public var description: String { "\(subject.rawValue) \(from) → \(to): \(reason)" }
  }

  /// The most adjustments that a report keeps: a long walk has many.
  static let mostAdjustments = 64

  /// Adds what was changed; the oldest give way.
  mutating func note(_ new: [Adjustment]) {
    adjustments += new
    adjustments.removeFirst(max(0, adjustments.count - Self.mostAdjustments))
  }
}

/// What a source has to say about a walk as a whole, once it has seen the pages.
///
/// Made anew for each walk. `saw` is told of every page as it came from the source, before any
/// transform; `warnings` is asked when the report is.
package struct WalkAudit: Sendable {
  package var saw: @Sendable (_ page: PageHead, _ items: Int) -> Void
  package var warnings: @Sendable (_ end: WalkReport.End) -> [WalkReport.Warning]

  package init(
    saw: @escaping @Sendable (PageHead, Int) -> Void,
    warnings: @escaping @Sendable (WalkReport.End) -> [WalkReport.Warning]
  ) {
    self.saw = saw
    self.warnings = warnings
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
    /// Items that came, before any transform. The walk fills it in.
    public package(set) var items = 0
    /// Items that a deduplicating transform dropped.
    public package(set) var duplicates = 0
    /// Items that were set aside because they could not be decoded.
    public var badItems: Int

    /// One request that brought nothing, unless said otherwise.
    public init(
      bytes: Int = 0, requests: Int = 1, retries: Int = 0, redirects: Int = 0, badItems: Int = 0
    ) {
      self.bytes = bytes
      self.requests = requests
      self.retries = retries
      self.redirects = redirects
      self.badItems = badItems
    }

    /// The sum of two fetches.
    public static func + (left: Traffic, right: Traffic) -> Traffic {
      var sum = Traffic(
        bytes: left.bytes + right.bytes, requests: left.requests + right.requests,
        retries: left.retries + right.retries, redirects: left.redirects + right.redirects,
        badItems: left.badItems + right.badItems)
      sum.items = left.items + right.items
      sum.duplicates = left.duplicates + right.duplicates
      return sum
    }
  }
}
