public import QuireLists

/// The items of a list in sections: each run of items that share a key, in the order of the list.
///
/// ```swift
/// var days = ListSections { (mail: Mail) in mail.day }
/// days.update(model.items)
/// let header = days.header(ofRow: top)
/// ```
/// Sections grow as items arrive. `update(_:)` looks only into pages that changed. Items of one key that do
/// not follow one another are sections of their own; sort by the key to join them.
public struct ListSections<Item: Sendable, Key: Hashable & Sendable>: Sendable {
  private struct Run: Sendable {
    var key: Key
    var count: Int
  }

  private let key: @Sendable (Item) -> Key
  private var made: [(chunk: ListItems<Item>.Chunk, runs: [Run])] = []
  /// The key of each section.
  public private(set) var keys: [Key] = []
  /// How many items each has.
  public private(set) var counts: [Int] = []
  private var starts: [Int] = []

  /// Sections by what `key` says of an item.
  public init(by key: @escaping @Sendable (Item) -> Key) { self.key = key }

  /// Takes the items shown now.
  public mutating func update(_ items: ListItems<Item>) {
    let known = Dictionary(
      made.map { (ObjectIdentifier($0.chunk), $0.runs) }, uniquingKeysWith: { first, _ in first })
    made = items.chunks.map { ($0, known[ObjectIdentifier($0)] ?? runs(of: $0.items)) }
    (keys, counts, starts) = ([], [], [])
    var start = 0
    for run in made.lazy.flatMap(\.runs) {
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

  private func runs(of items: [Item]) -> [Run] {
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

  /// The section of an item, and its number there; nil where there is no such item.
  public func path(ofItem index: Int) -> SectionCounts.Path? {
    guard index >= 0, let last = counts.last, let start = starts.last, index < start + last else {
      return nil
    }
    let section = ListChunks.last(in: starts, upTo: index)
    return SectionCounts.Path(section: section, row: index - starts[section])
  }

  /// The number of the first item of a section.
  public func firstItem(ofSection section: Int) -> Int { starts[section] }

  /// The header that stays above a view whose first item is this one, and how far the next header has
  /// pushed it out: 0 for not at all, in items, where a header is as high as `height` of them.
  public func header(atItem index: Int, height: Int = 1) -> (key: Key, pushed: Int)? {
    guard let path = path(ofItem: index) else { return nil }
    let left = counts[path.section] - path.row
    let isLast = path.section == counts.count - 1
    return (keys[path.section], isLast ? 0 : max(0, height - left))
  }
}
