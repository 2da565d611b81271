import QuireCore

/// The lists of a page that has nothing where its items should be.
///
/// No item may be a right answer: JSON leaves an empty list out only where the description says so,
/// and XML always does.
struct FoundLists: Sendable {
  /// The paths, the likeliest first.
  let paths: [String]
  private let isXML: Bool

  /// Nil for a page that has items, or no list either. Without `isNamed`, nobody wrote the path to the
  /// items: that of a preset is right.
  init?(on document: any OutlinedDocument, insteadOf items: ItemSelector, isNamed: Bool) {
    guard items.paths.allSatisfy({ (try? document.count(at: $0)) == nil }) else { return nil }
    let nodes = document.outline.nodes.filter { !$0.isInList }
    // The root of JSON has no name, and so no path.
    isXML = nodes.first.map { !$0.path.isEmpty } ?? false
    if isXML, isNamed {
      paths = Self.elements(insteadOf: items.paths.compactMap(\.xml), among: nodes)
    } else if !isXML, items.absentMeansEmpty {
      paths = nodes.filter { $0.kind == .list && $0.count > 0 }.map(\.path)
    } else {
      return nil
    }
    if paths.isEmpty { return nil }
  }

  /// What was found.
  var description: String {
    "found \(isXML ? "" : "arrays at ")\(paths.prefix(5).map { ServerText($0).description }.joined(separator: ", "))"
  }

  /// Elements that may have been meant, the likeliest first: those beside a missing one that are of
  /// nearly its name, or alone there, and whatever is repeated.
  private static func elements(
    insteadOf paths: [XMLPath], among nodes: [PageOutline.Node]
  ) -> [String] {
    let elements = nodes.filter { !$0.path.contains("@") }
    let siblings = paths.flatMap { path in elements.filter { path.hasSibling(at: $0.path) } }
    // An element of the right name that a predicate or a namespace keeps out may well be no item.
    let names = paths.compactMap(\.lastName)
    guard !siblings.contains(where: { names.contains($0.name) }) else { return [] }
    let near = names.compactMap { name in NearestName.find(name, in: siblings.map(\.name)) }
    let alone = siblings.count == 1 && siblings[0].kind == .object
    let meant = siblings.filter { alone || near.contains($0.name) }
    let lists = elements.filter { $0.kind == .list && !PageOutline.isBesideItems($0.name) }
    var seen: Set<String> = []
    return (meant + lists).map(\.path).filter { seen.insert($0).inserted }
  }
}

extension XMLPath {
  /// The name that the last element of the path has to have; nil for any.
  fileprivate var lastName: String? {
    guard case .element(.local(let name, _), _)? = steps.last else { return nil }
    return name
  }

  /// Whether an element at a path by plain names stands where one of this path would, whatever its
  /// own name.
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
