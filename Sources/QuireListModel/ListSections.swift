public import QuireLists

/// The sections of a list's items: one for each run of items that share a key.
///
/// ```swift
/// var days = ListSections { (mail: Mail) in mail.day }
/// days.update(model.items)
/// let header = days.header(atItem: top)?.key
/// ```
/// Sections grow as items arrive; `update(_:)` reads only pages that changed. Equal keys that are
/// not adjacent are separate sections: sort by the key to join them.
public struct ListSections<Item: Sendable, Key: Hashable & Sendable>: Sendable {
  private struct Run: Sendable {
    var key: Key
    var count: Int
  }

  private let key: @Sendable (Item) -> Key
  private var runs = ChunkCache<Item, [Run]>()
  /// The key of each section.
  public private(set) var keys: [Key] = []
  /// The number of items in each section.
  public private(set) var counts: [Int] = []
  private var starts: [Int] = []

  /// Creates sections by the key of each item.
  public init(by key: @escaping @Sendable (Item) -> Key) { self.key = key }

  /// Divides `items` into sections, in place of the previous items.
  public mutating func update(_ items: ListItems<Item>) {
    let runs = runs.results(of: items.chunks) { [key] in Self.runs(of: $0.items, key) }
    (keys, counts, starts) = ([], [], [])
    var start = 0
    for run in runs.lazy.joined() {
      if run.key == keys.last {
        counts[counts.count - 1] += run.count
      } else {
        keys.append(run.key)
        counts.append(run.count)
        starts.append(start)
      }
      start += run.count
    }
  }

  private static func runs(of items: [Item], _ key: (Item) -> Key) -> [Run] {
    var runs: [Run] = []
    for item in items {
      let key = key(item)
      if runs.last?.key == key {
        runs[runs.count - 1].count += 1
      } else {
        runs.append(Run(key: key, count: 1))
      }
    }
    return runs
  }

  /// Returns the section of an item and its row in that section; nil if there is no such item.
  public func path(ofItem index: Int) -> SectionCounts.Path? {
    guard index >= 0, let last = counts.last, let start = starts.last, index < start + last else {
      return nil
    }
    let section = ListChunks.last(in: starts, upTo: index)
    return SectionCounts.Path(section: section, row: index - starts[section])
  }

  /// Returns the index of a section's first item. Traps if there is no such section.
  public func firstItem(ofSection section: Int) -> Int { starts[section] }

  /// Returns the sticky header of a view whose first visible item is `index`, and how far the next
  /// header has pushed it out, in items: 0 for not at all. `height` is the height of a header, in
  /// items. Nil if there is no such item.
  public func header(atItem index: Int, height: Int = 1) -> (key: Key, pushed: Int)? {
    guard let path = path(ofItem: index) else { return nil }
    let left = counts[path.section] - path.row
    let isLast = path.section == counts.count - 1
    return (keys[path.section], isLast ? 0 : max(0, height - left))
  }
}
