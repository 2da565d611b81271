import QuireCore
import QuireJSON
import QuirePagination

/// The choice of the list that is the items.
extension PageOutline {
  /// Returns the lists that may be the items, the likeliest first.
  func lists(_ vocabulary: PaginationVocabulary, isXML: Bool) -> [PagePath] {
    let all = nodes.filter { $0.kind == .list && !$0.isInList }
    let ranked = all.filter { list in
      // Lists beside the items also differ from page to page, so following them would look right.
      !all.contains { Self.holdsItems($0, beside: list, vocabulary) }
    }
    .map { (node: $0, worth: Self.worth(of: $0, vocabulary)) }
    .sorted { ($1.worth, $0.node.depth) < ($0.worth, $1.node.depth) }
    let alone = isXML ? loneElements(named: vocabulary.lists).suffix(1) : []
    return (ranked.prefix(3).map(\.node.path) + alone).compactMap { try? PagePath($0) }
  }

  /// Whether a list is the items rather than `other`, which has bare texts or numbers, or the name of
  /// a list beside items: the list has a name known from presets, or as many objects as `other`.
  private static func holdsItems(
    _ list: Node, beside other: Node, _ vocabulary: PaginationVocabulary
  ) -> Bool {
    let isBeside = other.isBesideItems
    guard isBeside || !other.holdsObjects && other.count > 0, !list.isBesideItems,
      list.holdsObjects || list.count == 0
    else { return false }
    return isBeside && list.count >= other.count
      || vocabulary.lists.contains(PaginationVocabulary.normalized(list.name))
  }

  /// Returns the list of objects that most likely is the items; nil if none stands out.
  func likelyList(_ vocabulary: PaginationVocabulary) -> Node? {
    likelyList(vocabulary, where: \.holdsObjects)
  }

  /// Returns the list that most likely is the items. Without a list of objects, it may be a list of
  /// bare texts or numbers.
  func countedList(_ vocabulary: PaginationVocabulary) -> Node? {
    likelyList(vocabulary) ?? likelyList(vocabulary, where: { _ in true })
  }

  private func likelyList(
    _ vocabulary: PaginationVocabulary, where isMeant: (Node) -> Bool
  ) -> Node? {
    let lists = nodes.filter { $0.kind == .list && !$0.isInList && $0.count > 0 }
    let best = lists.filter(isMeant)
      .max { Self.worth(of: $0, vocabulary) < Self.worth(of: $1, vocabulary) }
    return best.flatMap { list in
      // `messages` beside nothing else are a chat's.
      let isAlone = lists.count == 1 && list.count > 1 && !Self.isNeverItems(list)
      return isAlone || Self.worth(of: list, vocabulary) > 0 ? list : nil
    }
  }

  /// Returns the outline without lists whose only element is the page rather than an item, as in
  /// `{"results": [{"offset": 0, "members": […]}]}`: the element repeats the page's start, has a
  /// continuation beside its own list, or its list has one of the `sizes` that the request asks for.
  func unwrapped(_ vocabulary: PaginationVocabulary, sizes: Set<Int>) -> PageOutline {
    var outline = self
    for list in nodes where list.kind == .list && !list.isInList && list.count == 1 {
      let start = list.path + "/0/"
      let within = nodes.filter { $0.isInList && $0.path.hasPrefix(start) }
      let signs = within.filter { node in
        let name = PaginationVocabulary.normalized(node.name)
        let isStart =
          vocabulary.isStart(name) && node.value?.integer.map { $0 == 0 || $0 == 1 } == true
        let leadsOn = name.hasPrefix("next") && node.value.map { !$0.isBlank } == true
        return node.kind == .scalar && (isStart || leadsOn)
      }
      let items = within.filter { items in
        items.kind == .list && items.holdsObjects && items.count > 1
          && (sizes.contains(items.count) || signs.contains { $0.container == items.container })
      }
      guard items.count == 1 else { continue }
      let lists = within.filter { $0.kind == .list }.map { $0.path + "/" }
      for (index, node) in nodes.enumerated() where node.path == list.path {
        outline.nodes[index].kind = .object
      }
      for (index, node) in nodes.enumerated()
      where node.path.hasPrefix(start) && !lists.contains(where: node.path.hasPrefix) {
        outline.nodes[index].isInList = false
      }
    }
    return outline
  }

  private static func worth(of list: Node, _ vocabulary: PaginationVocabulary) -> Double {
    let name = PaginationVocabulary.normalized(list.name)
    var worth =
      Double(min(list.count, 8)) * Weights.list.item - Double(list.depth) * Weights.list.depth
    if list.holdsObjects { worth += Weights.list.objects }
    if vocabulary.lists.contains(name) { worth += Weights.list.known }
    if list.isBesideItems { worth -= Weights.list.beside }
    return worth
  }

