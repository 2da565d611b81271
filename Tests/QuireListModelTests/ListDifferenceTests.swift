import QuireTesting
import Testing

@testable import QuireListModel

/// What differs between two snapshots.
@Suite struct ListDifferenceTests {
  private typealias Items = ListItems<Row>

  private func items(_ chunks: [[Row]]) -> Items { Items(chunks.map(Items.Chunk.init)) }

  private func difference(_ old: Items, _ new: Items) -> ListDifference<Int> {
    ListDifference(from: old, to: new, id: \.id, isEqual: ==)
  }

  /// What a table view makes of its rows by a difference.
  static func apply(
    _ difference: ListDifference<Int>, to old: [Row], from new: [Row]
  ) -> [Row] {
    var rows = old
    let gone = difference.removed.map(\.index) + difference.moved.map(\.from)
    for index in gone.sorted(by: >) { rows.remove(at: index) }
    for index in (difference.inserted.map(\.index) + difference.moved.map(\.to)).sorted() {
      rows.insert(new[index], at: index)
    }
    for row in difference.changed { rows[row.index] = new[row.index] }
    return rows
  }

  @Test(
    "18-Difference: a row that is removed, inserted, moved or changed is named as that, by its number"
  )
  func kinds() {
    let old = items([[Row(id: 1), Row(id: 2), Row(id: 3)], [Row(id: 4), Row(id: 5)]])
    let new = items([[Row(id: 3), Row(id: 2, text: "!")], [Row(id: 9), Row(id: 4), Row(id: 1)]])
    let difference = difference(old, new)
    #expect(difference.removed.map(\.id) == [5] && difference.removed.map(\.index) == [4])
    #expect(difference.inserted.map(\.id) == [9] && difference.inserted.map(\.index) == [2])
    #expect(difference.changed.map(\.id) == [2] && difference.changed.map(\.index) == [1])
    // Two of four rows stay where they are, seen from one another.
    #expect(difference.moved.count == 2)
    #expect(Self.apply(difference, to: Array(old), from: Array(new)) == Array(new))
    #expect(self.difference(old, old).isEmpty)
  }

  @Test("18-Difference: one row that is moved far is one move, whatever lies between")
  func movesFew() {
    let rows = (0..<500).map { Row(id: $0) }
    var moved = rows
    moved.insert(moved.remove(at: 3), at: 400)
    let difference = difference(items([rows]), items([moved]))
    #expect(difference.moved == [.init(from: 3, to: 400, id: 3)])
    #expect(difference.removed.isEmpty && difference.inserted.isEmpty && difference.changed.isEmpty)
    #expect([2, 3, 4, 400, 401].map { difference.index(of: $0) } == [2, 400, 3, 399, 401])
  }

  @Test(
    "18-Difference: a row keeps its place beside those that stay, and gives it to the next when it goes"
  )
  func indices() {
    let old = items([(0..<10).map { Row(id: $0) }])
    let new = items([[90, 91, 0, 1, 4, 5, 92, 6, 7, 8, 9].map { Row(id: $0) }])
    let difference = difference(old, new)
    #expect((0..<10).map { difference.index(of: $0) } == [2, 3, 4, 4, 4, 5, 7, 8, 9, 10])
  }

  @Test("18-Difference: pages that both share are not looked into, and what is between them is")
  func chunks() {
    let shared = (0..<6).map { page in Items.Chunk((0..<10).map { Row(id: page * 10 + $0) }) }
    let old = Items(shared)
    var changed = shared[2].items
    changed[4].text = "!"
    // Page 0 goes, page 2 has another value, a page comes behind, a row moves from page 3 to page 5.
    let new = Items([
      shared[1], Items.Chunk(changed), Items.Chunk(Array(shared[3].items.dropFirst())), shared[4],
      Items.Chunk(shared[5].items + [shared[3].items[0]]), Items.Chunk([Row(id: 99)]),
    ])
    var looked = 0
    let difference = ListDifference(from: old, to: new, id: \.id) {
      looked += 1
      return $0 == $1
    }
    #expect(looked == 30)
    #expect(difference.removed.map(\.id) == Array(0..<10))
    #expect(difference.inserted == [.init(index: 50, id: 99)])
    #expect(difference.changed == [.init(index: 14, id: 24)])
    #expect(difference.moved == [.init(from: 30, to: 49, id: 30)])
    #expect(ListDifferenceTests.apply(difference, to: Array(old), from: Array(new)) == Array(new))
  }

  @Test(
    "18-Difference: applied to what was, any difference makes what is, and it moves the fewest rows"
  )
  func random() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var random = SeededGenerator(seed: seed)
    for round in 0..<2000 {
      var pool = (0..<12).map { Items.Chunk([Row(id: $0 * 2), Row(id: $0 * 2 + 1)]) }
      pool.shuffle(using: &random)
      let old = Items(Array(pool.prefix(Int.random(in: 0...8, using: &random))))
      var chunks = old.chunks
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0 where !chunks.isEmpty: chunks.remove(at: .random(in: chunks.indices, using: &random))
        case 1: chunks.append(pool[pool.count - 1 - chunks.count % 3])
        case 2 where !chunks.isEmpty:
          let index = Int.random(in: chunks.indices, using: &random)
          chunks[index] = Items.Chunk(
            chunks[index].items.map { Row(id: $0.id, text: "!") }.reversed())
        default: chunks.shuffle(using: &random)
        }
      }
      var seen: Set<Int> = []
      // Chunks that are as they were are the same ones.
      let new = Items(
        chunks.map { chunk in
          let rows = chunk.items.filter { seen.insert($0.id).inserted }
          return rows.count == chunk.items.count ? chunk : Items.Chunk(rows)
        })
      let difference = difference(old, new)
      let made = Self.apply(difference, to: Array(old), from: Array(new))
      #expect(made == Array(new), "seed \(seed), round \(round)")
      if made != Array(new) { return }
    }
  }

  @Test("18-Difference: items are found by their numbers across pages, empty ones among them")
  func collection() {
    let items = items([[], [Row(id: 0)], [], [Row(id: 1), Row(id: 2)], []])
    #expect(items.count == 3 && items.map(\.id) == [0, 1, 2])
    #expect((0..<3).map { items[$0].id } == [0, 1, 2] && items.last?.id == 2)
    #expect(Items().isEmpty && Items([Items.Chunk([])]).isEmpty)
  }
}
