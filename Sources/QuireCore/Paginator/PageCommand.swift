/// A wish to turn to another page of what a paginator holds.
public enum PageCommand: Hashable, Sendable {
  /// The page after the one turned to last, which is loaded if it must be.
  case next
  /// The page before the one turned to last, if it is held.
  case previous
  /// The page with this number, counted from the first one held; everything up to it is loaded.
  case page(Int)
  /// The page that has this item, counted from the first one held; everything up to it is loaded.
  case item(Int)
}
