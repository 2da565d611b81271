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
