import QuireCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Gives a `JSONDecoder` the values that it cannot hand out without loss: it is asked for a
/// `JSONValue` by the coding path, and reads it from the index of the page.
final class JSONValueReader: JSONValueSource {
  private let document: JSONDocument
  /// The value that the decoder was given.
  private let root: Int
  private let keys: JSONDecoder.KeyDecodingStrategy
  /// The children of large containers, so that asking for each of them costs linear time together.
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

  /// The first member that the decoder calls by that key, as it takes the first one itself; nil where
  /// a key strategy leaves open which that is.
  private func member(_ key: any CodingKey, of object: Int, at path: ArraySlice<any CodingKey>)
    -> Int?
  {
    let names = children.withLock { children in
      if case .members(let names) = children[object] { return names }
      var names: [String: Int] = [:]
      for name in document.names(of: object) {
        guard let text = try? document.text(at: name) else { continue }
        let key = self.name(text, at: path)
        if names[key] == nil { names[key] = name + 1 }
      }
      children[object] = .members(names)
      return names
    }
    return names[name(key.stringValue)]
  }

  /// What a member's name is called after the key strategy.
  private func name(_ name: String, at path: ArraySlice<any CodingKey>) -> String {
    switch keys {
    case .custom(let convert): convert(path + [Name(stringValue: name)]).stringValue
    default: self.name(name)
    }
  }

  /// A name without what `convertFromSnakeCase` changes, so that both sides can be compared.
  private func name(_ name: String) -> String {
    if case .convertFromSnakeCase = keys { name.filter { $0 != "_" }.lowercased() } else { name }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

extension JSONDecoder {
  /// Decodes a node of a page; a `JSONValue` in it keeps the server's text.
  ///
  /// A subclass is asked as it is: it may have settings that a copy would not have.
  func decode<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    let decoder = Swift.type(of: self) == JSONDecoder.self ? lossless(document, node) : self
    return try decoder.decode(type, from: Data(document.bytes[document.range(of: node)]))
  }

  private func lossless(_ document: JSONDocument, _ node: Int) -> JSONDecoder {
    guard let key = JSONValue.sourceKey else { return self }
    let copy = JSONDecoder()
    copy.dateDecodingStrategy = dateDecodingStrategy
    copy.dataDecodingStrategy = dataDecodingStrategy
    copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
    copy.keyDecodingStrategy = keyDecodingStrategy
    copy.allowsJSON5 = allowsJSON5
    copy.assumesTopLevelDictionary = assumesTopLevelDictionary
    copy.userInfo = userInfo
    copy.userInfo[key] = JSONValueReader(document, root: node, keys: keyDecodingStrategy)
    return copy
  }
}
