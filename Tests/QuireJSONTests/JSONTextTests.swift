import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("JSON text")
struct JSONTextTests {
  /// Whether the bytes between quotes can be read as the text that the standard library sees.
  private func check(_ content: [UInt8]) throws {
    let quote = UInt8(ascii: "\"")
    let document = try JSONDocument(
      [UInt8(ascii: "["), quote] + content + [quote, UInt8(ascii: "]")])
    let expected = String(validating: content, as: UTF8.self)
    let found = try? document.value(at: "/0")
    #expect(found == expected.map { .string($0) }, "\(content)")
  }

  @Test("J5: of all pairs of bytes, exactly those that are UTF-8 are read")
  func pairs() throws {
    for first in UInt8(0x80)...0xFF {
      for second in [0x20, 0x7F] + Array(UInt8(0x80)...0xFF) { try check([first, second]) }
    }
  }

  @Test("J5: of the sequences around every border of UTF-8, exactly the valid ones are read")
  func borders() throws {
    let borders: [UInt8] = [0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0]
    for first in UInt8(0xE0)...0xF8 {
      for second in borders {
        for third in borders {
          try check([first, second, third])
          for fourth in borders { try check([first, second, third, fourth]) }
        }
      }
    }
  }

  @Test("Each surrogate pair that is escaped is read, and each half alone is refused")
  func surrogates() throws {
    for high in stride(from: 0xD800, through: 0xDBFF, by: 31) {
      for low in [0xDC00, 0xDC01, 0xDEAD, 0xDFFF] {
        let text =
          "[\"\\u\(String(high, radix: 16))\\u\(String(low, radix: 16, uppercase: true))\"]"
        let value = UInt32(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00))
        let scalar = try #require(UnicodeScalar(value))
        #expect(
          try JSONDocument(Array(text.utf8)).value(at: "/0") == .string(String(Character(scalar))))
      }
      for rest in ["", "x", "\\n", "\\u0041", "\\ud800", "\\\\udc00"] {
        let text = "[\"\\u\(String(high, radix: 16))\(rest)\", 1]"
        let document = try JSONDocument(Array(text.utf8))
        #expect(throws: PageError.self) { try document.value(at: "/0") }
        #expect(try document.value(at: "/1") == 1)
      }
    }
  }

  @Test("A special character is found at every place of an eight-byte step")
  func alignment() throws {
    for length in 0..<34 {
      let run = String(repeating: "a", count: length)
      for special in ["", "\\n", "é", "\\u00e9", "日", "😀", "\\\"", "\u{7F}"] {
        let text = "[\"\(run)\(special)\(run)\"]"
        let plain = special.replacing("\\n", with: "\n").replacing("\\u00e9", with: "é")
          .replacing("\\\"", with: "\"")
        #expect(
          try JSONDocument(Array(text.utf8)).value(at: "/0") == .string(run + plain + run))
      }
      let control = Array("[\"\(run)\u{1F}\"]".utf8)
      #expect(throws: PageError.self) { try JSONDocument(control) }
    }
  }
}
