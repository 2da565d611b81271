public import QuireCore

extension Pagination {
  /// The preset of that name.
  ///
  /// Throws `invalidArgument` for a name that is unknown, with the nearest one that is not.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = presets.first(where: { $0.name == name }) { return preset.pagination }
    let nearest = NearestName.find(name, in: presets.map(\.name))
    let hint = nearest.map { "Did you mean \"\($0)\"?" } ?? "\"quire presets\" lists them all."
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// Every preset, by name.
  public static let presets: [PaginationPreset] = [
    genericPresets, formatPresets, hypermediaPresets, frameworkPresets, developmentPresets,
    packagePresets, platformPresets, enterprisePresets, collaborationPresets,
    communicationPresets, customerPresets, commercePresets, socialPresets, cloudPresets,
    amazonPresets,
    dataPresets, searchPresets, sciencePresets,
    feedPresets, objectStorePresets, cataloguePresets, bothFormatsPresets,
    knowledgePresets,
  ].flatMap { $0 }.sorted { $0.name < $1.name }
}
