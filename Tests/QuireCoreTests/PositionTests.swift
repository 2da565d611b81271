import Foundation
import QuireCore
import QuireLists
import QuireTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(15))) struct PositionTests {
  @Test(
    "C-8: a position survives JSON without loss, whatever the cursor is",
    arguments: [
      Position.start, Position(.null), "", "null", "a+b/c==&d é\u{0}\"\\", 0, -1,
      Position(.number("9007199254740993")), Position(.number("1e400")),
      Position(.number("1.10")), Position(.number("-0")), Position(.bool(false)),
      Position(["a", 1, .null, ["deep": [true]]]),
      Position(["b": 1, "a": ["n": 1, "n": 2], "number": "x", "object": []]),
      Position("p", itemOffset: 17), Position(nil, itemOffset: 3),
    ])
  func survivesJSON(position: Position) throws {
    let data = try JSONEncoder().encode(position)
    #expect(try JSONDecoder().decode(Position.self, from: data) == position)
  }

  @Test(
    "C-8: what is no position is not read as one: it would be the start of the listing",
    arguments: [
      #"{"valeu":"abc"}"#, #"{"foo":1}"#, #"{"value":"abc","foo":1}"#, #"{"checkpoint":{}}"#, "[]",
      #""abc""#, #"{"itemOffset":-1}"#,
    ])
  func refusesOthers(json: String) {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Position.self, from: Data(json.utf8))
    }
  }

  @Test("C-8, V107: a position stored by one process resumes at exactly the next page in another")
  func resumesFromJSON() async throws {
    let source = ScriptedSource(sizes: 2, 2, 2, 2)
    let walk = Cursor(source).limited(to: Limits(pages: 2)).walk()
    _ = try await walk.drained()
    let stored = try JSONEncoder().encode(walk.report.checkpoint)
    let position = try JSONDecoder().decode(Position.self, from: stored)
    let later = ScriptedSource(sizes: 2, 2, 2, 2)
    #expect(try await Cursor(later).resuming(from: position).drained() == [[4, 5], [6, 7]])
    #expect(later.requests == [3, 4])
  }
}
