import QuireCore
import QuirePagination

/// The lists that may hold the items of a page that has none where the description expects them.
///
/// Having no items may be correct: XML always omits an empty list, and JSON does if the description
/// says so.
struct FoundLists: Sendable {
  /// The paths of the lists, the likeliest first.
  let paths: [String]
  private let isXML: Bool
  /// Whether the elements at the first path are missing only because the path demands a namespace.
  private let isOtherNamespace: Bool

  /// Finds the lists of `document`. Nil if the page has items, or has no list besides those that
  /// the continuation is read from. `isNamed` tells whether the caller wrote the path of the items.
  /// A preset's path is right, so that an XML page without its elements is just empty, unless
  /// elements of another name are repeated in their place: then it is no page of that API.
  init?(on document: any OutlinedDocument, for pagination: Pagination, isNamed: Bool) {
    let items = pagination.items
    guard items.paths.allSatisfy({ (try? document.count(at: $0)) == nil }) else { return nil }
    let nodes = document.outline.nodes.filter { !$0.isInList }
    // The root of a JSON page has no name, and so an empty path.
    isXML = nodes.first.map { !$0.path.isEmpty } ?? false
    let elements =
      isXML
      ? Self.elements(insteadOf: items.paths.compactMap(\.xml), among: nodes, isNamed)
      : (namesakes: 0, paths: [])
    isOtherNamespace = elements.namesakes > 0
    if isXML {
      let ways = pagination.next.bodyPaths.map(\.text)
      paths = elements.paths.filter { !ways.contains($0) }
    } else if items.absentMeansEmpty {
      let ways = pagination.next.bodyPaths
      paths = nodes.filter { $0.kind == .list && $0.count > 0 && !$0.leads(to: ways) }
        .sorted { $0.count > $1.count }.map(\.path)
    } else {
      return nil
    }
    if paths.isEmpty { return nil }
  }

  /// The lists in words, for a message.
  var description: String {
    var shown = paths.prefix(5).map { ServerText($0).description }
    if isOtherNamespace { shown[0] += " in another namespace" }
    return "found \(isXML ? "" : "arrays at ")\(shown.joined(separator: ", "))"
  }

  /// Returns the elements that the path may have meant, the likeliest first: siblings of the
  /// missing element with its name in another namespace, which are counted, or with a similar name,
  /// an only sibling, and all repeated elements; of a path that is not the caller's, the repeated
  /// siblings.
  private static func elements(
    insteadOf paths: [XMLPath], among nodes: [PageOutline.Node], _ isNamed: Bool
  ) -> (namesakes: Int, paths: [String]) {
    let elements = nodes.filter { !$0.path.contains("@") }
    let siblings = paths.flatMap { path in elements.filter { path.hasSibling(at: $0.path) } }
    let names = paths.compactMap(\.lastName)
    let namesakes = siblings.filter { names.contains($0.name) }
    // An element of the right name that is excluded by a predicate is probably no item.
    guard namesakes.isEmpty || isNamed && !paths.contains(where: \.hasPredicates) else {
      return (0, [])
    }
    let isList = { (node: PageOutline.Node) in
      node.kind == .list && !node.isBesideItems
    }
    let near = names.compactMap { name in NearestName.find(name, in: siblings.map(\.name)) }
    let alone = siblings.count == 1 && siblings[0].kind == .object
    let meant = siblings.filter { alone || near.contains($0.name) }
    var seen: Set<String> = []
    let likely = isNamed ? namesakes + meant + elements.filter(isList) : siblings.filter(isList)
    return (namesakes.count, likely.map(\.path).filter { seen.insert($0).inserted })
  }
}

extension PageOutline.Node {
  /// Whether one of the paths goes through this member of a JSON page.
  fileprivate func leads(to paths: [PagePath]) -> Bool {
    guard let own = try? PagePath(path), !own.steps.isEmpty else { return false }
    return paths.contains { $0.steps.starts(with: own.steps) }
  }
}

extension Pagination.Next {
  /// The paths in the page from which the continuation is read.
  var bodyPaths: [PagePath] {
    switch self {
    case .body(let path), .index(let path, _, _): [path]
    case .transformed(let source, _): source.bodyPaths
    case .all(let sources): sources.values.flatMap(\.bodyPaths)
    case .firstOf(let routes): routes.flatMap(\.next.bodyPaths)
    default: []
    }
  }
}

extension XMLPath {
  /// The name of the path's last element; nil for a wildcard.
  fileprivate var lastName: String? {
    guard case .element(.local(let name, _), _)? = steps.last else { return nil }
    return name
  }

  /// Whether a step has a predicate.
  fileprivate var hasPredicates: Bool {
    steps.contains { step in
      guard case .element(_, let predicates) = step else { return false }
      return !predicates.isEmpty
    }
  }

  /// Whether `path`, a path of plain names, has the same parent as this path.
  fileprivate func hasSibling(at path: String) -> Bool {
    let names = path.split(separator: "/")
    guard names.count == steps.count || startsAnywhere && names.count > steps.count,
      steps.count > 1
    else { return false }
    return zip(steps.dropLast(), names.suffix(steps.count)).allSatisfy { step, name in
      switch step {
      case .element(.any, _): true
      case .element(.local(let wanted, _), _): wanted == name
      case .attribute, .text: false
      }
    }
  }
}
