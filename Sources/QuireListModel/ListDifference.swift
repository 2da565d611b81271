/// The difference between the items of two snapshots, by identity: the rows that a table view or a
/// terminal has to redraw.
///
/// Apply it as table views do: delete the rows in `removed` and the origins of `moved`, by their
/// old indexes; insert `inserted` and the destinations of `moved`, in the order of their new
/// indexes; then redraw `changed`.
public struct ListDifference<ID: Hashable & Sendable>: Hashable, Sendable {
  /// An item and its index.
  public struct Row: Hashable, Sendable {
    /// The old index for a removed item, otherwise the new one.
    public var index: Int
    /// The item's identity.
    public var id: ID
  }

  /// An item whose place among the remaining items has changed.
  public struct Move: Hashable, Sendable {
    /// The old index.
    public var from: Int
    /// The new index.
    public var to: Int
    /// The item's identity.
    public var id: ID
  }

  /// The removed items, by old index.
  public internal(set) var removed: [Row] = []
  /// The inserted items, by new index.
  public internal(set) var inserted: [Row] = []
  /// The moved items, by new index. Items of unchanged pages never move; of the others, as few as
  /// possible.
  public internal(set) var moved: [Move] = []
  /// The items that have the same identity and another value, by new index; they may also have
  /// moved.
  public internal(set) var changed: [Row] = []

  /// Whether nothing differs.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty
  }

  /// Returns the new index of the item whose old index was `index`; for a removed item, the new
  /// index of the next item that stayed. O(rows of the difference).
  public func index(of index: Int) -> Int {
    if let move = moved.first(where: { $0.from == index }) { return move.to }
    var now = index
    for row in removed where row.index < index { now -= 1 }
    for move in moved where move.from < index { now -= 1 }
    for place in (inserted.map(\.index) + moved.map(\.to)).sorted() where place <= now { now += 1 }
    return now
  }
}

extension ListDifference {
  /// An item of one side: its index, and how many shared chunks precede it.
  private struct Place<Item> {
    var item: Item
    var index: Int
    var segment: Int
  }

  /// Consecutive items of one side that remain to be compared.
  private struct Part<Item> {
    let items: [Item]
    let start: Int
    let segment: Int
    var rest: Range<Int>

    init(_ part: ListChunks.Part) where Item: Sendable {
      items = ListItems<Item>.Chunk.of(part.object).items
      (start, segment, rest) = (part.start, part.segment, items.indices)
    }

    var places: [Place<Item>] {
      rest.map { Place(item: items[$0], index: start + $0, segment: segment) }
    }
  }

  /// Compares two lists. Shared chunks are skipped, at O(log n) to O(chunks); the n items of the
  /// other chunks cost O(n log n).
  init<Item: Sendable>(
    from old: ListItems<Item>, to new: ListItems<Item>, id: (Item) -> ID,
    isEqual: (Item, Item) -> Bool
  ) {
    let (left, right) = ListChunks.differing(old.index, new.index)
    var (before, after) = (left.map(Part<Item>.init), right.map(Part<Item>.init))
    // Most changes are small, and equal items at both ends need no table.
    skip(&before, &after, id, isEqual)
    skipBack(&before, &after, id, isEqual)
    let places = (before.flatMap(\.places), after.flatMap(\.places))
    if !places.0.isEmpty || !places.1.isEmpty { compare(places.0, places.1, id, isEqual) }
    changed.sort { $0.index < $1.index }
  }

  /// Skips equal items at the start of both sides.
  private mutating func skip<Item>(
    _ before: inout [Part<Item>], _ after: inout [Part<Item>], _ id: (Item) -> ID,
    _ isEqual: (Item, Item) -> Bool
  ) {
    var (left, right) = (0, 0)
    while left < before.count, right < after.count, before[left].segment == after[right].segment {
      var (i, j) = (before[left].rest.lowerBound, after[right].rest.lowerBound)
      let (old, new) = (before[left].items, after[right].items)
      while i < old.count, j < new.count {
        let name = id(new[j])
        guard name == id(old[i]) else { break }
        if !isEqual(old[i], new[j]) {
          changed.append(Row(index: after[right].start + j, id: name))
        }
        (i, j) = (i + 1, j + 1)
      }
      before[left].rest = i..<old.count
      after[right].rest = j..<new.count
      if i < old.count, j < new.count { break }
      if i == old.count { left += 1 }
      if j == new.count { right += 1 }
    }
    before.removeFirst(left)
    after.removeFirst(right)
  }

  /// Skips equal items at the end of both sides.
  private mutating func skipBack<Item>(
    _ before: inout [Part<Item>], _ after: inout [Part<Item>], _ id: (Item) -> ID,
    _ isEqual: (Item, Item) -> Bool
  ) {
    while let old = before.last, let new = after.last, old.segment == new.segment {
      var (i, j) = (old.rest.upperBound, new.rest.upperBound)
      while i > old.rest.lowerBound, j > new.rest.lowerBound {
        let name = id(new.items[j - 1])
        guard name == id(old.items[i - 1]) else { break }
        (i, j) = (i - 1, j - 1)
        if !isEqual(old.items[i], new.items[j]) {
          changed.append(Row(index: new.start + j, id: name))
        }
      }
      before[before.count - 1].rest = old.rest.lowerBound..<i
      after[after.count - 1].rest = new.rest.lowerBound..<j
      if i > old.rest.lowerBound, j > new.rest.lowerBound { return }
      if i == old.rest.lowerBound { before.removeLast() }
      if j == new.rest.lowerBound { after.removeLast() }
    }
  }

  private mutating func compare<Item>(
    _ before: [Place<Item>], _ after: [Place<Item>], _ id: (Item) -> ID,
    _ isEqual: (Item, Item) -> Bool
  ) {
    var left = Dictionary(before.map { (id($0.item), $0) }, uniquingKeysWith: { first, _ in first })
    var stayed: [(old: Int, new: Place<Item>, id: ID)] = []
    for place in after {
      let id = id(place.item)
      guard let old = left.removeValue(forKey: id) else {
        inserted.append(Row(index: place.index, id: id))
        continue
      }
      if !isEqual(old.item, place.item) { changed.append(Row(index: place.index, id: id)) }
      if old.segment == place.segment {
        stayed.append((old.index, place, id))
      } else {
        moved.append(Move(from: old.index, to: place.index, id: id))
      }
    }
    removed = left.map { Row(index: $1.index, id: $0) }.sorted { $0.index < $1.index }
    // Shared chunks divide the items into segments. Within each segment as many items as possible
    // stay.
    let fixed = Self.longestRise(stayed.map(\.old))
    for (place, isFixed) in zip(stayed, fixed) where !isFixed {
      moved.append(Move(from: place.old, to: place.new.index, id: place.id))
    }
    moved.sort { $0.to < $1.to }
  }

  /// Returns which numbers belong to a longest increasing subsequence. O(n log n).
  private static func longestRise(_ numbers: [Int]) -> [Bool] {
    /// For each length, the index of the smallest number that ends a rise of that length; and the
    /// predecessor of each number in its rise.
    var ends: [Int] = []
    var previous = [Int](repeating: -1, count: numbers.count)
    for (index, number) in numbers.enumerated() {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
      }
      if low > 0 { previous[index] = ends[low - 1] }
      if low == ends.count { ends.append(index) } else { ends[low] = index }
    }
    var rises = [Bool](repeating: false, count: numbers.count)
    var last = ends.last ?? -1
    while last >= 0 {
      rises[last] = true
      last = previous[last]
    }
    return rises
  }
}
