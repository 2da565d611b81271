import Foundation
import QuireCore
import QuireHTTP
@testable import QuireJSON
import QuirePagination
import QuireTesting
import Testing

/// Random documents from a printed seed, read by us and by Foundation.
@Suite("JSON against Foundation")
struct JSONDifferentialTests {
  @Test("A document comes back as the value it was written from", arguments: 0..<20)
  func roundTrip(_ seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    for _ in 0..<50 {
      let value = random.value(depth: 5)
      let text = random.text(of: value)
      let found = try JSONDocument(Array(text.utf8)).value(at: "")
      #expect(found == value, "seed \(seed): \(text)")
      #expect(
        throws: Never.self, "seed \(seed): \(text)",
        performing: {
          try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        })
    }
  }

  @Test("Whatever we accept of a damaged document, Foundation accepts too", arguments: 0..<20)
  func damaged(_ seed: UInt64) throws {
    var random = RandomJSON(seed: seed)
    var accepted = 0
    for _ in 0..<300 {
      let value = random.value(depth: 3)
      var bytes = Array(random.text(of: value).utf8)
      for _ in 0...random.number(below: 2) {
        let place = random.number(below: bytes.count)
        let letters = Array("[]{},:\"\\ \n0123456789-+.eEtfnu/\u{0}\u{7F}é".utf8)
        bytes[place] = letters[random.number(below: letters.count)]
      }
      guard let document = try? JSONDocument(bytes), (try? document.value(at: "")) != nil,
        (try? document.checkEnvelope(outside: "/none")) != nil
      else { continue }
      accepted += 1
      do {
        _ = try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      } catch {
        // A number beyond Double is JSON all the same.
        #expect(
          "\(error)".contains("not representable"),
          "seed \(seed): \(String(decoding: bytes, as: UTF8.self)): \(error)")
      }
    }
    #expect(accepted > 10, "seed \(seed): too few documents survive for the test to mean anything")
  }
}

/// Makes random values, and texts of them with random white space and escapes.
struct RandomJSON {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func number(below bound: Int) -> Int { Int.random(in: 0..<bound, using: &generator) }

  mutating func value(depth: Int) -> JSONValue {
    switch number(below: depth > 0 ? 9 : 6) {
    case 0: .null
    case 1: .bool(Bool.random(using: &generator))
    case 2: .number(String(Int64.random(in: .min ... .max, using: &generator)))
    case 3: .number("\(number(below: 100)).\(number(below: 1_000))e-\(number(below: 20))")
    case 4, 5: .string(string())
    case 6: .array((0..<number(below: 5)).map { _ in value(depth: depth - 1) })
    default:
      .object(
        (0..<number(below: 6)).map { .init("\($0)" + string(), value(depth: depth - 1)) })
    }
  }

  private mutating func string() -> String {
    let alphabet = Array("abc XYZ09/\\\"\n\t\u{1}\u{7F}é€日本😀\u{FEFF}\u{301}")
    return String((0..<number(below: 20)).map { _ in alphabet[number(below: alphabet.count)] })
  }

  mutating func text(of value: JSONValue) -> String {
    space() + bare(value) + space()
  }

  private mutating func bare(_ value: JSONValue) -> String {
    switch value {
    case .array(let elements):
      return "["
        + (elements.isEmpty ? space() : elements.map { text(of: $0) }.joined(separator: ","))
        + "]"
    case .object(let members):
      let texts = members.map { space() + quoted($0.name) + space() + ":" + text(of: $0.value) }
      return "{" + (members.isEmpty ? space() : texts.joined(separator: ",")) + "}"
    case .string(let text): return quoted(text)
    default: return value.description
    }
  }

  private mutating func quoted(_ text: String) -> String {
    guard number(below: 3) == 0 else { return JSONValue.string(text).description }
    let units = text.utf16.map { unit in
      let digits = String(unit, radix: 16, uppercase: Bool.random(using: &generator))
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
    return "\"\(units.joined())\""
  }

  private mutating func space() -> String {
    ["", "", "", " ", "\n", "\r\n\t", "            "][number(below: 7)]
  }
}
