import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Fields of a page by a `JSONDecoder`.
struct JSONFields: FieldDecoder {
  let decoder: JSONDecoder

  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    guard let document = document as? JSONDocument else { return nil }
    guard case .node(let node) = try document.find(path), document.word(at: node).kind != .null
    else { return .some(nil) }
    if let flaw = document.flaw(in: node) { throw document.flawError(at: flaw) }
    do {
      return try decoder.decode(type, from: Data(document.bytes[document.range(of: node)]))
    } catch let error as DecodingError {
      let failure = ItemFailure(error.located(in: document, node, by: decoder), at: 0)
      throw PageError.field(at: path, place: failure.path, failure.message, underlying: error)
    }
  }

  /// The same from a page of any other format, by the value that it has there.
  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, ofValueIn document: any PageDocument
  ) throws -> Value? {
    guard let value = try document.value(at: path), value != .null else { return nil }
    do {
      return try decoder.decode(type, from: Data(value.description.utf8))
    } catch let error as DecodingError {
      let failure = ItemFailure(error, at: 0)
      throw PageError.field(at: path, place: failure.path, failure.message, underlying: error)
    }
  }
}

/// A decoder's error with the names that the page has where the decoder goes by others.
struct LocatedDecodingError: Error {
  let underlying: DecodingError
  /// Where, as a pointer into the item.
  let path: String
  /// The name that the page would have for a key that is missing.
  var missingName: String?
}

extension DecodingError {
  /// The error with its place in the page: a key strategy shows names that are not in it.
  func located(
    in document: JSONDocument, _ node: Int, by decoder: JSONDecoder
  ) -> LocatedDecodingError {
    var missing: String?
    let keys: [any CodingKey]
    switch self {
    case .typeMismatch(_, let context), .dataCorrupted(let context),
      .valueNotFound(_, let context):
      keys = context.codingPath
    case .keyNotFound(let key, let context):
      keys = context.codingPath
      if case .convertFromSnakeCase = decoder.keyDecodingStrategy {
        missing = SnakeCase.name(for: key.stringValue)
      }
    @unknown default: keys = []
    }
    return LocatedDecodingError(
      underlying: self,
      path: document.pointer(to: keys, from: node, strategy: decoder.keyDecodingStrategy),
      missingName: missing)
  }
}

extension JSONDocument {
  /// The pointer from `start` to where a decoder was, by the names in the page.
  fileprivate func pointer(
    to keys: [any CodingKey], from start: Int, strategy: JSONDecoder.KeyDecodingStrategy
  ) -> String {
    var node: Int? = start
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
      pointer += PagePath.pointer(to: step)
    }
    return pointer
  }

  private static func converted(
    _ name: String, at path: ArraySlice<any CodingKey>,
    by strategy: JSONDecoder.KeyDecodingStrategy
  ) -> String {
    switch strategy {
    case .useDefaultKeys: name
    case .convertFromSnakeCase: SnakeCase.key(for: name)
    case .custom(let convert): convert(path + [MemberName(name)]).stringValue
    @unknown default: name
    }
  }

  private struct MemberName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}

/// Names as `JSONDecoder.KeyDecodingStrategy.convertFromSnakeCase` changes them.
private enum SnakeCase {
  /// `_created_at` as `_createdAt`.
  static func key(for name: String) -> String {
    let lead = name.prefix { $0 == "_" }
    guard lead.count < name.count else { return name }
    let core = name.dropFirst(lead.count)
    let trail = core.reversed().prefix { $0 == "_" }
    let words = core.dropLast(trail.count).split(separator: "_")
    guard words.count > 1 else { return name }
    let rest = words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst().lowercased() }
    return lead + words[0].lowercased() + rest.joined() + String(trail)
  }

  /// `createdAt` as `created_at`.
  static func name(for key: String) -> String {
    var name = ""
    for character in key {
      if character.isUppercase, !name.isEmpty { name += "_" }
      name += character.lowercased()
    }
    return name
  }
}
