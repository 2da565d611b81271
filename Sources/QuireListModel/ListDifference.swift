/// How the items of one snapshot differ from those of an earlier one, by identity: what a table view or a
/// terminal has to redraw.
///
/// Apply it as table views do: take away what is `removed` and `moved`, by the numbers of before; put in what
/// is `inserted` and `moved`, in the order of their numbers now; and draw again what is `changed`.
public struct ListDifference<ID: Hashable & Sendable>: Hashable, Sendable {
  /// An item, and its number.
  public struct Row: Hashable, Sendable {
    /// Its number: before where it was removed, now otherwise.
    public var index: Int
    /// The item.
    public var id: ID
  }

  /// An item that is elsewhere now, seen from those that stayed.
  public struct Move: Hashable, Sendable {
    /// Its number before.
    public var from: Int
    /// Its number now.
    public var to: Int
    /// The item.
    public var id: ID
  }

  /// What is gone, in order.
  public internal(set) var removed: [Row] = []
  /// What is new, in order.
  public internal(set) var inserted: [Row] = []
  /// What is elsewhere, in the order of now; as few as possible.
  public internal(set) var moved: [Move] = []
  /// What is the same item with another value, in order; it may also have moved.
  public internal(set) var changed: [Row] = []

  /// Whether nothing differs.
  public var isEmpty: Bool {
    removed.isEmpty && inserted.isEmpty && moved.isEmpty && changed.isEmpty
  }

  /// The number that an item has now, which was `index` before; for one that was removed, that of the
  /// first one behind it that stayed. O(rows of the difference).
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
  /// An item of one side: its number, and how many chunks that both sides share lie in front of it.
  private struct Place<Item> {
    var item: Item
    var index: Int
    var segment: Int
  }

  /// What differs. Chunks that both sides share are not looked into: O(chunks) for these, and O(n log n)
  /// for the n items of the others.
  init<Item>(
    from old: ListItems<Item>, to new: ListItems<Item>, id: (Item) -> ID,
    isEqual: (Item, Item) -> Bool
  ) {
    var (start, oldEnd, newEnd) = (0, old.chunks.count, new.chunks.count)
    while start < oldEnd, start < newEnd, old.chunks[start] === new.chunks[start] { start += 1 }
    while start < oldEnd, start < newEnd, old.chunks[oldEnd - 1] === new.chunks[newEnd - 1] {
      oldEnd -= 1
      newEnd -= 1
    }
    let shared = Self.shared(old.chunks[start..<oldEnd], new.chunks[start..<newEnd])
    var before = Self.places(old, start..<oldEnd, shared)[...]
    var after = Self.places(new, start..<newEnd, shared)[...]
    // Most changes are small: what is the same at both ends needs no table.
    var same: [(Place<Item>, Place<Item>)] = []
    while let left = before.first, let right = after.first, left.segment == right.segment,
      id(left.item) == id(right.item)
    {
      same.append((before.removeFirst(), after.removeFirst()))
    }
    while let left = before.last, let right = after.last, left.segment == right.segment,
      id(left.item) == id(right.item)
    {
      same.append((before.removeLast(), after.removeLast()))
    }
    for (left, right) in same where !isEqual(left.item, right.item) {
      changed.append(Row(index: right.index, id: id(right.item)))
    }
    compare(before, after, id, isEqual)
    changed.sort { $0.index < $1.index }
  }

  /// The chunks that both sides have, in one order.
  private static func shared<Chunk: AnyObject>(
    _ old: ArraySlice<Chunk>, _ new: ArraySlice<Chunk>
  ) -> Set<ObjectIdentifier> {
    guard !old.isEmpty, !new.isEmpty else { return [] }
    let places = Dictionary(
      zip(old.map(ObjectIdentifier.init), old.indices), uniquingKeysWith: { first, _ in first })
    var shared: Set<ObjectIdentifier> = []
    var last = -1
    for chunk in new {
      guard let place = places[ObjectIdentifier(chunk)], place > last else { continue }
      last = place
      shared.insert(ObjectIdentifier(chunk))
    }
    return shared
  }

  /// The items of those chunks that are not shared.
  private static func places<Item>(
    _ items: ListItems<Item>, _ range: Range<Int>, _ shared: Set<ObjectIdentifier>
  ) -> [Place<Item>] {
    var places: [Place<Item>] = []
    var segment = 0
    for index in range {
      let chunk = items.chunks[index]
      if !shared.isEmpty, shared.contains(ObjectIdentifier(chunk)) {
        segment += 1
        continue
      }
      for (offset, item) in chunk.items.enumerated() {
        places.append(Place(item: item, index: items.starts[index] + offset, segment: segment))
      }
    }
    return places
  }

  private mutating func compare<Item>(
    _ before: ArraySlice<Place<Item>>, _ after: ArraySlice<Place<Item>>, _ id: (Item) -> ID,
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
    // Shared chunks part the items into segments, and within each of them the most that can stay stays.
    let fixed = Self.longestRise(stayed.map(\.old))
    for (place, isFixed) in zip(stayed, fixed) where !isFixed {
      moved.append(Move(from: place.old, to: place.new.index, id: place.id))
    }
    moved.sort { $0.to < $1.to }
  }

  /// Which of the numbers belong to a longest rising subsequence. O(n log n).
  private static func longestRise(_ numbers: [Int]) -> [Bool] {
    /// The last number of the best rise of each length, and what comes before each number in its rise.
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
