@testable import QuireCore
@testable import QuireLists
import Testing

@Suite struct LoopGuardTests {
  /// Walks `tail` positions once and then `cycle` positions for ever; returns the length reported,
  /// and after how many positions.
  private func find(tail: Int, cycle: Int, capacity: Int) -> (length: Int, steps: Int)? {
    var loops = LoopGuard(capacity: capacity)
    let patience = 4 * (tail + cycle) + capacity + 10
    for step in 0..<patience {
      let place = step < tail ? step : tail + (step - tail) % cycle
      if let length = loops.visit(Position(integerLiteral: place)) { return (length, step) }
    }
    return nil
  }

  @Test("C-5, G2: every cycle is found at once and measured exactly while positions are remembered")
  func findsCyclesExactly() {
    for cycle in 1...70 {
      for tail in 0...40 {
        let found = find(tail: tail, cycle: cycle, capacity: 1000)
        #expect(found?.length == cycle)
        #expect(found?.steps == tail + cycle)
      }
    }
    for cycle in [999, 2048, 5000, 10_000] {
      let found = find(tail: 777, cycle: cycle, capacity: 1 << 20)
      #expect(found?.length == cycle)
      #expect(found?.steps == 777 + cycle)
    }
  }

  @Test("C-5, G2: beyond its memory the guard still finds every cycle, a few rounds later")
  func findsCyclesInConstantMemory() {
    for cycle in 1...60 {
      for tail in stride(from: 0, through: 200, by: 7) {
        #expect(find(tail: tail, cycle: cycle, capacity: 16)?.length == cycle)
      }
    }
    for cycle in [1000, 4095, 4096, 4097, 9999] {
      for tail in [0, 31, 5000] {
        #expect(find(tail: tail, cycle: cycle, capacity: 32)?.length == cycle)
      }
    }
  }

  @Test("C-5: a walk that begins inside a page has visited that page in the same step")
  func beginsInsideAPage() {
    for visited in [["a"], ["a", "b"]] as [[Position]] {
      var loops = LoopGuard()
      let start = Position(.string("b"), itemOffset: 3)
      loops.begin(at: start, after: visited)
      for position in [start, "c"] { #expect(loops.visit(position) == nil) }
      #expect(loops.visit("a") == 3)
      #expect(loops.visit("b") == 2)
      #expect(loops.visit(start) == 2)
      #expect(loops.visit("c") == 1)
    }
  }

  @Test("C-5: a million different positions are no loop")
  func acceptsLongWalks() {
    var loops = LoopGuard(capacity: 100_000)
    for step in 0..<1_000_000 where loops.visit(Position(integerLiteral: step)) != nil {
      Issue.record("position \(step) was taken for a loop")
      return
    }
  }

  @Test("C-5: positions differ by kind and by the place inside the page")
  func tellsPositionsApart() {
    var loops = LoopGuard()
    let positions: [Position] = [
      .start, Position(.null), "1", 1, Position(.bool(true)), Position([1]),
      Position(1, itemOffset: 1),
      Position(.number("1.0")), "",
    ]
    for position in positions { #expect(loops.visit(position) == nil) }
    for (index, position) in positions.enumerated() {
      #expect(loops.visit(position) == positions.count - index)
    }
  }
}
