/// The items of a list in order, as a collection that is cheap to copy and to compare.
///
/// Each page is a chunk, which snapshots share. Looking up an item by index costs O(log pages).
public struct ListItems<Item: Sendable>: RandomAccessCollection, Sendable {
  /// The items of a page. Immutable: changed items are a new chunk.
  final class Chunk: Sendable {
    let items: [Item]

    init(_ items: [Item]) { self.items = items }

    /// Returns the object of an index entry as a chunk. The index of a list of `Item` holds no
    /// other class.
    static func of(_ object: AnyObject) -> Chunk { unsafeDowncast(object, to: Chunk.self) }
  }

  private(set) var index = ListChunks()

  init(_ chunks: [Chunk] = []) {
    for (ordinal, chunk) in chunks.enumerated() { put(chunk, at: ordinal) }
  }

  var chunks: [Chunk] { index.ordinals.map { self.chunk($0) } }

  func chunk(_ ordinal: Int) -> Chunk { .of(index[ordinal].object) }

  /// Replaces the chunk with this ordinal, or adds one at an end.
  mutating func put(_ chunk: Chunk, at ordinal: Int) {
    index.put(ListChunks.Chunk(object: chunk, count: chunk.items.count), at: ordinal)
  }

  mutating func removeFirstChunk() { index.removeFirst() }
  mutating func removeLastChunk() { index.removeLast() }

  /// The index of the first item, always 0.
  public var startIndex: Int { 0 }
  /// The number of items.
  public var endIndex: Int { index.count }

  /// The item at `position`. Traps if there is none.
  public subscript(position: Int) -> Item {
    precondition(
      position >= 0 && position < endIndex, "A list of \(count) items has no item \(position).")
    let (ordinal, offset) = index.find(position)
    return chunk(ordinal).items[offset]
  }
}

/// The result of a function for each chunk of a list, so that only new chunks have to be computed.
struct ChunkCache<Item: Sendable, Result: Sendable>: Sendable {
  typealias Chunk = ListItems<Item>.Chunk

  private var made: [(chunk: Chunk, result: Result)] = []

  /// Returns the result of each chunk, in order. Calls `make` for chunks that are new.
  mutating func results(of chunks: [Chunk], _ make: (Chunk) -> Result) -> [Result] {
    let known = Dictionary(
      made.map { (ObjectIdentifier($0.chunk), $0.result) }, uniquingKeysWith: { first, _ in first })
    made = chunks.map { ($0, known[ObjectIdentifier($0)] ?? make($0)) }
    return made.map(\.result)
  }
}
