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

  /// Whether a reported offset in content that is shorter than its viewport loads the next page.
  /// Default true: such content cannot be scrolled.
  public var fillsViewport: Bool

  /// Whether a listing without items is a page without items, and not `PaginatorState.empty`.
  /// Default false.
  public var deliversEmptyFirstPage: Bool

  /// Whether pages are loaded when they are due; otherwise only when somebody waits for them.
  /// Default true. A reload turns it on again.
  public var loadsAhead: Bool

  /// The defaults, unless given.
  public init(
    onReload: ReloadPolicy = .keep, settling: Duration = .zero, viewportItems: Int? = nil,
    fillsViewport: Bool = true, deliversEmptyFirstPage: Bool = false, loadsAhead: Bool = true
  ) {
    self.onReload = onReload
    self.settling = settling
    self.viewportItems = viewportItems
    self.fillsViewport = fillsViewport
    self.deliversEmptyFirstPage = deliversEmptyFirstPage
    self.loadsAhead = loadsAhead
  }
}
