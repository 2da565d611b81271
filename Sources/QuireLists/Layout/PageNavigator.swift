/// The page that a view shows and settles on, tracked by gestures and commands.
///
/// A pure value: time, animation and drawing are up to the view. Each call returns the events for
/// observers.
public struct PageNavigator: Hashable, Sendable {
  /// An event for observers.
  public enum Event: Hashable, Sendable {
    /// A gesture began.
    case began
    /// The view is moving to this page.
    case willSettle(Int)
    /// The view came to rest on this page.
    case settled(Int)
    /// The layout of pages changed; the current page is the same.
    case layoutChanged
  }

  /// The layout of pages.
  public private(set) var axis: PageAxis
  /// The viewport and the length of its content.
  public private(set) var viewport: Viewport
  /// The page that the view rests on, or rested on last.
  public private(set) var index = 0
  /// The current offset.
  public private(set) var offset: Double
  /// Whether the view settles on pages. Default true.
  public var isPagingEnabled = true
  /// The velocity at which a release turns the page, at any distance. In offset units per
  /// millisecond; default 0.3.
  public var minimumVelocity = 0.3
  /// Whether a gesture is touching the view.
  public private(set) var isTracking = false
  /// Whether a gesture is moving the view.
  public private(set) var isDragging = false
  /// Whether the view is moving to a page.
  public private(set) var isSettling = false
  /// The page that the gesture started from.
  private var base = 0
  private var target = 0

  /// Creates a navigator on the first page.
  public init(_ axis: PageAxis, in viewport: Viewport) {
    self.axis = axis
    self.viewport = viewport
    offset = axis.geometry(in: viewport).offset(ofPage: 0)
  }

  /// The geometry of pages in the current viewport.
  public var geometry: PageGeometry { axis.geometry(in: viewport) }

  /// The visible items, where each item is one unit long.
  public var visibleItems: Range<Int> { geometry.visibleItems(at: offset) }

  // MARK: Gestures

  /// Notes that a gesture began. If the view is still settling, the gesture starts from the page it
  /// was moving to.
  @discardableResult
  public mutating func begin() -> [Event] {
    base = isSettling ? target : index
    (isTracking, isDragging, isSettling) = (true, true, false)
    return [.began]
  }

  /// Notes that the gesture ended at `distance` from the resting offset of the page it started
  /// from.
  ///
  /// At `minimumVelocity` or more the page turns in the direction of the velocity; otherwise the
  /// nearest page wins. A gesture moves by one page at most.
  @discardableResult
  public mutating func release(distance: Double, velocity: Double = 0) -> [Event] {
    (isTracking, isDragging) = (false, false)
    guard isPagingEnabled else {
      offset = geometry.offset(ofPage: base) + distance
      index = geometry.nearestIndex(at: offset)
      return [.settled(index)]
    }
    let wanted: Int
    if abs(velocity) >= minimumVelocity {
      wanted = base + (velocity > 0 ? 1 : -1)
    } else {
      let nearest = geometry.nearestIndex(at: geometry.offset(ofPage: base) + distance)
      wanted = min(max(nearest, base - 1), base + 1)
    }
    target = min(max(wanted, 0), max(0, geometry.pageCount - 1))
    isSettling = true
    return [.willSettle(target)]
  }

  /// Notes that the view reached the page that it was moving to.
  @discardableResult
  public mutating func settle() -> [Event] {
    guard isSettling else { return [] }
    isSettling = false
    return rest(on: target)
  }

  // MARK: Commands

  /// Moves to a page at once. Does nothing if there is no such page.
  @discardableResult
  public mutating func jump(to page: Int) -> [Event] {
    guard page >= 0, page < max(1, geometry.pageCount) else { return [] }
    (isTracking, isDragging, isSettling) = (false, false, false)
    return rest(on: page)
  }

  /// Moves to the page of an item, where each item is one unit long. Does nothing if there is no
  /// such item.
  @discardableResult
  public mutating func jump(toItem item: Int) -> [Event] {
    guard item >= 0, Double(item) < viewport.content else { return [] }
    return jump(to: geometry.page(ofContentAt: Double(item)))
  }

  /// Scrolls the view to an offset, by a gesture or a command.
  public mutating func move(to offset: Double) { self.offset = offset }

  /// Changes the layout of pages. The current page stays if it still exists; the same layout
  /// changes nothing.
  @discardableResult
  public mutating func changeLayout(to axis: PageAxis) -> [Event] {
    guard axis != self.axis else { return [] }
    self.axis = axis
    stayWithinPages()
    offset = geometry.offset(ofPage: index)
    return [.layoutChanged]
  }

  /// Notes that the content or the viewport changed size. The current page stays if it still
  /// exists.
  public mutating func resize(to viewport: Viewport) {
    let (isResized, old) = (viewport.extent != self.viewport.extent, index)
    self.viewport = viewport
    stayWithinPages()
    if index < old || isResized { offset = geometry.offset(ofPage: index) }
  }

  /// Clamps the current page and the target to the pages that exist.
  private mutating func stayWithinPages() {
    let last = max(0, geometry.pageCount - 1)
    (index, base, target) = (min(index, last), min(base, last), min(target, last))
  }

  private mutating func rest(on page: Int) -> [Event] {
    index = page
    offset = geometry.offset(ofPage: page)
    return [.settled(page)]
  }
}
