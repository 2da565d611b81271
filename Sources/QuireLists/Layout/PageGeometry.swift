import QuireCore

/// Converts between offsets and pages along one axis of a viewport.
public struct PageGeometry: Hashable, Sendable {
  /// The length of a page. There are no pages unless it is positive.
  public let page: Double
  /// The resting offset of page 0.
  public let origin: Double
  /// The viewport and the length of its content.
  public let viewport: Viewport

  init(page: Double, origin: Double, viewport: Viewport) {
    self.page = page
    self.origin = origin
    self.viewport = viewport
  }

  /// The number of pages; the last one may be shorter.
  public var pageCount: Int {
    guard page > 0, viewport.content > 0 else { return 0 }
    return Int(clamping: (viewport.content / page).rounded(.up))
  }

  /// Returns the resting offset of a page, not clamped to the content.
  public func offset(ofPage index: Int) -> Double { offset(ofPosition: Double(index) * page) }

  /// Returns the offset that brings a position, measured from the start of page 0, to the place
  /// where pages rest.
  public func offset(ofPosition position: Double) -> Double { position + origin }

  /// Returns the position at an offset, the inverse of `offset(ofPosition:)`.
  public func position(ofOffset offset: Double) -> Double { offset - origin }

  /// Returns the last page whose resting offset has been reached, from 0 to the last one.
  public func currentIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded(.down))
  }

  /// Returns the page whose resting offset is nearest, from 0 to the last one.
  public func nearestIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded())
  }

  /// Returns the page that contains the position `start` of the content, from 0 to the last one.
  public func page(ofContentAt start: Double) -> Int { index((start / page).rounded(.down)) }

  private func index(_ wanted: Double) -> Int {
    min(max(Int(clamping: wanted), 0), max(pageCount - 1, 0))
  }

  /// Returns the resting offset of a page, clamped so that nothing after the content shows.
  public func stop(ofPage index: Int) -> Double {
    min(offset(ofPage: index), max(origin, viewport.endOffset))
  }

  /// Returns the items of a page, where each item is one unit long. Pages do not share items, and
  /// together have all of them. Nil if there is no such page.
  public func items(ofPage index: Int) -> Range<Int>? {
    guard index >= 0, index < pageCount else { return nil }
    let end = Int(clamping: viewport.content)
    let bounds = [index, index + 1].map { min(Int(clamping: Double($0) * page), end) }
    return bounds[0]..<bounds[1]
  }

  /// Returns the visible items at an offset, where each item is one unit long.
  public func visibleItems(at offset: Double) -> Range<Int> {
    let start = min(max(0, offset + viewport.leading), viewport.content)
    let end = min(max(start, offset + viewport.extent - viewport.trailing), viewport.content)
    return Int(clamping: start.rounded(.down))..<Int(clamping: end.rounded(.up))
  }
}

/// The layout of pages along one axis of a view: their length, and where a page comes to rest.
public struct PageAxis: Hashable, Sendable {
  /// The length of a page.
  public enum Extent: Hashable, Sendable {
    /// A fixed length.
    case absolute(Double)
    /// A fraction of the uncovered part of the view.
    case fractional(Double)

    /// The whole uncovered part of the view.
    public static let full = Extent.fractional(1)
  }

  /// The point of a page that rests at the same point of the view.
  public enum Alignment: String, Hashable, Sendable, CaseIterable {
    /// The start of the page at the start of the view.
    case start
    /// The center of the page at the center of the view.
    case center
    /// The end of the page at the end of the view.
    case end
  }

  /// Insets at both ends of an axis.
  public struct Insets: Hashable, Sendable {
    /// The inset at the start of the axis.
    public var leading: Double
    /// The inset at the end of the axis.
    public var trailing: Double

    /// Creates insets; each is 0 by default.
    public init(leading: Double = 0, trailing: Double = 0) {
      self.leading = leading
      self.trailing = trailing
    }
  }

