import QuireCore
import QuireExport
import QuirePagination

/// Finds items of different parents that have one key, and different content: the destination keeps
/// only the last of them.
///
/// Equal items do not count, because the listings of several parents may have the same item. Keys
/// are remembered for one command, up to `capacity`: keys that are unique within a parent alone
/// mostly show with the first items of two parents.
struct SyncKeys: Sendable {
  private static let capacity = 50_000

  private let key: TableKey
  private let deleted: Tombstone?
  /// The parent's number and the digest of the last item, by the digest of its key.
  private var known: [UInt64: (parent: Int, item: UInt64)] = [:]
  /// The number of items that took the place of another parent's, and the key of the first.
  private var displaced = 0
  private var example = ""

  /// Creates an empty record; nil for a listing without a parent or without a key.
  init?(_ listing: SyncListing) {
    guard listing.parent != nil, let key = listing.destination.key else { return nil }
    (self.key, deleted) = (key, listing.deleted)
  }

  /// Notes the items of a page of one parent's listing, as they are stored.
  mutating func note(_ items: [RawItem], of parent: Int) throws {
    for item in items where try deleted?.marks(item) != true {
      let values = try key.paths.compactMap { try item.valueIfUnicode(at: $0) }
      guard values.count == key.paths.count else { continue }
      let text = "\(JSONValue.array(values))"
      let digest = FNV1a(text.utf8).value
      guard known[digest] != nil || known.count < Self.capacity else { continue }
      let found = (parent: parent, item: FNV1a(item.compact).value)
      if let old = known.updateValue(found, forKey: digest), old.parent != parent,
        old.item != found.item
      {
        if displaced == 0 { example = values.count == 1 ? "\(values[0])" : text }
        displaced += 1
      }
    }
  }

  /// What to say of displaced items; empty for none.
  var warning: String {
    guard displaced > 0 else { return "" }
    return
      "; \(displaced.counted("item")) took the place of another parent's with the same key, such as "
      + "\(ServerText(example, limit: 40)): where keys are unique within a parent alone, add a value of the "
      + "parent by with, name it in key as well, and begin anew by --restart"
  }
}
