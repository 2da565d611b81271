/// A description with a name, as `quire presets` lists it.
public struct PaginationPreset: Sendable {
  /// The name, as in `Pagination.github`.
  public let name: String
  /// The reply it fits, in one line.
  public let summary: String
  /// The description; where it takes parameters, with those that an example would have.
  public let pagination: Pagination

  init(_ name: String, _ summary: String, _ pagination: Pagination) {
    self.name = name
    self.summary = summary
    self.pagination = pagination
  }
}
