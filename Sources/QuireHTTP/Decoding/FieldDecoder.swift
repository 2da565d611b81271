package import QuireCore

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

extension JSONPageDecoder: FieldDecoder {
  package func field<Value: Decodable>(
    _ type: Value.Type, at path: PagePath, in document: any PageDocument
  ) throws -> Value?? {
    try JSONFields(decoder: decoder).field(type, at: path, in: document)
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
