package import QuireCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// A page decoder that can also decode a field beside the items, with the same settings.
package protocol FieldDecoder: Sendable {
  /// Decodes the field at `path`. Returns `.some(nil)` if the field is missing or null, and nil if
  /// the document has another format.
  ///
  /// Throws `PageError`: `fieldDecoding` if the field does not fit the type, `shape` if a name on
  /// the path occurs twice.
  func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value??
}

extension PageError {
  /// Returns the error of a field that does not fit its type. `place` is the pointer from `path` to
  /// the value at fault.
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

/// The decoding of one JSON value by a `JSONDecoder`: the body of an error, or a field of a page.
package enum SingleValue {
  /// Decodes a body that is a single value.
  ///
  /// Throws `malformed` if the body is no JSON, `itemDecoding` if it does not fit the type.
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

  /// Decodes the document's value at `path`; returns nil if it is missing or null. Throws
  /// `fieldDecoding` if it does not fit the type.
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
  /// Returns a decoder with these settings that gives each `JSONValue` its original text, from
  /// `source`.
  ///
  /// An instance of a subclass is returned unchanged: it may have settings that cannot be copied.
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
