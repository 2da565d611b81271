/// A description with a name, as `quire presets` lists it.
public struct PaginationPreset: Sendable {
  /// The name, as in `Pagination.github`.
  public let name: String
  /// The reply it fits, in one line.
  public let summary: String
  /// The description; where it takes parameters, with those that an example would have.
  public let pagination: Pagination
  /// The other services that are paged so, as `Pagination.preset(named:)` knows them, by name.
  public var aliases: [String] { described.keys.sorted() }

  /// What each alias means: the same, or the same with other parameters.
  private let described: [String: Pagination]

  /// A preset; `aliases` mean the same, `variants` what they say.
  init(
    _ name: String, _ summary: String, _ pagination: Pagination, aliases: [String] = [],
    variants: [String: Pagination] = [:]
  ) {
    self.name = name
    self.summary = summary
    self.pagination = pagination
    described = aliases.reduce(into: variants) { $0[$1] = pagination }
  }

  /// What aliases mean that is not the same.
  package var variants: [Pagination] { described.values.filter { $0 != pagination } }

  /// What an alias means; nil where it is none of this preset's.
  package func pagination(named alias: String) -> Pagination? { described[alias] }
}
