/// Which page a view shows and comes to rest on, told by gestures and commands.
///
/// A pure value: time, animation and drawing are the view's. Each call returns the events for
/// observers.
public struct PageNavigator: Hashable, Sendable {
  /// What happened to the view, for its observers.
  public enum Event: Hashable, Sendable {
    /// A gesture began.
    case began
    /// The view moves to this page.
    case willSettle(Int)
    /// The view rests on this page.
    case settled(Int)
    /// Pages lie differently; the page is the same.
    case layoutChanged
  }

  /// How pages lie along the axis.
  public private(set) var axis: PageAxis
  /// The window, and how long the content is.
  public private(set) var viewport: Viewport
  /// The page the view rests on, or came from.
  public private(set) var index = 0
  /// Where the view is.
  public private(set) var offset: Double
  /// Whether releases come to rest on pages. Default true.
  public var isPagingEnabled = true
  /// The speed from which on a release turns the page, however short the way. In offsets a
  /// millisecond, default 0.3.
  public var minimumVelocity = 0.3
  /// Whether a gesture is touching the view.
  public private(set) var isTracking = false
  /// Whether a gesture is moving the view.
  public private(set) var isDragging = false
  /// Whether the view is on its way to a page.
  public private(set) var isSettling = false
  /// The page that the gesture counts from.
  private var base = 0
  private var target = 0

  /// A view on the first page.
  public init(_ axis: PageAxis, in viewport: Viewport) {
    self.axis = axis
    self.viewport = viewport
    offset = axis.geometry(in: viewport).offset(ofPage: 0)
  }

  /// Offsets to pages and back.
  public var geometry: PageGeometry { axis.geometry(in: viewport) }

  /// The items that can be seen, where each is one unit long.
  public var visibleItems: Range<Int> { geometry.visibleItems(at: offset) }

  // MARK: Gestures

  /// A gesture began. One that begins before the view rests counts from the page it was moving to.
  @discardableResult
  public mutating func begin() -> [Event] {
    base = isSettling ? target : index
    (isTracking, isDragging, isSettling) = (true, true, false)
    return [.began]
  }

  /// The gesture moved the view.
  public mutating func drag(to offset: Double) { self.offset = offset }

  /// The gesture ended, `distance` away from where its page rests.
  ///
  /// At `minimumVelocity` or more the page is turned in the direction of the velocity; otherwise the
  /// nearest page is taken. Never more than one page away.
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

  /// The view has come to rest where it was moving to.
  @discardableResult
  public mutating func settle() -> [Event] {
    guard isSettling else { return [] }
    isSettling = false
    return rest(on: target)
  }

  // MARK: Commands

  /// Moves to a page at once. Nothing happens when there is no such page.
  @discardableResult
  public mutating func jump(to page: Int) -> [Event] {
    guard page >= 0, page < max(1, geometry.pageCount) else { return [] }
    (isTracking, isDragging, isSettling) = (false, false, false)
    return rest(on: page)
  }

  /// Moves to the page of an item, where each is one unit long. Nothing happens when there is no
  /// such item.
  @discardableResult
  public mutating func jump(toItem item: Int) -> [Event] {
    guard item >= 0, Double(item) < viewport.content else { return [] }
    return jump(to: geometry.page(ofContentAt: Double(item)))
  }

  /// Puts the view exactly there.
  public mutating func move(to offset: Double) { self.offset = offset }

  /// Lays pages out differently. The page stays the same, if it is there; the same layout changes nothing.
  @discardableResult
  public mutating func lay(_ axis: PageAxis) -> [Event] {
    guard axis != self.axis else { return [] }
    self.axis = axis
    stayWithinPages()
    offset = geometry.offset(ofPage: index)
    return [.layoutChanged]
  }

  /// The content has grown or shrunk, or the window has. The page stays the same, if it is there.
  public mutating func resize(to viewport: Viewport) {
    let (isResized, old) = (viewport.extent != self.viewport.extent, index)
    self.viewport = viewport
    stayWithinPages()
    if index < old || isResized { offset = geometry.offset(ofPage: index) }
  }

  /// Neither the page nor the one that the view moves to lies behind the last.
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
