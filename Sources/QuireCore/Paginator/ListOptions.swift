/// How a paginator serves a list that people look at.
public struct ListOptions: Sendable {
  /// What becomes of the content when it is loaded anew.
  public enum ReloadPolicy: Hashable, Sendable {
    /// It stays until the new first page is there, and stays when that cannot be loaded.
    case keep
    /// It stays until the new first page is there, and goes when that cannot be loaded.
    case clearOnFailure
    /// It goes at once.
    case clear
  }

  /// What becomes of the content when it is loaded anew. Default `.keep`.
  public var onReload: ReloadPolicy

  /// How long after the start and the end of a load reported offsets are ignored, for views that
  /// animate. Default zero.
  public var settling: Duration

  /// How many items fill the view: pages are loaded until more than these are there. Default nil:
  /// there is no view, or its offsets are reported.
  public var viewportItems: Int?

  /// Whether a reported offset in content that is shorter than its viewport loads the next page, and
  /// where there is none the page before the first one, unless `thresholdBefore` is `.onDemand`.
  /// Default true: such content cannot be scrolled.
  public var fillsViewport: Bool

  /// When the page before the first one is loaded, by reported offsets: as `Paginator.threshold`, with
  /// everything measured from the other end. Default `.onDemand`: only `loadBefore()` loads it, because
  /// most lists begin with the first page. Needs the retention `.all`.
  ///
  /// Offsets are not counted in items, so that `.remaining` loads nothing by them; where each row is one
  /// unit long, `.remainingExtent` counts rows.
  public var thresholdBefore: Threshold

  /// Whether a listing without items is a page without items, and not `PaginatorState.empty`.
  /// Default false.
  public var deliversEmptyFirstPage: Bool

  /// Whether pages are loaded when they are due; otherwise only when somebody waits for them.
  /// Default true. A reload turns it on again.
  public var loadsAhead: Bool

  /// The defaults, unless given.
  public init(
    onReload: ReloadPolicy = .keep, settling: Duration = .zero, viewportItems: Int? = nil,
    fillsViewport: Bool = true, deliversEmptyFirstPage: Bool = false, loadsAhead: Bool = true,
    thresholdBefore: Threshold = .onDemand
  ) {
    self.onReload = onReload
    self.settling = settling
    self.viewportItems = viewportItems
    self.fillsViewport = fillsViewport
    self.deliversEmptyFirstPage = deliversEmptyFirstPage
    self.loadsAhead = loadsAhead
    self.thresholdBefore = thresholdBefore
  }
}

/// How far ahead of its consumer a paginator loads, and what it keeps.
struct LookAhead: Sendable {
  var threshold: Threshold = .standard
  /// Pages that are loaded and not begun, at most.
  var maxPages = 1
  /// Bytes of those pages, at most.
  var maxBytes = 16 << 20
  var retention = Retention.window
  var list = ListOptions()

  /// Why this cannot work, if it cannot.
  var objection: PageError? {
    let objection: String? =
      if maxPages < 1 {
        "load \(maxPages) pages ahead; give 1 or more, or the threshold onDemand."
      } else if maxBytes < 0 {
        "load \(maxBytes) bytes ahead; give 0 or more."
      } else if let items = list.viewportItems, items < 0 {
        "fill a view of \(items) items; give 0 or more."
      } else if list.settling < .zero {
        "settle for \(list.settling); give zero or more."
      } else if retention == .window, list.thresholdBefore != .onDemand {
        "load the page before the first one unless it keeps its pages; give it the retention all."
      } else {
        nil
      }
    return objection.map {
      PageError(.invalidArgument, "A paginator cannot \($0)", attempts: 0)
    }
  }
}

/// What a paginator keeps of the pages it handed out.
public enum Retention: Hashable, Sendable {
  /// Nothing, so that memory stays flat however long the listing is. Loops share the pages: each
  /// goes to one of them.
  case window
  /// Everything, for a list that is shown. Every loop sees all pages from the first one on.
  case all
}

/// How long a consumer waited for pages, and the pages for the consumer.
struct WaitingTimes: Hashable, Sendable {
  private(set) var forNetwork: Duration = .zero
  private(set) var forConsumer: Duration = .zero
  private var lastAnswer: Duration?

  /// The consumer asked at one time and was answered at another.
  mutating func waited(from begin: Duration, to end: Duration) {
    if let lastAnswer { forConsumer += max(.zero, begin - lastAnswer) }
    forNetwork += end - begin
    lastAnswer = end
  }
}
