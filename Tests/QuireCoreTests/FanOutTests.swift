import QuireCore
import QuireTesting
import TestSupport
import Testing

@Suite("Listings of listings", .timeLimit(.minutes(15)))
struct FanOutTests {
  /// Parents 0, 1, 2, …; parent n has n pages of two items, 100 n and so on.
  private static func children(of parent: Int) -> Cursor<Int> {
    let pages = (0..<parent).map { page in [100 * parent + 2 * page, 100 * parent + 2 * page + 1] }
    return Cursor(ScriptedSource(items: pages.isEmpty ? [[]] : pages))
  }

  private func all(_ parents: Int) -> [Int] {
    (0..<parents).flatMap { parent in (0..<2 * parent).map { 100 * parent + $0 } }
  }

  @Test("16-Levels: the items of all children come in order, whatever the concurrency")
  func keepsOrder() async throws {
    for concurrency in [1, 2, 7] {
      let parents = Cursor(ScriptedSource(sizes: 2, 0, 3))
      let cursor = parents.flatMap(concurrency: concurrency) { Self.children(of: $0) }
      #expect(try await cursor.collect() == all(5))
    }
  }

  @Test("16-Levels: one position covers all levels: a walk goes on at every item")
  func resumes() async throws {
    for concurrency in [1, 3] {
      let cursor = Cursor(ScriptedSource(sizes: 2, 3)).flatMap(concurrency: concurrency) {
        Self.children(of: $0)
      }
      var seen: [Int] = []
      for try await page in cursor {
        for count in 0...page.items.count {
          let items = seen + page.items[..<count]
          guard let position = page.position(afterItems: count) else {
            #expect(items == all(5))
            continue
          }
          let rest = try await cursor.resuming(from: position).collect()
          #expect(items + rest == all(5), "\(position)")
        }
        seen += page.items
      }
    }
  }

  @Test(
    "16-Levels: children that are read at once come all, once, and one position covers all of them")
  func readsAtOnce() async throws {
    for concurrency in [1, 3, 10] {
      let cursor = Cursor(ScriptedSource(sizes: 2, 0, 3)).flatMap(
        concurrency: concurrency, ordered: false
      ) { Self.children(of: $0) }
      var seen: [Int] = []
      for try await page in cursor {
        for count in 0...page.items.count {
          let items = seen + page.items[..<count]
          guard let position = page.position(afterItems: count) else {
            #expect(items.sorted() == all(5))
            continue
          }
          let rest = try await cursor.resuming(from: position).collect()
          #expect((items + rest).sorted() == all(5), "\(concurrency), \(position)")
        }
        seen += page.items
      }
      #expect(seen.sorted() == all(5))
    }
  }

  @Test("16-Levels: a child that is slow keeps no other waiting where the order is not kept")
  func goesOnBesideSlowChild() async throws {
    let gate = Gate()
    let cursor = Cursor(ScriptedSource(sizes: 3)).flatMap(concurrency: 2, ordered: false) {
      parent in
      Cursor<Int> { position in
        if parent == 0 { try await gate.wait() }
        let page = position?.value?.integer ?? 0
        return Page([10 * parent + page], next: page < 2 ? Position(.number("\(page + 1)")) : nil)
      }
    }
    var pages = cursor.makeAsyncIterator()
    var seen: [Int] = []
    while seen.count < 6, let page = try await pages.next() { seen += page.items }
    #expect(seen == [10, 11, 12, 20, 21, 22])
    gate.openUp()
    while let page = try await pages.next() { seen += page.items }
    #expect(seen.suffix(3) == [0, 1, 2])
  }

  @Test("16-Levels: a child that fails among others is asked for again, and nothing is lost")
  func retriesAtOnce() async throws {
    let failing = ScriptedSource(sizes: 2, 2)
    failing.fail(2)
    let cursor = Cursor(ScriptedSource(sizes: 3)).flatMap(concurrency: 3, ordered: false) {
      parent in
      Cursor(parent == 1 ? failing : ScriptedSource(sizes: 1))
    }
    var pages = cursor.makeAsyncIterator()
    var (seen, failures) = ([Int](), 0)
    while true {
      do {
        guard let page = try await pages.next() else { break }
        seen += page.items
      } catch {
        failures += 1
      }
    }
    #expect(failures == 1 && seen.sorted() == [0, 0, 0, 1, 2, 3])
  }

  @Test("16-Levels: three levels are one listing, with one position")
  func nests() async throws {
    let cursor = Cursor(ScriptedSource(sizes: 1, 2)).flatMap { parent in
      Cursor(ScriptedSource(items: [[10 * parent, 10 * parent + 1], [10 * parent + 2]]))
        .flatMap { child in Cursor(ScriptedSource(items: [[100 * child], [100 * child + 1]])) }
    }
    let whole = try await cursor.collect()
    #expect(whole.count == 18)
    var seen: [Int] = []
    for try await page in cursor {
      seen += page.items
      guard let next = page.next else { continue }
      #expect(try await seen + cursor.resuming(from: next).collect() == whole)
    }
    #expect(seen == whole)
  }