  /// Names of lists that usually accompany the items. Those from Atom feeds are in RFC 4287, section
  /// 4.1.1.
  fileprivate static let beside: Set<String> = [
    "author", "category", "columns", "contributor", "errors", "fields", "included", "link", "links",
    "messages", "metadata", "schema", "sort", "warnings",
  ]

  private static func isNeverItems(_ list: Node) -> Bool {
    ["errors", "link", "links", "warnings"].contains(PaginationVocabulary.normalized(list.name))
  }

  /// Names of what accompanies the items with all that is in it: `/facets/tag` is a list of counts.
  fileprivate static let asides: Set<String> = [
    "aggregations", "aggs", "breadcrumbs", "facet", "facetcounts", "facetfields", "facets",
    "relatedsearches",
  ]

  /// Returns the path of the container of the value at a path, with a slash at its end.
  static func container(of path: String) -> Substring {
    path.dropLast(path.split(separator: "/").last?.count ?? 0)
  }

  /// The objects that may contain the items.
  var containers: [PagePath] {
    nodes.filter { $0.kind == .object && !$0.isInList && $0.depth > 0 }
      .prefix(50).compactMap { try? PagePath($0.path) }
  }
}

/// Items that are the members of an object, each under its own identifier.
extension PageOutline {
  /// The path of an object whose members are alike, if no list has items: `{"u7": {"name": …}, "u8":
  /// {"name": …}}`. Nil if there is none, or fewer than three members.
  var mapOfItems: String? {
    guard !nodes.contains(where: { $0.kind == .list && !$0.isInList && $0.count > 0 }) else {
      return nil
    }
    let members = Dictionary(grouping: nodes.dropFirst()) { Self.container(of: $0.path).dropLast() }
    return nodes.first { node in
      guard node.kind == .object, !node.isBesideItems, let items = members[node.path[...]],
        items.count > 2, items.allSatisfy({ $0.kind == .object && !$0.isLinkOfListing })
      else { return false }
      let names = items.map { Set((members[$0.path[...]] ?? []).map(\.name)) }
      return !names[0].isEmpty
        && names.allSatisfy { $0.intersection(names[0]).count * 2 >= names[0].count }
    }?.path
  }

  /// The outline in which the object at a path is a list, and what is in it is in items.
  func listing(membersOf path: String) -> PageOutline {
    var outline = self
    for (index, node) in nodes.enumerated() {
      if node.path == path {
        outline.nodes[index].kind = .list
        outline.nodes[index].holdsObjects = true
      } else if node.path.hasPrefix(path + "/") {
        outline.nodes[index].isInList = true
      }
    }
    return outline
  }
}

extension PageOutline {
  /// Returns the paths of elements with one of these names and without a sibling of the same name,
  /// at most 20: most likely lists of one item.
  func loneElements(named names: Set<String>) -> [String] {
    nodes.lazy.filter { node in
      node.kind == .object && !node.isInList && node.depth > 1
        && names.contains(PaginationVocabulary.normalized(node.name)) && !holdsList(node)
    }.prefix(20).map(\.path)
  }

  /// Whether an element is what is around a list: `hits` around many `hit`, or `results` that has nothing else.
  private func holdsList(_ element: Node) -> Bool {
    let within = nodes.filter {
      $0.path.hasPrefix(element.path + "/") && $0.depth == element.depth + 1
    }
    return within.contains { list in
      list.kind == .list
        && (within.count == 1 || [list.name + "s", list.name + "es"].contains(element.name))
    }
  }
}

extension PageOutline.Node {
  /// The path of the container, with a slash at its end.
  fileprivate var container: Substring { PageOutline.container(of: path) }

  /// Whether an object is a link to another page of the listing.
  fileprivate var isLinkOfListing: Bool {
    ["first", "last", "next", "prev", "previous", "self"]
      .contains(PaginationVocabulary.normalized(name))
  }

  /// Whether a list usually accompanies the items, by its name or by what it is in.
  var isBesideItems: Bool {
    PageOutline.beside.contains(PaginationVocabulary.normalized(name))
      || path.split(separator: "/").contains { part in
        PageOutline.asides.contains(PaginationVocabulary.normalized(String(part)))
      }
  }
}

extension PageDocument {
  /// Whether the document is XML: it has an outline and is not JSON.
  var isXML: Bool { self is any OutlinedDocument && !(self is JSONDocument) }
}
