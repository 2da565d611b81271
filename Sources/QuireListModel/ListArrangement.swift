/// A filter and an order upon the items of a list: what is shown of them, and where.
///
/// A filter alone keeps the chunks, and looks only into those that changed. An order makes chunks of its
/// own: O(n log n) for every change.
struct ListArrangement<Item: Sendable>: Sendable {
  typealias Chunk = ListItems<Item>.Chunk

  /// How long the chunks of an order are.
  private static var chunkLength: Int { 128 }

  var filter: (@Sendable (Item) -> Bool)? { didSet { made = [] } }
  var order: (@Sendable (Item, Item) -> Bool)?
  /// What was made of each chunk last.
  private var made: [(source: Chunk, shown: Chunk)] = []

  var isNone: Bool { filter == nil && order == nil }

  /// The items as they are shown.
  mutating func arrange(_ items: ListItems<Item>) -> ListItems<Item> {
    if isNone { return items }
    let filtered = filter.map { filter in
      let known = Dictionary(
        made.map { (ObjectIdentifier($0.source), $0.shown) },
        uniquingKeysWith: { first, _ in first })
      made = items.chunks.map { chunk in
        (chunk, known[ObjectIdentifier(chunk)] ?? Chunk(chunk.items.filter(filter)))
      }
      return ListItems(made.map(\.shown))
    }
    return order.map { sort(filtered ?? items, by: $0) } ?? filtered ?? items
  }

  /// Items that are equal in the order stay in that of the list.
  private func sort(
    _ items: ListItems<Item>, by order: (Item, Item) -> Bool
  ) -> ListItems<Item> {
    let all = items.chunks.flatMap(\.items).enumerated().sorted { left, right in
      if order(left.element, right.element) { return true }
      return !order(right.element, left.element) && left.offset < right.offset
    }
    return ListItems(
      stride(from: 0, to: all.count, by: Self.chunkLength).map { start in
        Chunk(all[start..<min(start + Self.chunkLength, all.count)].map(\.element))
      })
  }
}
