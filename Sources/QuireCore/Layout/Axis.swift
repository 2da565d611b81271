/// The way content scrolls.
public enum Axis: String, Hashable, Sendable {
  /// Along x.
  case horizontal
  /// Along y.
  case vertical
}
