import QuireCore

extension PageOutline {
  /// The lists that the items may be, the likeliest first.
  func lists(_ vocabulary: PaginationVocabulary, isXML: Bool) -> [PagePath] {
    let ranked = nodes.filter { $0.kind == .list && !$0.isInList }
      .map { (node: $0, worth: Self.worth(of: $0, vocabulary)) }
      .sorted { ($1.worth, $0.node.depth) < ($0.worth, $1.node.depth) }
    let alone = isXML ? loneElements(named: vocabulary.lists).suffix(1) : []
    return (ranked.prefix(3).map(\.node.path) + alone).compactMap { try? PagePath($0) }
  }

  /// The list that the items are, most likely; nil where none stands out from what may stand beside
  /// them.
  func likelyList(_ vocabulary: PaginationVocabulary) -> Node? {
    let best = nodes.filter { $0.kind == .list && !$0.isInList && $0.holdsObjects && $0.count > 0 }
      .max { Self.worth(of: $0, vocabulary) < Self.worth(of: $1, vocabulary) }
    return best.flatMap { Self.worth(of: $0, vocabulary) > 0 ? $0 : nil }
  }

  private static func worth(of list: Node, _ vocabulary: PaginationVocabulary) -> Double {
    let name = PaginationVocabulary.normal(list.name)
    var worth = Double(min(list.count, 8)) * 0.3 - Double(list.depth) * 0.5
    if list.holdsObjects { worth += 2 }
    if vocabulary.lists.contains(name) { worth += 1.5 }
    if isBesideItems(list.name) { worth -= 6 }
    return worth
  }

  /// Whether a list of that name stands beside the items, most likely; those of Atom's feeds are in
  /// RFC 4287, §4.1.1.
  package static func isBesideItems(_ name: String) -> Bool {
    beside.contains(PaginationVocabulary.normal(name))
  }

  private static let beside: Set<String> = [
    "author", "category", "columns", "contributor", "errors", "facets", "fields", "included",
    "link", "links", "messages", "metadata", "schema", "sort", "warnings",
  ]

  /// Where an object around the items may be.
  var containers: [PagePath] {
    nodes.filter { $0.kind == .object && !$0.isInList && $0.depth > 0 }
      .prefix(50).compactMap { try? PagePath($0.path) }
  }
}

extension PageDocument {
  /// Whether the document is of another format than JSON that can be outlined.
  var isXML: Bool { self is any OutlinedDocument && !(self is JSONDocument) }
}
