public import QuireCore

/// The rules by which a list loads pages, and what it shows while it loads.
public struct ListOptions: Sendable {
  /// The treatment of the loaded pages by a reload.
  public enum ReloadPolicy: Hashable, Sendable {
    /// The pages stay until the new first page arrives, and stay if the load fails.
    case keep
    /// The pages stay until the new first page arrives, and are removed if the load fails.
    case clearOnFailure
    /// The pages are removed at once.
    case clear
  }

  /// The threshold for loading the next page. Default: more than 0.6 of the loaded items are
  /// consumed. Nothing is loaded ahead while there is a whole page that the consumer has not begun.
  public var threshold: Threshold

  /// The threshold for loading the page before the first one, by reported offsets: like
  /// `threshold`, but measured from the other end. Default `.onDemand`: only
  /// `PagedList.loadBefore()` loads it, because most lists start with the first page.
  ///
  /// `.remaining` counts items and has no effect here, because offsets are not in items. If every
  /// row is one unit long, `.remainingExtent` counts rows.
  public var thresholdBefore: Threshold

  /// Whether pages are loaded when they are due; otherwise only when a caller waits for them.
  /// Default true. A reload sets it to true.
  public var loadsAhead: Bool

  /// The treatment of the loaded pages by a reload. Default `.keep`.
  public var onReload: ReloadPolicy

  /// The time after the start and after the end of a load in which reports load nothing, for views
  /// that animate. Default zero.
  public var settling: Duration

  /// The number of items that fill the view: pages are loaded until there are more. Default nil,
  /// for a list without a view or with one that reports offsets.
  public var viewportItems: Int?

  /// Whether content that is shorter than its viewport, by a reported offset, loads the next page;
  /// at the end of the listing the page before the first one, unless `thresholdBefore` is
  /// `.onDemand`. Default true, because such content cannot be scrolled.
  public var fillsViewport: Bool

  /// The limit on the pages that the list holds. The pages furthest from the latest load are
  /// dropped, and loaded again when a view or a caller returns to them. Default nil: no limit.
  ///
  /// The visible pages (`PagedList.report(visible:)`) and one page on either side are never
  /// dropped. No page is dropped if positions are session handles (`Position.Repetition.allowed`),
  /// which cannot be read again.
  public var window: ListWindow?

  /// Whether an empty listing counts as one page without items instead of `ListState.empty`.
  /// Default false.
  public var deliversEmptyFirstPage: Bool

  /// Creates options; every parameter has the default of its property.
  public init(
    threshold: Threshold = .standard, thresholdBefore: Threshold = .onDemand,
    loadsAhead: Bool = true, onReload: ReloadPolicy = .keep, settling: Duration = .zero,
    viewportItems: Int? = nil, fillsViewport: Bool = true, deliversEmptyFirstPage: Bool = false,
    window: ListWindow? = nil
  ) {
    self.threshold = threshold
    self.thresholdBefore = thresholdBefore
    self.loadsAhead = loadsAhead
    self.onReload = onReload
    self.settling = settling
    self.viewportItems = viewportItems
    self.fillsViewport = fillsViewport
    self.deliversEmptyFirstPage = deliversEmptyFirstPage
    self.window = window
  }

  /// Returns the options without thresholds or without a window if the source does not allow them.
  func allowed(_ allows: (lookAhead: Bool, window: Bool)) -> ListOptions {
    var options = self
    if !allows.lookAhead { (options.threshold, options.thresholdBefore) = (.onDemand, .onDemand) }
    if !allows.window { options.window = nil }
    return options
  }

  /// The error of invalid options; nil if they are valid.
  var error: PageError? {
    let problem: String? =
      if let viewportItems, viewportItems < 0 {
        "fill a view of \(viewportItems) items; give 0 or more."
      } else if settling < .zero {
        "settle for \(settling); give zero or more."
      } else if let pages = window?.pages, pages < 3 {
        "scroll in a window of \(pages) pages; give 3 or more."
      } else if let bytes = window?.bytes, bytes < 1 {
        "hold \(bytes) bytes; give 1 or more."
      } else {
        nil
      }
    return problem.map { PageError(.invalidArgument, "A list cannot \($0)", attempts: 0) }
  }
}

/// A limit on the pages that a list holds.
public struct ListWindow: Hashable, Sendable {
  /// The number of pages; nil for no limit.
  public var pages: Int?
  /// The number of bytes as received (`WalkReport.Traffic.bytes`); nil for no limit.
  public var bytes: Int?

  /// Creates a window of at least 3 pages and at least 1 byte.
  public init(pages: Int? = nil, bytes: Int? = nil) {
    self.pages = pages
    self.bytes = bytes
  }
}
