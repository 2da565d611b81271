package import QuirePagination
import QuireCore

/// An element of a page, with access to its children, for formats that are read by hand-written
/// code.
///
/// It has two words, and keeps its page in memory.
package struct XMLTreeNode: Sendable {
  let index: XMLIndex
  let node: Int

  /// The number of the element's name, below `XMLDocument.nameCount`.
  @inline(__always)
  package var nameNumber: Int { index.record(node).name }

  /// The element's local name.
  package var localName: String { index.name(of: node).local }

  /// The URI of the element's namespace; nil for none.
  package var namespace: String? { index.name(of: node).namespace }

  /// The child elements, in order.
  package var children: Children { Children(base: index.children(of: node)) }

  /// The child elements. The standard library's lazy sequences are not specialised in other
  /// modules, so this is a type of its own.
  package struct Children: Sequence, IteratorProtocol {
    var base: XMLIndex.Children

    package mutating func next() -> XMLTreeNode? {
      guard let node = base.next() else { return nil }
      return XMLTreeNode(index: base.index, node: node)
    }
  }

  /// Whether there are child elements.
  package var hasChildren: Bool { index.hasChildren(node) }

  /// The element's own text without white space around it; nil if nothing is left.
  package var text: String? { index.trimmedText(of: node) }

  /// The element's own text, with its white space.
  package var wholeText: String { index.withText(of: node) { String(decoding: $0, as: UTF8.self) } }

  /// Returns the value of the attribute with a local name and namespace; if there is none, of the
  /// first whose name differs only in case, such as `isPermalink` for `isPermaLink`.
  package func attribute(_ name: String, in namespace: String? = nil) -> String? {
    var similar: Int?
    for attribute in index.attributes(of: node) {
      let own = index.name(of: attribute)
      guard own.namespace == namespace else { continue }
      if own.local == name { return index.string(of: attribute) }
      if similar == nil, own.local.utf8.count == name.utf8.count,
        own.local.lowercased() == name.lowercased()
      {
        similar = attribute
      }
    }
    return similar.map { index.string(of: $0) }
  }

  /// The element's attributes: local names and values.
  package var attributes: [(name: String, value: String)] {
    index.attributes(of: node).map { (index.name(of: $0).local, index.string(of: $0)) }
  }

  /// Returns the attributes of a namespace: local names and values.
  package func attributes(in namespace: String) -> [(name: String, value: String)] {
    index.attributes(of: node).compactMap { attribute in
      let own = index.name(of: attribute)
      return own.namespace == namespace
        ? (name: own.local, value: index.string(of: attribute)) : nil
    }
  }

  /// The child elements and texts, in order.
  package var content: [Content] {
    var content: [Content] = []
    var child = node + 1
    while child < Int(index.record(node).next) {
      let kind = index.record(child).kind
      if kind == .element {
        content.append(.element(XMLTreeNode(index: index, node: child)))
      } else if kind.isText {
        content.append(.text(index.string(of: child)))
      }
      child = Int(index.record(child).next)
    }
    return content
  }

  /// A text or an element.
  package enum Content {
    case text(String)
    case element(XMLTreeNode)
  }

  /// The element as an item of a page.
  package var rawItem: RawItem { RawItem(XMLElementStorage(index: index), node: node) }

  /// The element's bytes in UTF-8, with declarations of the namespaces that it inherits.
  package var bytes: [UInt8] { index.markup(of: node) }

  /// The number of bytes of the element in the page, as UTF-8.
  package var byteCount: Int { Int(index.record(node).length) }
}

extension XMLDocument {
  /// The page's text in UTF-8.
  package var text: [UInt8] { Array(index.source) }

  /// The root element.
  package var root: XMLTreeNode { XMLTreeNode(index: index, node: 0) }

  /// The number of different names in the page.
  package var nameCount: Int { index.names.count }

  /// Returns a name by its number.
  package func name(_ number: Int) -> (local: String, namespace: String?) {
    let name = index.names[number]
    return (name.local, name.namespace)
  }
}

/// The elements of a page as raw items of JSON, mapped on each request.
private struct XMLElementStorage: RawItemStorage {
  let index: XMLIndex

  func sourceBytes(of node: Int) -> [UInt8]? { index.markup(of: node) }

  func bytes(of node: Int) -> ArraySlice<UInt8> {
    var text: [UInt8] = []
    XMLMapping(index).append(node, to: &text)
    return text[...]
  }
}
