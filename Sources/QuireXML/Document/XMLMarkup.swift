/// An element's own bytes, made to stand alone.
struct XMLMarkup {
  private let index: XMLIndex

  init(_ index: XMLIndex) { self.index = index }

  /// The element as the server wrote it, in UTF-8 and with single line feeds, with the namespaces
  /// declared that it gets from the elements around it.
  func bytes(of node: Int) -> [UInt8] {
    let own = index.value(of: node)
    let inherited = inheritedNamespaces(of: node)
    guard !inherited.isEmpty else { return Array(own) }
    let nameEnd = 1 + index.name(of: node).qualified.utf8.count
    var bytes = Array(own[..<nameEnd])
    for (prefix, namespace) in inherited {
      bytes += (prefix.isEmpty ? " xmlns=\"" : " xmlns:\(prefix)=\"").utf8
      bytes += Self.escaped(namespace)
      bytes.append(UInt8(ascii: "\""))
    }
    return bytes + own[nameEnd...]
  }

  /// What is in scope around a node and not declared on it, nearest first.
  private func inheritedNamespaces(of node: Int) -> [(prefix: String, namespace: String)] {
    var seen = Set(declarations(on: node).map(\.prefix))
    var result: [(prefix: String, namespace: String)] = []
    var node = node
    while node != 0 {
      node = Int(index.record(node).parent)
      for declaration in declarations(on: node) where seen.insert(declaration.prefix).inserted {
        // An undeclared default namespace is what an element alone has anyway.
        if !declaration.namespace.isEmpty { result.append(declaration) }
      }
    }
    return result
  }

  private func declarations(on node: Int) -> [(prefix: String, namespace: String)] {
    var result: [(prefix: String, namespace: String)] = []
    var child = node + 1
    while child < Int(index.record(node).next), index.record(child).kind == .namespace {
      result.append((index.name(of: child).local, index.string(of: child)))
      child += 1
    }
    return result
  }

  private static func escaped(_ text: String) -> [UInt8] {
    text.utf8.flatMap { byte -> [UInt8] in
      switch byte {
      case UInt8(ascii: "&"): Array("&amp;".utf8)
      case UInt8(ascii: "<"): Array("&lt;".utf8)
      case UInt8(ascii: "\""): Array("&quot;".utf8)
      default: [byte]
      }
    }
  }
}
