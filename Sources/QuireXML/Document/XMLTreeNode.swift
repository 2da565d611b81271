package import QuirePagination
import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An element of a page, from which others can be reached: for formats that are read by hand.
///
/// Two words; the page stays in memory as long as one of its nodes does.
package struct XMLTreeNode: Sendable {
  let index: XMLIndex
  let node: Int

  /// The number of the element's name in `XMLDocument.nameCount` many.
  @inline(__always)
  package var nameNumber: Int { index.record(node).name }

  /// The element's local name.
  package var localName: String { index.name(of: node).local }

  /// The URI of the element's namespace; nil for none.
  package var namespace: String? { index.name(of: node).namespace }

  /// The elements directly within, in order.
  package var children: Children { Children(base: index.children(of: node)) }

  /// A type of its own: the library's lazy ones are not specialised in other modules.
  package struct Children: Sequence, IteratorProtocol {
    var base: XMLIndex.Children

    package mutating func next() -> XMLTreeNode? {
      guard let node = base.next() else { return nil }
      return XMLTreeNode(index: base.index, node: node)
    }
  }

  /// Whether an element is directly within.
  package var hasChildren: Bool { index.children(of: node).contains { _ in true } }

  /// The element's own text without white space around it; nil when nothing is left.
  package var text: String? { index.trimmedText(of: node) }

  /// The element's own text as it is.
  package var wholeText: String { index.withText(of: node) { String(decoding: $0, as: UTF8.self) } }

  /// The value of the attribute with that local name and namespace; where there is none, of the first
  /// whose name differs in case alone, as publishers write `isPermalink`.
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

  /// What is directly within, in order: texts and elements.
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

  /// The element's bytes in UTF-8, with the namespaces that it gets from around it.
  package var bytes: [UInt8] { XMLMarkup(index).bytes(of: node) }

  /// Bytes of the element in the page.
  package var byteCount: Int { Int(index.record(node).length) }

  /// Where the element stands, for messages.
  package var place: String { index.place(of: node) }

  /// A digest of the element's bytes, the same within a process.
  package var digest: Int { ContentDigest.of(UnsafeRawBufferPointer(index.value(of: node))) }
}

extension XMLDocument {
  /// The page in UTF-8.
  package var text: [UInt8] { Array(index.source) }

  /// The root element.
  package var root: XMLTreeNode { XMLTreeNode(index: index, node: 0) }

  /// How many different names the page has.
  package var nameCount: Int { index.names.count }

  /// A name by its number.
  package func name(_ number: Int) -> (local: String, prefix: String?, namespace: String?) {
    let name = index.names[number]
    return (name.local, name.prefix, name.namespace)
  }
}

/// The elements of a page as items of JSON, mapped when they are asked for.
private struct XMLElementStorage: RawItemStorage {
  let index: XMLIndex

  func markup(of node: Int) -> [UInt8]? { XMLMarkup(index).bytes(of: node) }

  func bytes(of node: Int) -> ArraySlice<UInt8> {
    var text: [UInt8] = []
    XMLMapping(index).append(node, to: &text)
    return text[...]
  }

  func appendCompact(_ node: Int, to output: inout [UInt8]) {
    XMLMapping(index).append(node, to: &output)
  }

  func value(of node: Int) throws -> JSONValue { try XMLMapping(index).value(of: node) }

  func decode<Value: Decodable>(
    _ type: Value.Type, of node: Int, with decoder: JSONDecoder
  ) throws -> Value {
    let source = MappedValue(root: try value(of: node))
    return try decoder.keeping(source).decode(type, from: Data(bytes(of: node)))
  }
}

extension XMLTreeNode {
  /// The attributes of a namespace: local names and values.
  package func attributes(in namespace: String) -> [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    for attribute in index.attributes(of: node) {
      let own = index.name(of: attribute)
      if own.namespace == namespace { found.append((own.local, index.string(of: attribute))) }
    }
    return found
  }
}
