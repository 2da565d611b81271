public import QuireCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Page {
  /// A field of the page beside its items, such as a sync token; nil where the page has none.
  ///
  /// Throws `PageError` with code `shape` for a name that occurs twice.
  public func field(_ path: PagePath) throws -> JSONValue? {
    guard let http else { return nil }
    return try http.document.value(at: path, outsideItemsOf: http.visit.engine.items)
  }

  /// A field of the page, typed; nil where the page has none, or a null.
  ///
  /// Decoded as the listing's items are: by the `JSONDecoder` or the `XMLDecodingOptions` of the
  /// cursor, its strategies for keys and dates included. For items that are not decoded into types,
  /// by `JSONDecoder()`. Throws `PageError` with code `fieldDecoding` when the field does not fit, its
  /// `underlying` what the decoder threw.
  public func field<Value: Decodable>(_ path: PagePath, as type: Value.Type) throws -> Value? {
    guard let http else { return nil }
    if let found = try http.fieldDecoder?.field(type, at: path, in: http.document) { return found }
    let plain = JSONFields(decoder: JSONDecoder())
    if let found = try plain.field(type, at: path, in: http.document) { return found }
    return try plain.field(type, at: path, ofValueIn: http.document)
  }
}
