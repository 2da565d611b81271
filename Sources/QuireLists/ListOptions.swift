public import QuireCore

/// How a list loads, and what it shows meanwhile.
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

  /// When the next page is loaded. Default: when more than 0.6 of the loaded items are consumed. Nothing
  /// is loaded ahead while a whole page is not begun.
  public var threshold: Threshold

  /// When the page before the first one is loaded, by reported offsets: as `threshold`, with everything
  /// measured from the other end. Default `.onDemand`: only `PagedList.loadBefore()` loads it, because
  /// most lists begin with the first page.
  ///
  /// Offsets are not counted in items, so that `.remaining` loads nothing by them; where each row is one
  /// unit long, `.remainingExtent` counts rows.
  public var thresholdBefore: Threshold

  /// Whether pages are loaded when they are due; otherwise only when a caller waits for them.
  /// Default true. A reload turns it on again.
  public var loadsAhead: Bool

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

  /// How much is held at most: what lies furthest from the load is dropped, and loaded again when a view
  /// or a caller comes back to it. Default nil: everything.
  ///
  /// The pages that `PagedList.report(visible:)` names, and one on either side, are never dropped. Where
  /// positions are handles that read on (`Position.Repetition.allowed`), nothing is.
  public var window: ListWindow?

  /// Whether a listing without items is a page without items, and not `ListState.empty`.
  /// Default false.
  public var deliversEmptyFirstPage: Bool

  /// The defaults, unless given.
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

  /// These options, without what the source does not allow.
  func allowed(_ allows: (lookAhead: Bool, window: Bool)) -> ListOptions {
    var options = self
    if !allows.lookAhead { (options.threshold, options.thresholdBefore) = (.onDemand, .onDemand) }
    if !allows.window { options.window = nil }
    return options
  }

  /// Why no list can be served like this; nil where one can.
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

/// How much a list holds at most.
public struct ListWindow: Hashable, Sendable {
  /// How many pages; nil for any number.
  public var pages: Int?
  /// How many bytes, as pages came over the wire (`WalkReport.Traffic.bytes`); nil for any number.
  public var bytes: Int?

  /// A window of so many pages, 3 or more, and so many bytes.
  public init(pages: Int? = nil, bytes: Int? = nil) {
    self.pages = pages
    self.bytes = bytes
  }
}
