import QuireCore

extension JSONValue {
  /// Whether this cursor comes before the other: whole numbers are compared as such, however long
  /// or quoted, anything else by the bytes of its text.
  func isLess(than other: JSONValue) -> Bool {
    let texts = (plainText, other.plainText)
    if let left = Int128(texts.0), let right = Int128(texts.1) { return left < right }
    return texts.0.utf8.lexicographicallyPrecedes(texts.1.utf8)
  }
}
