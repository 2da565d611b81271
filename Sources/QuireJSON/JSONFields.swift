import QuireCore
package import QuirePagination
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A decoder of single values of a page, with the settings of a `JSONDecoder`.
struct JSONFields: FieldDecoder {
  let decoder: JSONDecoder

  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    guard let document = document as? JSONDocument else { return nil }
    guard case .node(let node) = try document.find(path), document.word(at: node).kind != .null
    else { return .some(nil) }
    if let flaw = document.flaw(in: node, ignoring: .inValues) {
      throw document.flawError(at: flaw)
    }
    do {
      return try JSONItemReader(decoder).values(type, of: document)(node)
    } catch let error as LocatedDecodingError {
      let failure = ItemFailure(error, at: 0)
      throw PageError.field(
        at: path, place: failure.path, failure.message, underlying: error.underlying)
    }
  }
}

extension JSONPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONFields(decoder: decoder).field(type, at: path, in: document)
  }
}

extension JSONRawPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONFields(decoder: JSONDecoder()).field(type, at: path, in: document)
  }
}

extension DecodingError {
  /// Returns the error with its place in the page. The place has the names of the page, whereas the
  /// error's coding path has keys that a key strategy may have converted.
  ///
  /// `unfitNumber` is the node of the number that did not fit its type, for which the error has no
  /// path.
  func located(
    in document: JSONDocument, _ node: Int, by strategy: JSONDecoder.KeyDecodingStrategy,
    unfitNumber: Int? = nil
  ) -> LocatedDecodingError {
    var missing: String?
    let keys: [any CodingKey]
    switch self {
    case .typeMismatch(_, let context), .dataCorrupted(let context),
      .valueNotFound(_, let context):
      keys = context.codingPath
    case .keyNotFound(let key, let context):
      keys = context.codingPath
      if case .convertFromSnakeCase = strategy {
        missing = SnakeCase.name(for: key.stringValue)
      }
    @unknown default: keys = []
    }
    var place = document.place(of: keys, from: node, strategy: strategy)
    if case .dataCorrupted = self, keys.isEmpty, let unfitNumber {
      place = (document.pointer(to: unfitNumber, from: node), unfitNumber)
    }
    return LocatedDecodingError(
      self, path: place.pointer, missingName: missing,
      byte: document.isPage ? document.range(of: place.node).lowerBound : nil)
  }
}

extension JSONDocument {
  /// Returns the pointer from `start` along `keys`, with the names of the page, and the last node
  /// on it that exists.
  fileprivate func place(
    of keys: [any CodingKey], from start: Int, strategy: JSONDecoder.KeyDecodingStrategy
  ) -> (pointer: String, node: Int) {
    var node: Int? = start
    var last = start
    var pointer = ""
    for (depth, key) in keys.enumerated() {
      var step = key.intValue.map(String.init) ?? key.stringValue
      if let current = node, word(at: current).kind == .object {
        let name = names(of: current).first { name in
          guard let text = try? text(at: name) else { return false }
          return Self.converted(text, at: keys[..<depth], by: strategy) == key.stringValue
        }
        if let name, let text = try? text(at: name) { step = text }
        node = name.map { $0 + 1 }
      } else if let current = node, word(at: current).kind == .array, let index = key.intValue {
        node = element(of: current, at: index)
      } else {
        node = nil
      }
      last = node ?? last
      pointer += PagePath.pointer(to: step)
    }
    return (pointer, last)
  }

  private static func converted(
    _ name: String, at path: ArraySlice<any CodingKey>,
    by strategy: JSONDecoder.KeyDecodingStrategy
  ) -> String {
    switch strategy {
    case .useDefaultKeys: name
    case .convertFromSnakeCase: SnakeCase.key(for: name)
    case .custom(let convert): convert(path + [JSONKey(name)]).stringValue
    @unknown default: name
    }
  }
}

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
        let key = self.name(text, at: path)
        if names[key] == nil { names[key] = name + 1 }
      }
      children[object] = .members(names)
      return names
    }
    return names[name(key.stringValue)]
  }

  /// Returns the key of a member after the key strategy, in a form that can be compared.
  private func name(_ name: String, at path: ArraySlice<any CodingKey>) -> String {
    switch keys {
    case .custom(let convert): convert(path + [JSONKey(name)]).stringValue
    default: self.name(name)
    }
  }

  /// Returns a name without the underscores and upper case that `convertFromSnakeCase` changes, so
  /// that names and keys can be compared.
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
