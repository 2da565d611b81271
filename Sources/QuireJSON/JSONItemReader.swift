import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A reader of a page's values with the settings of a `JSONDecoder`: from the index, or by that
/// decoder itself if it may do more than its settings say.
struct JSONItemReader: Sendable {
  let decoder: JSONDecoder
  private let options: JSONDecodingOptions?

  init(_ decoder: JSONDecoder) {
    self.decoder = decoder
    options = JSONDecodingOptions(decoder)
  }

  /// Returns a function that decodes the value at a node of a page, for one task at a time.
  ///
  /// It throws `LocatedDecodingError` where the decoder throws `DecodingError`, and any other error
  /// that a type's own code throws.
  func values<Value: Decodable>(
    _ type: Value.Type, of document: JSONDocument
  ) -> (Int) throws -> Value {
    guard let options else {
      return { [decoder] node in
        do {
          return try decoder.decode(type, at: node, in: document)
        } catch let error as DecodingError {
          throw error.located(in: document, node, by: decoder.keyDecodingStrategy)
        }
      }
    }
    var context = JSONItemContext(document, options)
    return { node in
      do {
        defer { JSONItemContext.detachIfKept(&context) }
        return try context.decode(type, item: node)
      } catch let error as DecodingError {
        throw error.located(
          in: document, node, by: options.keys, unfitNumber: context.unfitNumber)
      }
    }
  }

  /// Decodes one value. Throws the errors of the decoder, without their place in the page.
  func value<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    guard let options else { return try decoder.decode(type, at: node, in: document) }
    var context = JSONItemContext(document, options)
    defer { JSONItemContext.detachIfKept(&context) }
    return try context.decode(type, item: node)
  }

  /// Decodes the value at `path`; see `FieldDecoder.field`.
  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    guard let document = document as? JSONDocument else { return nil }
    guard let node = try document.find(path).node, document.word(at: node).kind != .null else {
      return .some(nil)
    }
    try document.refuseFlaws(in: node, ignoring: .inValues)
    do {
      return try values(type, of: document)(node)
    } catch let error as LocatedDecodingError {
      let failure = ItemFailure(error, at: 0)
      throw PageError.field(
        at: path, place: failure.path, failure.message, underlying: error.underlying)
    }
  }
}

extension JSONDecoder {
  /// Decodes a node of a page.
  func decode<Value: Decodable>(
    _ type: Value.Type, at node: Int, in document: JSONDocument
  ) throws -> Value {
    try decode(type, from: Data(document.bytes[document.range(of: node)]))
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
          return strategy.key(for: text, at: keys[..<depth]) == key.stringValue
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
}
