/// The items that a list shows, in order: a collection that is cheap to copy and to compare.
///
/// Items lie in chunks, one for each page, which snapshots share; finding an item by its number costs
/// O(log pages).
public struct ListItems<Item: Sendable>: RandomAccessCollection, Sendable {
  /// The items of a page; what changes them makes another chunk.
  final class Chunk: Sendable {
    let items: [Item]

    init(_ items: [Item]) { self.items = items }
  }

  let chunks: [Chunk]
  /// Where each chunk starts, and where the last one ends.
  let starts: [Int]

  init(_ chunks: [Chunk] = []) {
    self.chunks = chunks
    var starts: [Int] = []
    starts.reserveCapacity(chunks.count + 1)
    var start = 0
    for chunk in chunks {
      starts.append(start)
      start += chunk.items.count
    }
    starts.append(start)
    self.starts = starts
  }

  /// The same chunks but for one of them, which is as long as the one before.
  init(_ items: ListItems, replacing index: Int, by chunk: Chunk) {
    var chunks = items.chunks
    chunks[index] = chunk
    self.chunks = chunks
    starts = items.starts
  }

  /// 0.
  public var startIndex: Int { 0 }
  /// How many items there are.
  public var endIndex: Int { starts[starts.count - 1] }

  /// The item with this number.
  public subscript(position: Int) -> Item {
    let (chunk, offset) = place(of: position)
    return chunks[chunk].items[offset]
  }

  /// The chunk that has an item, and its number there.
  func place(of position: Int) -> (chunk: Int, offset: Int) {
    precondition(indices.contains(position), "A list of \(count) items has no item \(position).")
    var (low, high) = (0, chunks.count - 1)
    while low < high {
      let middle = (low + high + 1) / 2
      if starts[middle] <= position { low = middle } else { high = middle - 1 }
    }
    return (low, position - starts[low])
  }

  /// Calls `body` with each item; faster than looking each of them up.
  func forEachItem(_ body: (Item) -> Void) {
    for chunk in chunks { chunk.items.forEach(body) }
  }
}
