public import QuireCore
public import QuirePagination

/// How an API tells that an item is gone: by an item in its place, with its key.
///
/// ```swift
/// export.deleted = Tombstone("/@removed")                     // Microsoft Graph
/// export.deleted = Tombstone("/status", is: "cancelled")      // Google Calendar
/// ```
/// A sink with a key takes the item away; others hold what came, as it came.
public struct Tombstone: Hashable, Sendable {
  /// What is looked at.
  public var path: PagePath
  /// The value that tells it; nil for any but null, false, 0 and a blank text.
  public var value: JSONValue?

  /// By something at a path, or by a value there.
  public init(_ path: PagePath, is value: JSONValue? = nil) {
    self.path = path
    self.value = value
  }

  func marks(_ item: RawItem) throws -> Bool {
    guard let found = try item.valueOrText(at: path) else { return false }
    if let value { return found == value }
    switch found {
    case .null, .bool(false), .number("0"): return false
    case .string(let text): return !text.allSatisfy(\.isWhitespace)
    case .bool, .number, .array, .object: return true
    }
  }

  /// The items of a page and those that are gone, in the order in which they came: of each part, what is gone
  /// is so behind its items.
  func parts(of items: [RawItem]) throws -> [(items: [RawItem], deleted: [RawItem])] {
    var parts: [(items: [RawItem], deleted: [RawItem])] = [([], [])]
    for item in items {
      if try marks(item) {
        parts[parts.count - 1].deleted.append(item)
      } else {
        if !parts[parts.count - 1].deleted.isEmpty { parts.append(([], [])) }
        parts[parts.count - 1].items.append(item)
      }
    }
    return parts
  }
}

/// Where changes begin, of a listing whose positions are not those of its pages.
package struct ChangesPlace: Sendable {
  let position: Position

  package init(_ position: Position) { self.position = position }
}
