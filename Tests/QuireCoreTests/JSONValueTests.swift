import FoundationEssentials
import QuireCore
import Testing

@Suite("Lossless values")
struct JSONValueTests {
  @Test("C-8: a position is small: it holds its value and an offset that says something")
  func small() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    func text(_ position: Position) throws -> String {
      String(decoding: try encoder.encode(position), as: UTF8.self)
    }
    #expect(try text(.start) == "{}")
    #expect(try text("abc").hasSuffix(#","version":1},"value":"abc"}"#))
    #expect(try text(Position(12, itemOffset: 3)).hasPrefix(#"{"itemOffset":3,"seal":{"sum":""#))
    #expect(try text(Position(.number("1e400"))).hasSuffix(#","value":{"number":"1e400"}}"#))
    #expect(try text(Position(12, itemOffset: 3)).utf8.count < 80)
  }

  @Test("Literals may have fractions and interpolations, in a value as in a position")
  func literals() {
    let name = "Zoë"
    let value: JSONValue = ["q": "by \(name)", "least": 0.25, "most": 1e300, "below": -2.5]
    #expect(value.description == #"{"q":"by Zoë","least":0.25,"most":1e+300,"below":-2.5}"#)
    let position: Position = "after \(name)"
    #expect(position.value == .string("after Zoë"))
  }

  @Test("A stored position that counts items below zero is refused")
  func negativeOffset() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(Position.self, from: Data(#"{"itemOffset":-1}"#.utf8))
    }
  }

  @Test("G17: two cursors that Unicode calls equivalent are two cursors")
  func noNormalization() {
    let composed: JSONValue = "caf\u{E9}"
    let decomposed: JSONValue = "cafe\u{301}"
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed, composed]).count == 2)
    let object: JSONValue = ["caf\u{E9}": 1, "cafe\u{301}": 2]
    #expect(object["cafe\u{301}"] == 2)
  }

  @Test("T20: numbers and truth values are read from the strings that servers write")
  func lenientReading() {
    #expect(JSONValue.string("12").integer == 12)
    #expect(JSONValue.number("9223372036854775808").integer == nil)
    #expect(JSONValue.string("unknown").integer == nil)
    for text in ["true", "True", "1", "yes", "Y"] {
      #expect(JSONValue.string(text).boolean == true)
    }
    for text in ["false", "0", "no", "n"] { #expect(JSONValue.string(text).boolean == false) }
    #expect(JSONValue.string("maybe").boolean == nil)
    #expect(JSONValue.number("1").boolean == true)
  }
}
