/// A window onto content along one axis: plain numbers, in whatever unit the view has.
public struct Viewport: Hashable, Sendable {
  /// How long the content is.
  public var content: Double
  /// How much of it the window could show, insets included.
  public var extent: Double
  /// What covers the window where the content begins.
  public var leading: Double
  /// What covers the window where the content ends.
  public var trailing: Double

  /// A window of `extent` onto `content`; nothing covers it, unless said otherwise.
  public init(content: Double, extent: Double, leading: Double = 0, trailing: Double = 0) {
    self.content = content
    self.extent = extent
    self.leading = leading
    self.trailing = trailing
  }

  /// The part of the window that nothing covers.
  public var visible: Double { extent - leading - trailing }

  /// How far the content can be scrolled; not positive when all of it is visible.
  public var scrollRange: Double { content - visible }

  /// The offset at which the end of the content meets the end of the visible part.
  public var endOffset: Double { content - extent + trailing }
}
