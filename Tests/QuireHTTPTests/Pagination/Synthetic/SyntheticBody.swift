import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// The body of a synthetic page, in JSON or XML, and the way a path puts something into it.
enum SyntheticBody {
  /// A format that a server may answer in.
  enum Format: Sendable { case json, xml }

  case json(JSONValue)
  /// The root element is the only child of this one.
  case xml(SyntheticElement)

  /// An empty body; in XML, the element at its root has that name.
  init(_ format: Format, root: String) {
    guard format == .xml else {
      self = .json(.null)
      return
    }
    var document = SyntheticElement("")
    document.children = [SyntheticElement(root)]
    self = .xml(document)
  }

  /// The body as it is sent.
  var bytes: [UInt8] {
    switch self {
    case .json(.null): Array("{}".utf8)
    case .json(let value): Array(value.description.utf8)
    case .xml(let document): Array(document.children.map(\.markup).joined().utf8)
    }
  }

  /// Puts a value at a path.
  mutating func plant(_ value: JSONValue, at path: PagePath) {
    switch self {
    case .json(let body): self = .json(body.planting(value, at: path))
    case .xml(var document):
      document.plant(value.plainText, at: Self.steps(path, in: document))
      self = .xml(document)
    }
  }

  /// Puts items at a path: each is values at paths of its own.
  mutating func plant(
    _ items: [[(PagePath, JSONValue)]], at path: PagePath,
    as shape: Pagination.Items.Arrangement = .lists
  ) {
    switch self {
    case .json(let body):
      let list = items.map { item in
        item.reduce(JSONValue.object([])) { $0.planting($1.1, at: $1.0) }
      }
      self = .json(body.planting(list, at: path, as: shape))
    case .xml(var document):
      let elements = items.map { item in
        var element = SyntheticElement("any")
        for (path, value) in item { element.plant(value.plainText, at: path.xmlSteps) }
        return element
      }
      document.plant(elements, at: Self.steps(path, in: document))
      self = .xml(document)
    }
  }

  /// The steps from the document; a path that starts anywhere starts below the root.
  private static func steps(
    _ path: PagePath, in document: SyntheticElement
  ) -> ArraySlice<XMLPath.Step> {
    guard path.xml?.startsAnywhere == true else { return path.xmlSteps }
    let root = document.children.first?.name ?? ""
    if case .element(let name, _) = path.xmlSteps.first, name.text == root { return path.xmlSteps }
    return [.element(.local(root, namespace: nil), [])] + path.xmlSteps
  }
}

extension PagePath {
  fileprivate var xmlSteps: ArraySlice<XMLPath.Step> { xml?.steps[...] ?? [] }

  /// Whether the path can only be meant for XML.
  var isOnlyXML: Bool {
    !text.contains(" | ")
      && (text.hasPrefix("//") || ["[@", "='", "[last()", "/*"].contains(where: text.contains))
  }

  /// The element that an XML page has at its root by this path; nil for any.
  var xmlRoot: String? {
    guard let xml, !xml.startsAnywhere, case .element(.local(let name, _), _) = xml.steps.first
    else { return nil }
    return name
  }

  /// Whether items can be there in XML: below the root.
  var holdsXMLItems: Bool { xml.map { $0.startsAnywhere || $0.steps.count > 1 } ?? false }
}
