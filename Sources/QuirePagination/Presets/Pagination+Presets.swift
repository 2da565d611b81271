public import QuireCore

extension Pagination {
  /// The preset of that name, or of one of its aliases.
  ///
  /// Throws `invalidArgument` for a name that is unknown, with the nearest one that is not, or those
  /// of the presets that have it in their description.
  public static func preset(named name: String) throws(PageError) -> Pagination {
    if let preset = presets.first(where: { $0.name == name }) { return preset.pagination }
    for preset in presets { if let alias = preset.pagination(named: name) { return alias } }
    let near = presetNames(like: name).map { "\"\($0)\"" }
    let hint =
      near.isEmpty
      ? "\"quire presets\" lists them all." : "Did you mean \(near.joined(separator: " or "))?"
    throw PageError(.invalidArgument, "There is no preset \"\(name)\". \(hint)")
  }

  /// The presets that an unknown name may stand for, at most three: the shortest that begin with it,
  /// or those described by it, or else the one whose name is nearest.
  private static func presetNames(like name: String) -> [String] {
    let word = name.lowercased()
    let longer = presets.map(\.name).filter { $0.lowercased().hasPrefix(word) }
      .sorted { $0.count < $1.count }
    if word.count > 2, !longer.isEmpty { return Array(longer.prefix(3)) }
    let described = presets.filter { preset in
      let words = preset.summary.lowercased().split { !$0.isLetter && !$0.isNumber }
      return words.contains { $0 == word }
    }
    if !described.isEmpty { return described.prefix(3).map(\.name) }
    let names = presets.flatMap { [$0.name] + $0.aliases }
    if let nearest = NearestName.find(name, in: names) { return [nearest] }
    return word.count < 3 ? [] : Array(names.filter { $0.lowercased().contains(word) }.prefix(3))
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
