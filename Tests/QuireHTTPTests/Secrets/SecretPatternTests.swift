import HTTPTypes
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

@Suite("Spellings of a secret")
struct SecretPatternTests {
  /// A secret of characters that every spelling treats in a way of its own.
  static func secret(_ random: inout SeededGenerator) -> String {
    let characters = Array("abcXYZ019/+=&~%\".-_:;é ")
    return "s"
      + String(
        (0..<Int.random(in: 8...24, using: &random)).map { _ in
          characters.randomElement(using: &random) ?? "x"
        }) + "t"
  }

  /// How a server may spell it.
  static func spellings(_ secret: String) -> [String] {
    let strict = PercentEncoding.encode(secret)
    let all = secret.utf8.map { "%" + hex($0) }.joined()
    let json = secret.unicodeScalars.map { scalar in
      switch scalar {
      case "/", "\"", "\\": "\\" + String(scalar)
      default: String(scalar)
      }
    }.joined()
    let units = secret.utf16.map { unit in
      let digits = String(unit, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }.joined()
    let pointer = secret.replacing("~", with: "~0").replacing("/", with: "~1")
    let xml = secret.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
    let numbers = secret.unicodeScalars.map { "&#x\(String($0.value, radix: 16));" }.joined()
    return [
      secret, strict, strict.lowercased(), all, all.lowercased(),
      strict.replacing("%", with: "%25"), strict.replacing("%20", with: "+"), json,
      json.replacing("\\", with: "\\\\"), units, pointer, PercentEncoding.encode(pointer), xml,
      numbers, secret.uppercased().contains("É") ? secret : secret.uppercased(),
      secret.unicodeScalars.map { "\\u{\(String($0.value, radix: 16))}" }.joined(),
    ]
      + ["", "a", "ab"].flatMap { lead -> [String] in
        let digits = Data((lead + secret + "tail").utf8).base64EncodedString().replacing(
          "=", with: "")
        return [digits, digits.replacing("+", with: "-").replacing("/", with: "_")]
      }
  }

  private static func hex(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
  }

  @Test("12-S4, L3: a secret is cut out in every spelling, and nothing else is", arguments: 0..<60)
  func scrubbing(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let secret = Self.secret(&random)
    let redactor = Redactor(fields: [:], urls: [], known: [Array(secret.utf8)])
    for spelled in Self.spellings(secret) {
      let shown = redactor.scrub("before <\(spelled)> after")
      #expect(!shown.contains(spelled), "seed \(seed), \(spelled)")
      #expect(shown.hasPrefix("before <") && shown.hasSuffix("> after"), "seed \(seed), \(shown)")
      #expect(shown.utf8.count < 40, "seed \(seed), \(spelled) left \(shown)")
    }
    // A mark that changes the character before it changes no byte of the secret.
    #expect(!redactor.scrub("\(secret)\u{301}").contains("…\u{301}x"))
    #expect(redactor.scrub(secret + "\u{301}").utf8.count < secret.utf8.count)
    let other = "nothing that is like it: /a/b%2F~1&amp;\\u0041"
    #expect(redactor.scrub(other) == other)
  }

  @Test("12-S4: what backslashes and escapes a server sends cost linear time")
  func hostileEscapes() {
    let secret = String(repeating: "\\", count: 40) + "x"
    let redactor = Redactor(fields: [:], urls: [], known: [Array(secret.utf8)])
    let text = String(repeating: "\\", count: 500)
    #expect(redactor.scrub(text).utf8.count <= text.utf8.count)
  }

  @Test("What Basic encodes is as secret as the field, its user's name alone is not")
  func basic() {
    let redactor = Redactor(
      fields: [
        .authorization:
          "Basic \(Data("anna-maria:open sesame".utf8).base64EncodedString())"
      ],
      urls: [])
    #expect(redactor.scrub("anna-maria: open%20sesame") == "anna-maria: …")
    #expect(redactor.scrub("anna-maria:open sesame") == "…")
  }

  @Test(
    "H-8: a secret is kept out of texts however its field holds it, and a harmless user is not",
    arguments: [
      (HTTPField.Name.authorization, "Bearer   open-sesame"), (.authorization, "me:open-sesame"),
      (.authorization, "ApiKey me:open-sesame"), (.cookie, "a=b; c=\"open-sesame\""),
      (.authorization, "ApiKey \(Data("me:open-sesame".utf8).base64EncodedString())"),
      (.authorization, "Basic  \(Data("open-sesame:x".utf8).base64EncodedString())"),
      (.authorization, "Basic \(Data("open-sesame:api_token".utf8).base64EncodedString())"),
    ])
  func forms(name: HTTPField.Name, value: String) {
    let redactor = Redactor(fields: [name: value], urls: [])
    #expect(redactor.scrub("me: open-sesame, api_token") == "me: …, api_token", "\(value)")
  }

  @Test("12-S4: parameters of a path and the user in a URL are shown by name only")
  func paths() {
    let redactor = Redactor(fields: [:], urls: ["https://h.test/a;jsessionid=0123456789/b"])
    #expect(
      redactor.describe(.get, "https://h.test/a;jsessionid=0123456789/b")
        == "GET https://h.test/a;jsessionid=…/b")
    #expect(redactor.describe(.get, "https://me:pw@h.test/") == "GET https://…@h.test/")
    #expect(redactor.describe(.get, "https://me:p w@h.test/a b") == "GET https://…@h.test/a b")
  }
}
