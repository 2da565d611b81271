public import QuireCore
public import QuirePagination

/// One item of an XML page as the server wrote it, not yet decoded.
///
/// It keeps its whole page in memory, so decode it or copy its bytes, and then release it.
public struct XMLItem: Sendable, CustomStringConvertible {
  let index: XMLIndex
  let node: Int

  /// The element's bytes in UTF-8, with declarations of the namespaces that it inherits; line ends
  /// are single line feeds (XML 1.0, section 2.11).
  public var bytes: [UInt8] { index.markup(of: node) }

  /// The element as a JSON value, without loss:
  ///
  /// - An element without attributes and child elements is a string: its text, unchanged.
  /// - Any other is an object, in the page's order: `"@name"` for an attribute, `"@xmlns"` and
  ///   `"@xmlns:p"` for namespaces declared on it, then its child elements by their names as
  ///   written. A name that occurs several times in a row holds an array.
  /// - Text beside attributes is `"#text"`.
  /// - If text stands between elements, or elements of one name are apart from each other, their
  ///   order matters: `"#content"` holds all of it as an array, texts as strings and elements as
  ///   objects with one member.
  ///
  /// White space between elements, comments, processing instructions and the element's own name are
  /// left out. Values are strings: XML has no others. It is made anew at each call.
  public var value: JSONValue {
    get throws { try XMLMapping(index).value(of: node) }
  }

  /// The element's local name.
  public var name: String { index.name(of: node).local }

  /// The URI of the element's namespace; nil for none.
  public var namespace: String? { index.name(of: node).namespace }

  /// Returns the value at a path below the element, nil if there is none, as
  /// `XMLDocument.value(at:)` does.
  public func value(at path: PagePath) throws -> JSONValue? {
    try index.checkPrefix(of: path)
    return try path.xml.flatMap { try index.value(at: $0, from: .element(node)) }
  }

  /// Decodes the element as a type of yours.
  ///
  /// Throws `DecodingError`, and any other error of the type's own code.
  public func decode<Value: Decodable>(
    _ type: Value.Type = Value.self, options: XMLDecodingOptions = XMLDecodingOptions()
  ) throws -> Value {
    let context = XMLItemContext(index, options)
    context.item = node
    return try context.decode(type, XMLValue(node: node, role: .whole))
  }

  /// The element's bytes as text.
  public var description: String { String(decoding: bytes, as: UTF8.self) }
}

/// Writing an element as a document of its own.
extension XMLIndex {
  /// Returns the element as the server wrote it, in UTF-8 and with single line feeds, with
  /// declarations of the namespaces that it inherits.
  func markup(of node: Int) -> [UInt8] {
    let own = value(of: node)
    let inherited = inheritedNamespaces(of: node)
    guard !inherited.isEmpty else { return Array(own) }
    let nameEnd = 1 + name(of: node).qualified.utf8.count
    var bytes = Array(own[..<nameEnd])
    for (prefix, namespace) in inherited {
      bytes += (prefix.isEmpty ? " xmlns=\"" : " xmlns:\(prefix)=\"").utf8
      bytes += namespace.escapedForXML.utf8
      bytes.append(UInt8(ascii: "\""))
    }
    return bytes + own[nameEnd...]
  }

  /// Returns the namespaces in scope around a node that it does not declare itself, nearest first.
  private func inheritedNamespaces(of node: Int) -> [(prefix: String, namespace: String)] {
    var seen = Set(declarations(on: node).map(\.prefix))
    var result: [(prefix: String, namespace: String)] = []
    var node = node
    while node != 0 {
      node = Int(record(node).parent)
      for declaration in declarations(on: node) where seen.insert(declaration.prefix).inserted {
        // `xmlns=""` needs no copy: an element on its own has no default namespace.
        if !declaration.namespace.isEmpty { result.append(declaration) }
      }
    }
    return result
  }

  private func declarations(on node: Int) -> [(prefix: String, namespace: String)] {
    var result: [(prefix: String, namespace: String)] = []
    var child = node + 1
    while child < Int(record(node).next), record(child).kind == .namespace {
      result.append((name(of: child).local, string(of: child)))
      child += 1
    }
    return result
  }
}
