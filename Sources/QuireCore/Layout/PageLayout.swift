/// How pages lie in a view of two dimensions; an axis that is nil has no pages, and whatever happens
/// along it passes through.
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
  public func geometry(along axis: Axis, in viewport: Viewport) -> PageGeometry? {
    switch axis {
    case .horizontal: horizontal?.geometry(in: viewport)
    case .vertical: vertical?.geometry(in: viewport)
    }
  }

  /// The offset at which a view released at `offset` comes to rest along an axis: nearest to it, or
  /// where it is when there are no pages.
  public func rest(along axis: Axis, offset: Double, in viewport: Viewport) -> Double {
    guard let geometry = geometry(along: axis, in: viewport) else { return offset }
    return geometry.offset(ofPage: geometry.nearestIndex(at: offset))
  }
}