  /// The length of a page. Default `.full`.
  public var extent: Extent
  /// The place where a page comes to rest. Default `.start`.
  public var alignment: Alignment
  /// Whether the viewport's leading inset is subtracted from the view. Default true.
  public var usesLeading: Bool
  /// Whether the viewport's trailing inset is subtracted from the view. Default true.
  public var usesTrailing: Bool
  /// Further insets of the view. They make pages smaller and move them. Default 0.
  public var sizeInsets: Insets
  /// Insets that move pages without resizing them: the leading one with `.start`, the trailing one
  /// with `.end`, and their difference with `.center`. Default 0.
  public var positionInsets: Insets

  /// Creates an axis; by default a page is as long as the view and rests at its start.
  public init(
    _ extent: Extent = .full, alignment: Alignment = .start, usesLeading: Bool = true,
    usesTrailing: Bool = true, sizeInsets: Insets = Insets(), positionInsets: Insets = Insets()
  ) {
    self.extent = extent
    self.alignment = alignment
    self.usesLeading = usesLeading
    self.usesTrailing = usesTrailing
    self.sizeInsets = sizeInsets
    self.positionInsets = positionInsets
  }

  /// Returns the geometry of pages in a viewport.
  public func geometry(in viewport: Viewport) -> PageGeometry {
    let leading = (usesLeading ? viewport.leading : 0) + sizeInsets.leading
    let trailing = (usesTrailing ? viewport.trailing : 0) + sizeInsets.trailing
    let usable = viewport.extent - leading - trailing
    let page =
      switch extent {
      case .absolute(let length): length
      case .fractional(let share): usable * share
      }
    let origin =
      switch alignment {
      case .start: -(leading + positionInsets.leading)
      case .center:
        page / 2 - (leading + usable / 2) - (positionInsets.leading - positionInsets.trailing)
      case .end: page - (viewport.extent - trailing - positionInsets.trailing)
      }
    return PageGeometry(page: page, origin: origin, viewport: viewport)
  }
}

/// The layout of pages in two dimensions. An axis that is nil has no pages, and its offsets are
/// left as they are.
public struct PageLayout: Hashable, Sendable {
  /// The layout along x.
  public var horizontal: PageAxis?
  /// The layout along y.
  public var vertical: PageAxis?

  /// Creates a layout; by default pages are as large as the view.
  public init(horizontal: PageAxis? = PageAxis(), vertical: PageAxis? = PageAxis()) {
    self.horizontal = horizontal
    self.vertical = vertical
  }

  /// Pages as large as the view.
  public static let full = PageLayout()
  /// Pages as wide as the view; no pages along y.
  public static let fullWidth = PageLayout(vertical: nil)
  /// Pages as high as the view; no pages along x.
  public static let fullHeight = PageLayout(horizontal: nil)

  /// Returns the geometry along an axis; nil if it has no pages.
  public func geometry(along axis: Viewport.Axis, in viewport: Viewport) -> PageGeometry? {
    switch axis {
    case .horizontal: horizontal?.geometry(in: viewport)
    case .vertical: vertical?.geometry(in: viewport)
    }
  }

  /// Returns the offset of the nearest page along an axis, where a view released at `offset` comes
  /// to rest; `offset` itself if the axis has no pages.
  public func rest(along axis: Viewport.Axis, offset: Double, in viewport: Viewport) -> Double {
    guard let geometry = geometry(along: axis, in: viewport) else { return offset }
    return geometry.offset(ofPage: geometry.nearestIndex(at: offset))
  }
}

/// Common measures of lists and grids, for terminal and markup renderers that imitate a phone.
public struct ListMeasures: Hashable, Sendable {
  /// The height of a row.
  public var row = 45.0
  /// The height of a footer.
  public var footer = 0.0
  /// The width of a grid cell.
  public var cellWidth = 100.0
  /// The height of a grid cell.
  public var cellHeight = 100.0
  /// The height of a grid's placeholder.
  public var placeholder = 100.0
  /// The insets around the content.
  public var insets = PageAxis.Insets()

  /// Creates the common measures.
  public init() {}
}
