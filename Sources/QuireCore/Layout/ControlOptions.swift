/// How a control at the end of a view behaves.
public struct ControlOptions: Hashable, Sendable {
  /// How long the control is along the axis, and how far it is pulled to start. Default 60.
  public var extent: Double
  /// Whether the control takes room in the view while it works. Default true.
  public var reservesExtent: Bool
  /// Whether the view stays where the control can be seen while it works. Default: as
  /// `reservesExtent`.
  public var holdsWhileLoading: Bool
  /// Whether a load-more control lies right behind the content, rather than behind what covers the
  /// end of the view. Default true.
  public var sticksToContent: Bool
  /// How long after its start and its end nothing starts the control. Default zero.
  public var settling: Duration

  /// The defaults, unless given.
  public init(
    extent: Double = 60, reservesExtent: Bool = true, holdsWhileLoading: Bool? = nil,
    sticksToContent: Bool = true, settling: Duration = .zero
  ) {
    self.extent = extent
    self.reservesExtent = reservesExtent
    self.holdsWhileLoading = holdsWhileLoading ?? reservesExtent
    self.sticksToContent = sticksToContent
    self.settling = settling
  }
}
