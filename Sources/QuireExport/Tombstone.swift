public import QuireCore
public import QuirePagination

/// The mark by which an API reports that an item was deleted: an item in its place with the same
/// key.
///
/// ```swift
/// export.deleted = Tombstone("/@removed")                     // Microsoft Graph
/// export.deleted = Tombstone("/status", is: "cancelled")      // Google Calendar
/// ```
/// A sink with a key deletes the item; other sinks store the mark as it came.
public struct Tombstone: Hashable, Sendable {
  /// The path to the mark.
  public var path: PagePath
  /// The value of the mark; nil for any value except null, false, 0 and blank text.
  public var value: JSONValue?

  /// Creates a mark by a value at a path, or by any value there.
  public init(_ path: PagePath, is value: JSONValue? = nil) {
    self.path = path
    self.value = value
  }

  /// Whether an item is the mark of a deleted one. Throws `shape` for a member that occurs twice.
  package func marks(_ item: RawItem) throws -> Bool {
    guard let found = try item.valueOrText(at: path) else { return false }
    if let value { return found == value }
    switch found {
    case .null, .bool(false), .number("0"): return false
    case .string(let text): return !text.allSatisfy(\.isWhitespace)
    case .bool, .number, .array, .object: return true
    }
  }

  /// Divides the items of a page into parts in which all deletions follow all items, and keeps the
  /// order.
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
