import FoundationEssentials
@testable import QuireCore
@testable import QuireLists
import Synchronization
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

  /// Walks from the stored end of the last walk, `pages` pages at a time, until an error; returns
  /// it, and how many pages came before it.
  private func goOn(
    _ cursor: Cursor<Int>, pages: Int, most: Int
  ) async throws -> (error: PageError?, pages: Int) {
    var (position, count) = (Position.start, 0)
    while count < most {
      let walk = cursor.resuming(from: position).limited(to: Limits(pages: pages)).walk()
      do {
        for try await _ in walk { count += 1 }
      } catch let error as PageError {
        return (error, count)
      }
      guard let checkpoint = walk.report.checkpoint else { break }
      let stored = try JSONEncoder().encode(checkpoint)
      #expect(stored.count < 250)
      position = try JSONDecoder().decode(Position.self, from: stored)
    }
    return (nil, count)
  }

  @Test("C-5: walks that each go on from the stored end of the one before find every cycle")
  func findsCyclesAcrossWalks() async throws {
    for (tail, cycle, pages) in [(0, 1, 1), (3, 1, 1), (0, 5, 2), (2, 7, 3), (9, 12, 1)] {
      let cursor = Cursor<Int> { position in
        let place = position?.value?.integer ?? 0
        let next = place + 1 < tail + cycle ? place + 1 : tail
        return Page([place], next: Position(integerLiteral: next))
      }
      let (error, count) = try await goOn(cursor, pages: pages, most: 8 * (tail + cycle + 1))
      #expect(error?.code == .loopDetected, "\(tail), \(cycle), \(pages)")
      #expect(count <= 4 * (tail + cycle + 1), "\(tail), \(cycle), \(pages)")
    }
    let endless = Cursor<Int> { position in
      let place = position?.value?.integer ?? 0
      return Page([place], next: Position(integerLiteral: place + 1))
    }
    #expect(try await goOn(endless, pages: 3, most: 600).error == nil)
  }

  @Test("C-5: walks that go on from stored positions find items that come again and again")
  func findsRepeatedContentsAcrossWalks() async throws {
    for (contents, pages, most) in [(1, 1, 2), (2, 1, 8), (5, 2, 30)] {
      let cursor = Cursor<Int> { position in
        let place = position?.value?.integer ?? 0
        var page = Page([place % contents], next: Position(integerLiteral: place + 1))
        page.head.fingerprint = place % contents
        return page
      }
      let (error, count) = try await goOn(cursor, pages: pages, most: 100)
      #expect(error?.code == .stalledContent, "\(contents)")
      #expect(count <= most, "\(contents)")
    }
    // The listing moved by a page between two walks: the same items came twice, and then others.
    let moved = Cursor<Int> { position in
      let place = position?.value?.integer ?? 0
      var page = Page([place], next: Position(integerLiteral: place + 1))
      page.head.fingerprint = place < 4 ? place : place - 1
      return page
    }
    #expect(try await goOn(moved, pages: 2, most: 40).error == nil)
  }

  @Test("C-5: a walk that goes on refuses the page again that the walk before has refused")
  func refusesAgain() async throws {
    let last = Mutex(4)
    let cursor = Cursor<Int> { position in
      let place = position?.value?.integer ?? 0
      let item = min(place, last.withLock { $0 })
      var page = Page([item], next: Position(integerLiteral: place + 1))
      page.head.fingerprint = item
      return page
    }
    var (position, items) = (Position.start, [Int]())
    for call in 0..<4 {
      // From the third call on, the listing has grown.
      if call == 2 { last.withLock { $0 = 7 } }
      let walk = cursor.resuming(from: position).walk()
      do {
        for try await page in walk { items += page.items }
      } catch let error as PageError {
        #expect(error.code == .stalledContent)
        #expect(error.checkpoint?.trail?.text == walk.report.checkpoint?.trail?.text)
      }
      let stored = try JSONEncoder().encode(try #require(walk.report.checkpoint))
      #expect(stored.count < 250)
      position = try JSONDecoder().decode(Position.self, from: stored)
      #expect(items == Array(0...(call < 2 ? 4 : 7)), "call \(call)")
    }
    let compared = cursor.resuming(from: position).limited(to: Limits(comparedPages: 0)).walk()
    #expect(try await compared.next()?.items == [7])
  }

  private struct Identified: ItemIdentifying {
    let itemsIdentity: UInt64?
  }

  @Test("C-5: a walk that goes on refuses the page that a walk inside its source has refused")
  func refusesInnerPageAgain() async throws {
    let isRefused = Mutex(false)
    let cursor = Cursor<Int> { position in
      guard position?.value?.integer == 1 else { return Page([0], next: 1) }
      let isFirst = isRefused.withLock { isRefused in
        defer { isRefused = true }
        return !isRefused
      }
      if isFirst {
        var inner = Position("inner")
        inner.trail = Trail().refusing(Trail.Refusal(identity: 9))
        var error = PageError(.stalledContent, "The same items came.")
        error.checkpoint = inner
        throw error
      }
      var page = Page([0])
      page.metadata[Identified.self] = Identified(itemsIdentity: 9)
      return page
    }
    var position = Position.start
    for _ in 0..<3 {
      let walk = cursor.resuming(from: position).walk()
      do {
        for try await page in walk { #expect(page.next == 1) }
        Issue.record("The page was not refused.")
      } catch let error as PageError {
        #expect(error.code == .stalledContent)
      }
      position = try #require(walk.report.checkpoint)
      #expect(position == 1)
    }
  }

  @Test("C-5: a walk that goes on from where a circle was found does not go round once more")
  func refusesCircleAgain() async throws {
    for (back, length) in [(0, 6), (3, 3), (5, 1)] {
      let cursor = Cursor<Int> { position in
        let place = position?.value?.integer ?? 0
        return Page([place], next: Position(integerLiteral: place < 5 ? place + 1 : back))
      }
      var (position, items) = (Position.start, [Int]())
      for call in 0..<3 {
        let walk = cursor.resuming(from: position).walk()
        do {
          for try await page in walk { items += page.items }
        } catch let error as PageError {
          #expect(error.code == .loopDetected)
          let words = length == 1 ? "had just sent" : "a circle of"
          #expect(call == 0 || error.message.contains(words), "\(error)")
        }
        let stored = try JSONEncoder().encode(try #require(walk.report.checkpoint))
        position = try JSONDecoder().decode(Position.self, from: stored)
        // The first page has a position of its own at the start of the listing.
        #expect(items == Array(0...5) + (back == 0 ? [0] : []), "back to \(back)")
      }
    }
  }

  @Test("C-5: a stored trail is read again as it was, and one of a later version is no trail")
  func storesTrails() throws {
    var trail = Trail()
    for place in 0..<20 {
      trail = trail.passing(place: { UInt64(place) }, content: place % 3, within: 64)
      let read = Trail(trail.text)
      #expect(read?.place == trail.place && read?.content == trail.content)
      #expect(read?.refused == Trail.Refusal() && read?.declared == Trail.Declared())
      let refusing = Trail(trail.refusing(Trail.Refusal(of: place - 9, identity: 7)).text)
      #expect(refusing?.refuses(place - 9) { nil } == true)
      #expect(refusing?.refuses(nil) { 7 } == true && refusing?.refuses(1000) { 8 } == false)
      #expect(!trail.refuses(nil) { nil })
    }
    for text in ["", "2 1.0.1.0 -", "1 1.0.1.0", "1 - - -", "1 - - x1"] {
      #expect(Trail(text) == nil)
    }
    var declared = Trail.Declared()
    for total in [Total(9), Total(7), Total(3, .pages), Total(2, .pages), Total(8, .estimate)] {
      declared.note(total)
    }
    #expect(declared.items == 9 && declared.pages == 3)
    let told = trail.passing(place: { 1 }, content: 1, within: 64, declared: declared)
    #expect(Trail(told.text)?.declared == declared)
    #expect(Trail(told.refusing(Trail.Refusal(of: 1)).text)?.declared == declared)
    var position = Position("p")
    position.trail = trail
    #expect(position == "p")
    let stored = try JSONEncoder().encode(position)
    let read = try JSONDecoder().decode(Position.self, from: stored)
    #expect(read.trail?.text == trail.text)
    let damaged = String(decoding: stored, as: UTF8.self)
      .replacing("\"trail\":\"1 ", with: "\"trail\":\"1 1")
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Position.self, from: Data(damaged.utf8))
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
