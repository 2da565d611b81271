import QuireTesting
import Testing

@testable import QuireListModel

/// Where chunks lie, and what two lists of them share.
@Suite struct ListChunksTests {
  private final class Object: Sendable {}

  private func chunk(_ count: Int) -> ListChunks.Chunk {
    ListChunks.Chunk(object: Object(), count: count)
  }

  @Test(
    "18-Edit: in a list of a thousand pages an edit makes one group of 32 pages anew, and no other")
  func sharing() {
    var chunks = ListChunks()
    for ordinal in 0..<1000 { chunks.put(chunk(100), at: ordinal) }
    let before = chunks
    chunks.put(chunk(101), at: 500)
    #expect(zip(before.groups, chunks.groups).count { $0 !== $1 } == 1)
    let difference = ListChunks.differing(before, chunks)
    #expect(difference.old.map(\.start) == [50_000] && difference.new.map(\.start) == [50_000])
    #expect(chunks.count == 100_001 && chunks.start(of: 501) == 50_101)
    // What comes or goes at an end leaves all other groups as they are, too.
    chunks.put(chunk(1), at: -1)
    chunks.removeLast()
    #expect(ListChunks.differing(before, chunks).old.count == 2)
    #expect(chunks.groups.count { group in before.groups.contains { $0 === group } } == 30)
  }

  @Test("18-Edit: after any changes, every item is found where a plain count of the chunks has it")
  func random() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    var (chunks, first) = (ListChunks(), Int.random(in: -100...100, using: &random))
    var counts: [Int] = []
    for step in 0..<3000 {
      let count = Int.random(in: 0...3, using: &random)
      switch counts.isEmpty ? 0 : Int.random(in: 0..<8, using: &random) {
      case 0, 1:
        chunks.put(chunk(count), at: first + counts.count)
        counts.append(count)
      case 2, 3:
        // The first one has its place wherever it is put.
        first -= counts.isEmpty ? 0 : 1
        chunks.put(chunk(count), at: first)
        counts.insert(count, at: 0)
      case 4 where step % 2 == 0:
        chunks.removeFirst()
        counts.removeFirst()
        first += 1
      case 5 where step % 2 == 0:
        chunks.removeLast()
        counts.removeLast()
      default:
        let index = Int.random(in: counts.indices, using: &random)
        chunks.put(chunk(count), at: first + index)
        counts[index] = count
      }
      let spans = counts.enumerated().flatMap { index, count in (0..<count).map { (index, $0) } }
      #expect(chunks.count == spans.count, "seed \(seed), step \(step)")
      guard let item = spans.indices.randomElement(using: &random) else { continue }
      let found = chunks.find(item)
      #expect(
        found.ordinal - first == spans[item].0 && found.offset == spans[item].1
          && chunks.start(of: found.ordinal) + found.offset == item, "seed \(seed), step \(step)")
      if found.ordinal - first != spans[item].0 { return }
    }
  }
}
