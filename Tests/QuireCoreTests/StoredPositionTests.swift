import Foundation
import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite("Stored positions", .timeLimit(.minutes(15)))
struct StoredPositionTests {
  private static let positions: [Position] = [
    "p", 17, Position("p", itemOffset: 40), Position(nil, itemOffset: 3), Position(.null),
    Position(["token": "abc", "carry": ["pit": 12]], itemOffset: 1),
  ]

  @Test("12-L6 K6: a stored position with one changed byte is refused or still the same position")
  func changedBytes() throws {
    for position in Self.positions {
      let bytes = Array(try JSONEncoder().encode(position))
      for index in bytes.indices {
        for change: UInt8 in [1, 2, 4, 8, 16, 32, 64, 128] {
          var damaged = bytes
          damaged[index] ^= change
          guard let read = try? JSONDecoder().decode(Position.self, from: Data(damaged)) else {
            continue
          }
          #expect(read == position, "\(String(decoding: damaged, as: UTF8.self))")
        }
      }
    }
  }

  @Test("12-L6 K6: a stored position without one of its members is refused")
  func missingMembers() throws {
    for position in Self.positions {
      let data = try JSONEncoder().encode(position)
      let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
      for name in object.keys where name != "seal" {
        var damaged = object
        damaged[name] = nil
        let data = try JSONSerialization.data(withJSONObject: damaged)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Position.self, from: data) }
      }
      let seal = try #require(object["seal"] as? [String: Any])
      for name in seal.keys {
        var damaged = object
        var less = seal
        less[name] = nil
        damaged["seal"] = less
        let data = try JSONSerialization.data(withJSONObject: damaged)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(Position.self, from: data) }
      }
    }
  }

  @Test("12-L6 K6: a listing that counts refuses a position that is no number")
  func noNumber() async throws {
    let listings: [Cursor<Int>] = [
      Cursor.numbered { NumberedPage([$0], isLast: $0 == 3) }, Cursor(pages: [[1], [2], [3]]),
      Cursor.numbered { NumberedPage([$0], isLast: $0 == 3) }.parallel(4),
      Cursor.counted { offset in (items: [offset + 1], total: 3) },
    ]
    for listing in listings {
      #expect(try await listing.collect() == [1, 2, 3])
      for position: Position in ["p", Position(["merged": []]), Position(.null, itemOffset: 1)] {
        let error = await pageError { _ = try await listing.resuming(from: position).collect() }
        #expect(error?.code == .positionMismatch, "\(position)")
        // Nor is anything asked for behind it.
        #expect(listing.position(1, after: position, total: nil) == nil, "\(position)")
      }
      #expect(try await listing.resuming(from: Position("2")).collect().last == 3)
    }
  }

  @Test("12-L6 K6: a position of a later form is refused by the number of its form")
  func laterForm() throws {
    let json = #"{"value":"p","seal":{"version":2,"sum":"00000000"}}"#
    let error = #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Position.self, from: Data(json.utf8))
    }
    guard case .dataCorrupted(let context)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(context.debugDescription.contains("the form 2"))
  }

  @Test("12-L6 C-8: a store that sorts members and changes white space does a position no harm")
  func rewritten() throws {
    for position in Self.positions {
      let data = try JSONEncoder().encode(position)
      let object = try JSONSerialization.jsonObject(with: data)
      let again = try JSONSerialization.data(
        withJSONObject: object, options: [.prettyPrinted, .sortedKeys])
      #expect(try JSONDecoder().decode(Position.self, from: again) == position)
    }
  }

  @Test(
    "12-L6: a page with fewer items than were handed out has changed, and is no reason to go on")
  func shorterPage() async throws {
    for (sizes, offset) in [([3, 3], 4), ([0, 3], 1), ([3], 9)] {
      let cursor = Cursor(ScriptedSource(sizes: sizes)).resuming(
        from: Position(nil, itemOffset: offset))
      let error = await pageError { _ = try await cursor.drained() }
      #expect(error?.code == .pageChanged, "\(sizes), \(offset)")
      #expect(error?.traffic.requests == 1)
    }
    let gone = Cursor<Int> { _ in nil }.resuming(from: Position("p", itemOffset: 1))
    #expect(await pageError { _ = try await gone.drained() }?.code == .pageChanged)
    let whole = Cursor(ScriptedSource(sizes: 3, 2)).resuming(from: Position(nil, itemOffset: 3))
    #expect(try await whole.drained() == [[], [3, 4]])
  }

  @Test("12-L13: a walk limited at a page whose way on is broken keeps the failure and the place")
  func brokenWayOn() async throws {
    func cursor(_ code: PageError.Code) -> Cursor<Int> {
      Cursor { position in
        if position?.value == nil { return Page([1, 2], next: "second") }
        var page = Page([3, 4])
        page.nextFailure = PageError(code, "Nobody knows where it goes on.")
        return page
      }
    }
    for code in [PageError.Code.inconsistentTermination, .invalidArgument] {
      for limits in [Limits(pages: 2), Limits(items: 4)] {
        let walk = cursor(code).limited(to: limits).walk()
        #expect(try await walk.drained() == [[1, 2], [3, 4]])
        #expect(walk.report.nextFailure?.code == code)
        #expect(!walk.report.isComplete)
        let stored = try JSONEncoder().encode(try #require(walk.report.checkpoint))
        let position = try JSONDecoder().decode(Position.self, from: stored)
        let rest = cursor(code).resuming(from: position).walk()
        var items: [Int] = []
        let error = await pageError { for try await page in rest { items += page.items } }
        #expect(items.isEmpty && error?.code == code)
        let paginator = Paginator(cursor(code).limited(to: limits))
        var last: Position?
        for try await page in paginator { last = page.checkpoint }
        #expect(paginator.report.checkpoint == position && last == position)
        #expect(paginator.report.nextFailure?.code == code)
      }
    }
    let within = cursor(.noProgress).limited(to: Limits(items: 3)).walk()
    _ = try await within.drained()
    #expect(within.report.nextFailure == nil)
  }
}

extension PageError.Code {
  fileprivate static let inconsistentTermination = Self("inconsistentTermination")
}
