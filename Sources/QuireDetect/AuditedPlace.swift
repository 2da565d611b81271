import HTTPTypes
import QuireCore
import QuireHTTP
import QuirePagination

/// A place of a page's answer where a description looks for something.
struct AuditedPlace: Sendable {
  private enum Kind: Sendable {
    case field(String)
    case body(PagePath)
    case lastItem(PagePath)
  }

  private let kind: Kind
  /// A path of the page that the place was meant to be, most likely.
  private var near: String?

  /// Where a source looks; nil for a counter, and for one with several places.
  init?(_ source: Pagination.Next) {
    var source = source
    while case .transformed(let inner, _) = source { source = inner }
    switch source {
    case .linkHeader: kind = .field("Link")
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    case .lastItem(let path): kind = .lastItem(path)
    default: return nil
    }
  }

  /// Where a rule looks; nil where it has several places.
  init?(_ source: Pagination.ValueSource?) {
    switch source {
    case .header(let name): kind = .field(name)
    case .body(let path): kind = .body(path)
    default: return nil
    }
  }

  /// Whether the page has anything there; an explicit null is something.
  func isFilled(on info: HTTPPageInfo, items: Pagination.Items) -> Bool {
    switch kind {
    case .field(let text):
      guard let name = HTTPField.Name(text) else { return true }
      return info.head.headerFields[name] != nil
    case .body(let path): return (try? info.document.count(at: path, outsideItemsOf: items)) != nil
    case .lastItem(let path):
      return (try? info.document.value(at: path, inLastItemOf: items)) != nil
    }
  }

  /// The place with the path that was meant, if one of `paths` is nearly it.
  func suggesting(among paths: [String]) -> AuditedPlace {
    guard case .body(let path) = kind, !paths.contains(path.text) else { return self }
    var place = self
    place.near = NearestName.find(path.text, in: paths)
    return place
  }

  /// That no page had anything there, to be mended by `setting`.
  func warning(_ setting: Remedy.Setting) -> WalkReport.Warning {
    let hint = near.map { "; is \"\(ServerText($0))\" what you mean?" } ?? "."
    let message =
      switch kind {
      case .field(let name): "no page had the header field \(name)."
      case .body(let path): "no page had anything at \(path.place)\(hint)"
      case .lastItem(let path): "no page's last item had anything at \(path.place)."
      }
    return .init(
      .placeNotFound, setting == .next ? message + " The listing may be longer." : message,
      // Of an end rule or a continuation the path is only a part.
      remedy: Remedy(setting, setting == .total ? [near].compactMap { $0 } : []))
  }
}

/// The lists of a page that has nothing where its items should be.
///
/// No item may be a right answer: JSON leaves an empty list out only where the description says so,
/// and XML always does.
struct FoundLists: Sendable {
  /// The paths, the likeliest first.
  let paths: [String]
  private let isXML: Bool

  /// Nil for a page that has items, or no list either. Without `isNamed`, the path was not written to the
  /// items: that of a preset is right.
  init?(on document: any OutlinedDocument, insteadOf items: Pagination.Items, isNamed: Bool) {
    guard items.paths.allSatisfy({ (try? document.count(at: $0)) == nil }) else { return nil }
    let nodes = document.outline.nodes.filter { !$0.isInList }
    // The root of JSON has no name, and so no path.
    isXML = nodes.first.map { !$0.path.isEmpty } ?? false
    if isXML, isNamed {
      paths = Self.elements(insteadOf: items.paths.compactMap(\.xml), among: nodes)
    } else if !isXML, items.absentMeansEmpty {
      paths = nodes.filter { $0.kind == .list && $0.count > 0 }
        .sorted { $0.count > $1.count }.map(\.path)
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
  /// nearly its name, or alone there, and all repeated elements.
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
