/// How pages lie along one axis of a view: how long each is, and where in the view one comes to rest.
public struct PageAxis: Hashable, Sendable {
  /// How long a page is.
  public enum Extent: Hashable, Sendable {
    /// So long, whatever the view.
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
