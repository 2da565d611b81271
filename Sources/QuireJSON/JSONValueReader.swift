import QuireCore
import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A source of `JSONValue`s for a `JSONDecoder`, which could not make them without loss: it is
/// asked by coding path and reads the value from the index of the page.
final class JSONValueReader: JSONValueSource, Sendable {
  private let document: JSONDocument
  /// The node of the value that the decoder decodes.
  private let root: Int
  private let keys: JSONDecoder.KeyDecodingStrategy
  /// The children of containers by index or key, so that finding each of them once takes linear
  /// time in total.
  private let children = Mutex<[Int: Children]>([:])

  private enum Children {
    case elements([Int])
    case members([String: Int])
  }

  init(_ document: JSONDocument, root: Int, keys: JSONDecoder.KeyDecodingStrategy) {
    self.document = document
    self.root = root
    self.keys = keys
  }

  func value(at path: [any CodingKey]) throws -> JSONValue? {
    var node = root
    for (index, key) in path.enumerated() {
      let child =
        switch document.word(at: node).kind {
        case .array: key.intValue.flatMap { element($0, of: node) }
        case .object: member(key, of: node, at: path[..<index])
        default: Int?.none
        }
      guard let child else { return nil }
      node = child
    }
    return try document.value(of: node)
  }

  private func element(_ index: Int, of array: Int) -> Int? {
    let nodes = children.withLock { children in
      if case .elements(let nodes) = children[array] { return nodes }
      let nodes = Array(document.elements(of: array))
      children[array] = .elements(nodes)
      return nodes
    }
    return nodes.indices.contains(index) ? nodes[index] : nil
  }

  /// Returns the value of the first member with the key, because `JSONDecoder` takes the first too;
  /// nil if there is none.
  private func member(_ key: any CodingKey, of object: Int, at path: ArraySlice<any CodingKey>)
    -> Int?
  {
    let names = children.withLock { children in
      if case .members(let names) = children[object] { return names }
      var names: [String: Int] = [:]
      for name in document.names(of: object) {
        guard let text = try? document.text(at: name) else { continue }
        let key = self.name(keys.key(for: text, at: path))
        if names[key] == nil { names[key] = name + 1 }
      }
      children[object] = .members(names)
      return names
    }
    return names[name(key.stringValue)]
  }

  /// Returns a key without the underscores and upper case that `convertFromSnakeCase` changes: the
  /// keys of a dictionary are the names of the page.
  private func name(_ name: String) -> String {
    if case .convertFromSnakeCase = keys { name.filter { $0 != "_" }.lowercased() } else { name }
  }
}

extension JSONDecoder {
  /// Decodes a node of a page; a `JSONValue` in it keeps the server's text.
  func decode<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    let source = JSONValueReader(document, root: node, keys: keyDecodingStrategy)
    return try keeping(source).decode(type, from: Data(document.bytes[document.range(of: node)]))
  }
}
