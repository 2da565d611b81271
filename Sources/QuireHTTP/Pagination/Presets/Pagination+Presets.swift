public import QuireCore

extension Pagination {
  /// The preset of that name, or of one of its aliases.
  ///
  /// Throws `invalidArgument` for a name that is unknown, with the nearest one that is not.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = presets.first(where: { $0.name == name }) { return preset.pagination }
    for preset in presets { if let alias = preset.pagination(named: name) { return alias } }
    let nearest = NearestName.find(name, in: presets.flatMap { [$0.name] + $0.aliases })
    let hint = nearest.map { "Did you mean \"\($0)\"?" } ?? "\"quire presets\" lists them all."
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// A description whose cursor and page size go elsewhere: where a service takes them by GET here,
  /// and in a body there.
  static func sent(by send: Placement, size: Placement, _ pagination: Pagination) -> Pagination {
    var changed = pagination
    changed.send = send
    changed.size?.send = size
    if case .jsonBody = send {
      changed.request.isQuery = true
    } else {
      changed.request.isQuery = false
    }
    return changed
  }

  /// Every preset, by name.
  public static let presets: [PaginationPreset] = [
    genericPresets, formatPresets, hypermediaPresets, frameworkPresets, developmentPresets,
    packagePresets, platformPresets, enterprisePresets, collaborationPresets,
    communicationPresets, customerPresets, commercePresets, socialPresets, cloudPresets,
    amazonPresets, dataPresets, searchPresets, sciencePresets,
    feedPresets, objectStorePresets, cataloguePresets, bothFormatsPresets,
  ].flatMap { $0 }.sorted { $0.name < $1.name }
}
