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

  /// A field of the page, typed.
  ///
  /// Throws what `JSONDecoder` throws when the field does not fit.
  public func field<Value: Decodable>(_ path: PagePath, as type: Value.Type) throws -> Value? {
    guard let value = try field(path), value != .null else { return nil }
    return try JSONDecoder().decode(type, from: Data(value.description.utf8))
  }
}
