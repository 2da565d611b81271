/// The items that a list shows, in order: a collection that is cheap to copy and to compare.
///
/// Items lie in chunks, one for each page, which snapshots share; finding an item by its number costs
/// O(log pages).
public struct ListItems<Item: Sendable>: RandomAccessCollection, Sendable {
  /// The items of a page; what changes them makes another chunk.
  final class Chunk: Sendable {
    let items: [Item]

    init(_ items: [Item]) { self.items = items }

    /// A chunk of a list of such items; nothing else is put into its index.
    static func of(_ object: AnyObject) -> Chunk { unsafeDowncast(object, to: Chunk.self) }
  }

  private(set) var index = ListChunks()

  init(_ chunks: [Chunk] = []) {
    for (ordinal, chunk) in chunks.enumerated() { put(chunk, at: ordinal) }
  }

  var chunks: [Chunk] { index.ordinals.map { self.chunk($0) } }

  func chunk(_ ordinal: Int) -> Chunk { .of(index[ordinal].object) }

  /// Puts a chunk in place of the one with this ordinal, or beside those at an end.
  mutating func put(_ chunk: Chunk, at ordinal: Int) {
    index.put(ListChunks.Chunk(object: chunk, count: chunk.items.count), at: ordinal)
  }

  mutating func removeFirstChunk() { index.removeFirst() }
  mutating func removeLastChunk() { index.removeLast() }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many items there are.
  public var endIndex: Int { index.count }

  /// The item with this number.
  public subscript(position: Int) -> Item {
    precondition(
      position >= 0 && position < endIndex, "A list of \(count) items has no item \(position).")
    let (ordinal, offset) = index.find(position)
    return chunk(ordinal).items[offset]
  }

  /// Calls `body` with each item; faster than looking each of them up.
  func forEachItem(_ body: (Item) -> Void) {
    for chunk in chunks { chunk.items.forEach(body) }
  }
}