  @Test("16-Levels: a child that fails is asked for again, after all that came before it")
  func retries() async throws {
    let failing = ScriptedSource(sizes: 2, 2)
    failing.fail(2)
    let cursor = Cursor(ScriptedSource(sizes: 3)).flatMap(concurrency: 2) { parent in
      Cursor(parent == 1 ? failing : ScriptedSource(sizes: 1))
    }
    var pages = cursor.makeAsyncIterator()
    #expect(try await pages.next()?.items == [0])
    #expect(try await pages.next()?.items == [0, 1])
    await #expect(throws: PageError.self) { try await pages.next() }
    #expect(try await pages.next()?.items == [2, 3])
    #expect(try await pages.next()?.items == [0])
    #expect(try await pages.next()?.items == nil)
  }

  /// One page that declares a total, and, where that is asked for, doubts that it is the last.
  private struct Declaring: PageSource {
    let items: [Int]
    var total: Int?
    var doubt: PageError?
    var requests = 1

    func page(at position: Position?) -> Page<Int>? {
      var page = Page(items)
      page.total = total.map { Total($0) }
      page.head.endDoubt = doubt
      page.traffic = WalkReport.Traffic(requests: requests)
      return page
    }
  }

  @Test(
    "16-Levels: a listing with fewer items than it declared is named, whatever the others declare",
    arguments: [true, false])
  func namesTruncation(ordered: Bool) async throws {
    func report(_ totals: [Int?], ofParents total: Int? = nil) async throws -> WalkReport {
      let parents = Cursor(Declaring(items: Array(totals.indices), total: total))
      let walk = parents.flatMap(concurrency: 2, ordered: ordered) { parent in
        Cursor(Declaring(items: [10 * parent, 10 * parent + 1], total: totals[parent]))
      }.walk()
      var items: [Int] = []
      while let page = try await walk.next() {
        items += page.items
        #expect(page.total == nil)
      }
      #expect(items.sorted() == totals.indices.flatMap { [10 * $0, 10 * $0 + 1] })
      return walk.report
    }
    let whole = try await report([2, nil, 2], ofParents: 3)
    #expect(whole.isComplete && whole.warnings.isEmpty, "\(whole.warnings)")
    for totals in [[9, 2, 2], [2, 9, nil], [2, 2, 9]] {
      let cut = try await report(totals)
      #expect(cut.warnings.map(\.code) == [.truncatedSource], "\(cut.warnings)")
      let number = (totals.firstIndex(of: 9) ?? 0) + 1
      #expect(cut.warnings.first?.message.contains("Listing \(number) of flatMap") == true)
    }
    let parents = try await report([2, 2], ofParents: 3)
    #expect(parents.warnings.map(\.message.description).count == 1)
    #expect(parents.warnings.first?.message.contains("The parents' listing") == true)
  }

  @Test(
    "16-Levels: a doubt about the end of a parents' or a child's listing is raised, and not lost",
    arguments: [true, false])
  func raisesDoubts(ordered: Bool) async throws {
    let doubt = PageError(.sourceFailed, "There is more.")
    for isParents in [true, false] {
      let parents = Cursor(
        Declaring(items: [0, 1], total: isParents ? 5 : nil, doubt: isParents ? doubt : nil))
      let walk = parents.flatMap(ordered: ordered) { parent in
        Cursor(
          Declaring(
            items: [10 * parent], total: isParents ? nil : 5, doubt: isParents ? nil : doubt))
      }.walk()
      var items: [Int] = []
      let error = await #expect(throws: PageError.self) {
        while let page = try await walk.next() { items += page.items }
      }
      #expect(error?.code == .sourceFailed && items == (isParents ? [0, 10] : [0]))
    }
  }

  @Test("16-Levels: what pages of parents cost is in the report", arguments: [true, false])
  func countsParents(ordered: Bool) async throws {
    let walk = Cursor(Declaring(items: [0, 1], requests: 5)).flatMap(ordered: ordered) { _ in
      Cursor(Declaring(items: [1]))
    }.walk()
    while try await walk.next() != nil {}
    #expect(walk.report.traffic.requests == 7 && walk.report.items == 2)
    let failing = Cursor(Declaring(items: [0], requests: 5)).flatMap(ordered: ordered) {
      _ throws -> Cursor<Int> in
      throw ScriptedFailure()
    }.walk()
    let error = await pageError { _ = try await failing.next() }
    #expect(error?.code == .transformFailed && error?.traffic.requests == 5)
    #expect(failing.report.traffic.requests == 5)
  }
}
