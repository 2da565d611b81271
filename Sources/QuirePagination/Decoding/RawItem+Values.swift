public import QuireCore

/// Values of an item without a type: looked up where the item is, none but the one that is asked for
/// being made.
///
/// A path is names with `/` between them, `user/login`; in a list, a number counts from 0: `labels/0`.
/// Write `~1` for a `/` in a name and `~0` for a `~` (RFC 6901). Of a name that occurs twice the first
/// counts.
///
/// ```swift
/// for try await issue in issues.items where issue.bool("locked") != true {
///   print(issue.integer("number") ?? 0, issue.string("user/login") ?? "nobody")
/// }
/// ```
extension RawItem {
  /// The value at a path; nil where there is none, and for text that is no Unicode.
  public subscript(path: String) -> JSONValue? { storage.value(at: path, of: node) }

  /// The text at a path; nil where there is none or another value.
  public func string(_ path: String) -> String? { storage.value(at: path, of: node)?.string }

  /// The whole number at a path, or the one that a text is; nil where there is none.
  public func integer(_ path: String) -> Int? { storage.integer(at: path, of: node) }

  /// The number at a path, or the one that a text is; nil where there is none.
  public func double(_ path: String) -> Double? {
    switch storage.value(at: path, of: node) {
    case .number(let text), .string(let text): Double(text)
    default: nil
    }
  }

  /// The truth value at a path, read as `JSONValue.boolean` reads it; nil where there is none.
  public func bool(_ path: String) -> Bool? { storage.value(at: path, of: node)?.boolean }
}

extension RawItemStorage {
  /// For items that are kept as bytes: made and looked into.
  package func value(at path: String, of node: Int) -> JSONValue? {
    path.split(separator: "/", omittingEmptySubsequences: false)
      .reduce(try? value(of: node)) { found, step in
        if case .array(let elements)? = found {
          return Int(step).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
        }
        let name = step.replacing("~1", with: "/").replacing("~0", with: "~")
        return found?[String(name)]
      }
  }

  package func integer(at path: String, of node: Int) -> Int? {
    value(at: path, of: node)?.integer
  }
}
