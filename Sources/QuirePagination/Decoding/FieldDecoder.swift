package import QuireCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A decoder of pages that also reads a field beside the items, as it reads items.
package protocol FieldDecoder: Sendable {
  /// The field at `path`: `.some(nil)` where there is none, or a null; nil for a document of another
  /// format.
  ///
  /// Throws `PageError`: `fieldDecoding` where the field does not fit, `shape` for a name that occurs
  /// twice.
  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value??
}

extension PageError {
  /// That a field does not fit its type; `place` leads on from `path` to what is wrong.
  package static func field(
    at path: PagePath, place: String = "", _ message: String, underlying: any Error
  ) -> PageError {
    let place = place.isEmpty ? "" : ", at \(ServerText(place))"
    return PageError(
      .fieldDecoding,
      "The page's field at \(path.place) cannot be decoded\(place): \(message)",
      underlying: underlying)
  }
}

extension AutomaticPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    for case let decoder as any FieldDecoder in [json, xml] {
      if let found = try decoder.field(type, at: path, in: document) { return .some(found) }
    }
    return nil
  }
}

extension MappedPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try (base as? any FieldDecoder)?.field(type, at: path, in: document) ?? nil
  }
}

extension ClosurePageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try (base as? any FieldDecoder)?.field(type, at: path, in: document) ?? nil
  }
}

/// One JSON value read by a `JSONDecoder`: the body of an error, or a field of a page by its value.
package enum SingleValue {
  /// A body that is one value.
  ///
  /// Throws `malformed` where it is no JSON, `itemDecoding` where it does not fit the type.
  package static func decode<Value: Decodable>(
    _ type: Value.Type, from body: [UInt8], by decoder: JSONDecoder = JSONDecoder()
  ) throws -> Value {
    do {
      return try decoder.decode(type, from: Data(body))
    } catch {
      _ = try JSONValue(parsing: body)
      let failure = ItemFailure(error, at: 0)
      let place = failure.path.isEmpty ? "" : ", at \(failure.path)"
      throw PageError(
        .itemDecoding, "The answer's body is no \(type)\(place): \(failure.message)",
        underlying: error)
    }
  }

  /// The field at `path`, by the value that the page has there; nil for none, and for null.
  package static func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, ofValueIn document: any PageDocument
  ) throws -> Value? {
    guard let value = try document.value(at: path), value != .null else { return nil }
    do {
      return try JSONDecoder().decode(type, from: Data(value.description.utf8))
    } catch let error as DecodingError {
      let failure = ItemFailure(error, at: 0)
      throw PageError.field(at: path, place: failure.path, failure.message, underlying: error)
    }
  }
}

extension JSONDecoder {
  /// A decoder with these settings that keeps the text of each `JSONValue`, as `source` has it.
  ///
  /// A subclass is given back as it is: it may have settings that a copy would not have.
  package func keeping(_ source: some JSONValueSource & Sendable) -> JSONDecoder {
    guard type(of: self) == JSONDecoder.self, let key = JSONValue.sourceKey else { return self }
    let copy = JSONDecoder()
    copy.dateDecodingStrategy = dateDecodingStrategy
    copy.dataDecodingStrategy = dataDecodingStrategy
    copy.nonConformingFloatDecodingStrategy = nonConformingFloatDecodingStrategy
    copy.keyDecodingStrategy = keyDecodingStrategy
    copy.allowsJSON5 = allowsJSON5
    copy.assumesTopLevelDictionary = assumesTopLevelDictionary
    copy.userInfo = userInfo
    copy.userInfo[key] = source
    return copy
  }
}
