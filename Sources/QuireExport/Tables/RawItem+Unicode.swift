package import QuireCore
package import QuirePagination

/// JSON allows half a surrogate pair (RFC 8259, section 8.2), which is not a character and cannot
/// be decoded. These methods let an export continue with the text as the server wrote it.
extension RawItem {
  /// Returns the value at a path; if it contains half a surrogate pair, its JSON text.
  func valueOrText(at path: PagePath) throws -> JSONValue? {
    do {
      return try value(at: path)
    } catch let error as PageError where error.code == .malformed {
      return try compact(at: path).map { .string(String(decoding: $0, as: UTF8.self)) }
    }
  }

  /// Returns the value at a path; nil also if it contains half a surrogate pair.
  package func valueIfUnicode(at path: PagePath) throws -> JSONValue? {
    do {
      return try value(at: path)
    } catch let error as PageError where error.code == .malformed {
      return nil
    }
  }
}
