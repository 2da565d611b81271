import QuireCore

/// The pages of some content in a viewport, along one axis: offsets of the view to pages and back.
public struct PageGeometry: Hashable, Sendable {
  /// How long a page is. When it is not positive there are no pages.
  public let page: Double
  /// The offset at which page 0 rests.
  public let origin: Double
  /// The window, and how long the content is.
  public let viewport: Viewport

  init(page: Double, origin: Double, viewport: Viewport) {
    self.page = page
    self.origin = origin
    self.viewport = viewport
  }

  /// How many pages the content has; the last one may be shorter.
  public var pageCount: Int {
    guard page > 0, viewport.content > 0 else { return 0 }
    return Int(clamping: (viewport.content / page).rounded(.up))
  }

  /// The offset at which a page rests; not clamped to the content.
  public func offset(ofPage index: Int) -> Double { offset(ofPosition: Double(index) * page) }

  /// The offset at which a position, counted from the start of page 0, lies where pages rest.
  public func offset(ofPosition position: Double) -> Double { position + origin }

  /// The position, counted from the start of page 0, that lies where pages rest: the inverse of
  /// `offset(ofPosition:)`.
  public func position(ofOffset offset: Double) -> Double { offset - origin }

  /// The page whose place the offset has reached, from 0 to the last one.
  public func currentIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded(.down))
  }

  /// The page whose place is nearest to the offset, from 0 to the last one.
  public func nearestIndex(at offset: Double) -> Int {
    index((position(ofOffset: offset) / page).rounded())
  }

  /// The page of something that begins at `start` in the content, from 0 to the last one.
  public func page(ofContentAt start: Double) -> Int { index((start / page).rounded(.down)) }

  private func index(_ wanted: Double) -> Int {
    min(max(Int(clamping: wanted), 0), max(pageCount - 1, 0))
  }

  /// The offset at which a page rests without showing what lies behind the content.
  public func stop(ofPage index: Int) -> Double {
    min(offset(ofPage: index), max(origin, viewport.endOffset))
  }

  /// The items of a page, where each item is one unit long: disjoint, and together all of them. Nil
  /// when there is no such page.
  public func items(ofPage index: Int) -> Range<Int>? {
    guard index >= 0, index < pageCount else { return nil }
    let end = Int(clamping: viewport.content)
    let bounds = [index, index + 1].map { min(Int(clamping: Double($0) * page), end) }
    return bounds[0]..<bounds[1]
  }

  /// What is visible at an offset, where each item is one unit long.
  public func visibleItems(at offset: Double) -> Range<Int> {
    let start = min(max(0, offset + viewport.leading), viewport.content)
    let end = min(max(start, offset + viewport.extent - viewport.trailing), viewport.content)
    return Int(clamping: start.rounded(.down))..<Int(clamping: end.rounded(.up))
  }
}

/// How pages lie along one axis of a view: how long each is, and where in the view one comes to rest.
public struct PageAxis: Hashable, Sendable {
  /// How long a page is.
  public enum Extent: Hashable, Sendable {
    /// This length in every view.
    case absolute(Double)
    /// This share of the part of the view that nothing covers.
    case fractional(Double)

    /// All of the part of the view that nothing covers.
    public static let full = Extent.fractional(1)
  }

  /// Which part of a page lies where in the view.
  public enum Alignment: String, Hashable, Sendable, CaseIterable {
    /// Its start at the start of the view.
    case start
    /// Its middle in the middle.
    case center
    /// Its end at the end.
    case end
  }

  /// What is left out at both ends.
  public struct Insets: Hashable, Sendable {
    /// At the start.
    public var leading: Double
    /// At the end.
    public var trailing: Double

    /// Nothing, unless said otherwise.
    public init(leading: Double = 0, trailing: Double = 0) {
      self.leading = leading
      self.trailing = trailing
    }
  }

  /// How long a page is. Default `.full`.
  public var extent: Extent
  /// Where a page comes to rest. Default `.start`.
  public var alignment: Alignment
  /// Whether what covers the start of the view is left out of it. Default true.
  public var usesLeading: Bool
  /// Whether what covers the end of the view is left out of it. Default true.
  public var usesTrailing: Bool
  /// What else is left out of the view, at its start and its end: it makes pages smaller, and moves
  /// them. Default nothing.
  public var sizeInsets: Insets
  /// What only moves pages: from the start where they rest there, from the end where they rest
  /// there, and by the difference where they rest in the middle. Default nothing.
  public var positionInsets: Insets

  /// Pages as long as the view, at its start, unless said otherwise.
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

  /// The pages of the content in a viewport.
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

/// How pages lie in a view of two dimensions; an axis that is nil has no pages, and
/// offsets along it pass through.
public struct PageLayout: Hashable, Sendable {
  /// Along x.
  public var horizontal: PageAxis?
  /// Along y.
  public var vertical: PageAxis?

  /// Pages as large as the view, unless said otherwise.
  public init(horizontal: PageAxis? = PageAxis(), vertical: PageAxis? = PageAxis()) {
    self.horizontal = horizontal
    self.vertical = vertical
  }

  /// Pages as large as the view.
  public static let full = PageLayout()
  /// Pages as wide as the view; there are none along y.
  public static let fullWidth = PageLayout(vertical: nil)
  /// Pages as high as the view; there are none along x.
  public static let fullHeight = PageLayout(horizontal: nil)

  /// The pages along an axis; nil when there are none.
  public func geometry(along axis: Viewport.Axis, in viewport: Viewport) -> PageGeometry? {
    switch axis {
    case .horizontal: horizontal?.geometry(in: viewport)
    case .vertical: vertical?.geometry(in: viewport)
    }
  }

  /// The offset at which a view released at `offset` comes to rest along an axis: nearest to it, or
  /// where it is when there are no pages.
  public func rest(along axis: Viewport.Axis, offset: Double, in viewport: Viewport) -> Double {
    guard let geometry = geometry(along: axis, in: viewport) else { return offset }
    return geometry.offset(ofPage: geometry.nearestIndex(at: offset))
  }
}

/// The usual measures of lists and grids, for renderers in terminals and markup that want to look
/// like those of phones.
public struct ListMeasures: Hashable, Sendable {
  /// How high a row is.
  public var row = 45.0
  /// How high a footer is.
  public var footer = 0.0
  /// How wide a cell of a grid is.
  public var cellWidth = 100.0
  /// How high a cell of a grid is.
  public var cellHeight = 100.0
  /// How high the placeholder of a grid is.
  public var placeholder = 100.0
  /// What is left out around the content.
  public var insets = PageAxis.Insets()

  /// The usual measures.
  public init() {}
}
