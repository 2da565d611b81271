import HTTPTypes
import QuireCore
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

@Suite("Secrets in positions")
struct SecretParametersTests {
  private let secrets = SecretParameters(
    of: "https://g.test/me?access_token=S%2FECR+ET&limit=2",
    fields: [
      .init("X-Api-Key")!: "k3y/ü value", .authorization: "Bearer abcdefgh", .accept: "a/bcd",
    ])

  /// Redacts and restores a link; returns what is stored.
  private func roundTrip(_ link: String) throws -> String {
    let position = Position(["url": .string(link), "via": 1])
    let stored = secrets.redact(position)
    #expect(try secrets.restore(stored) == position)
    return stored.value?["url"]?.string ?? ""
  }

  @Test(
    "H-8, H-1, T34: a position stores no secret, and the next link has it again, byte for byte",
    arguments: [
      "S%2FECR%2BET", "S%2fECR+ET", "S/ECR%2BET", "S/ECR%20ET", "S%2FEC%52%2bET", "%53%2FECR%2BET",
      "k3y%2F%C3%BC%20value", "k3y/%c3%Bc+value", "k3y/ü%20value", "abcdefgh", "abcdef%67h",
      "Bearer%20abcdefgh", "Bearer+abcdefgh", "S%252FECR%252BET", "S%252fECR%252bET",
      "k3y%252F%25C3%25BC%2520value",
    ])
  func spellings(_ secret: String) throws {
    for link in [
      "https://g.test/me?after=a%2B&access_token=\(secret)&limit=2", "?api_key=\(secret)",
      "/me?x=1&&x=\(secret)&x=\(secret)&", "a=1&token=\(secret)",
    ] {
      let stored = try roundTrip(link)
      #expect(!stored.contains(secret))
      #expect(!stored.contains("ECR") && !stored.contains("k3y") && !stored.contains("abc"))
      #expect(stored.contains("<secret:"))
    }
  }

  @Test(
    "H-8, T34: a position stores no short password of Basic under the name of one",
    arguments: ["abcd", ""])
  func shortPassword(_ password: String) throws {
    let pair = Data("anna-maria:\(password)".utf8).base64EncodedString()
    let secrets = SecretParameters(
      of: "https://g.test/me", fields: [.authorization: "Basic \(pair)"])
    let position = Position(["url": "https://g.test/me?password=\(password)&page=2"])
    let stored = secrets.redact(position)
    #expect(try secrets.restore(stored) == position)
    let hasPassword = stored.value?["url"]?.string?.contains("=abcd") ?? true
    #expect(!hasPassword)
  }

  @Test(
    "H-8, T34: a position stores no secret in base 64, and the next request has it again, byte for byte",
    arguments: ["", "u", "us", "user:", "\u{3FF}\u{3FE}"], ["", "?", ":x~\u{7F}"])
  func base64(before: String, after: String) throws {
    for secret in ["S/ECR+ET", "k3y/ü value", "abcdefgh"] {
      let text = Data((before + secret + after).utf8).base64EncodedString()
      let forURLs = text.replacing("+", with: "-").replacing("/", with: "_").replacing(
        "=", with: "")
      for cursor in [text, forURLs, PercentEncoding.encode(text)] {
        let stored = try roundTrip("https://g.test/me?cursor=\(cursor)&limit=2")
        #expect(stored.contains("<secret:") && stored.hasSuffix("&limit=2"), "\(stored)")
        let rest = stored.replacing(/<secret:[^>]*>/, with: " ")
        #expect(
          rest.split(separator: " ").allSatisfy { Base64.decode($0)?.contains(secret) != true })
        let bare = Position(.string(cursor))
        #expect(secrets.redact(bare) != bare)
        #expect(try secrets.restore(secrets.redact(bare)) == bare)
      }
    }
    #expect(try roundTrip("?cursor=YWJjZGVm") == "?cursor=YWJjZGVm")
  }

  @Test("H-1: a parameter that is not the caller's secret stays byte for byte")
  func others() throws {
    for link in [
      "https://g.test/me?access_token=other", "/p", "https://g.test/x?y=S%2FECR", "?a=a/bcd",
      "https://g.test/?a=1&a=2&&=&b", "?q=\u{301}&\u{301}=x",
    ] {
      #expect(try roundTrip(link) == link)
    }
    #expect(secrets.redact(.start) == .start)
    #expect(secrets.redact(Position(["offset": 12])) == Position(["offset": 12]))
  }

  @Test("A short secret is redacted where a name gives it away, and nowhere else")
  func shortSecrets() {
    let secrets = SecretParameters(of: "https://g.test/?key=7")
    let stored = secrets.redact(Position(["url": "https://g.test/?page=7&key=7"]))
    #expect(stored.value?["url"] == "https://g.test/?page=7&key=<secret:query.key>")
  }

  @Test("A walk with a new secret goes on with it, well encoded; one without any cannot")
  func renewed() throws {
    let stored = secrets.redact(Position(["url": "/me?access_token=S/ECR%2BET"]))
    let renewed = SecretParameters(of: "/me?access_token=%26%2b%23new")
    #expect(try renewed.restore(stored).value?["url"] == "/me?access_token=%26%2B%23new")
    let poor = SecretParameters(of: "/me")
    let error = #expect(throws: PageError.self) { try poor.restore(stored) }
    #expect(error?.code == .invalidArgument)
  }

  @Test("H-8: a secret that is a number is in no position, and is a number again in the request")
  func numbers() throws {
    func secrets(_ key: JSONValue) -> SecretParameters {
      SecretParameters(
        Secret.all(in: PageRequest(url: "https://g.test/", body: .json(["api_key": key])), [:]))
    }
    let position = Position([
      "request": ["href": "/2", "body": ["api_key": 12345678, "ids": [.number("-12345678"), 7]]],
      "seen": 12345678,
    ])
    let stored = secrets(12345678).redact(position)
    #expect(stored.value?["request"]?.description.contains("2345") == false)
    #expect(stored.value?["seen"] == 12345678)
    #expect(try secrets(12345678).restore(stored) == position)
    // With another key the walk goes on as that is written.
    let renewed = try secrets("n3w-key").restore(stored).value?["request"]?["body"]
    let expected: JSONValue = ["api_key": "n3w-key", "ids": ["-n3w-key", 7]]
    #expect(renewed == expected)
    #expect(throws: PageError.self) { try SecretParameters([]).restore(stored) }
  }

  @Test("H-8: a server cannot ask for a secret by its mark")
  func forgedMarks() {
    for value in [
      ["url": "https://evil.test/?x=<secret:query.access_token>"], ["token": "<secret:"],
      ["token": ["a": ["<secret:query.access_token>"]]],
    ] as [JSONValue] {
      var page = Page<Int>([1], next: Position(value))
      secrets.redact(&page.head)
      #expect(page.next == nil)
      #expect(page.nextFailure?.code == .invalidCursor)
    }
  }
}

extension SecretParameters {
  /// The secrets of a walk that starts with this URL and these fields.
  init(of url: String, fields: HTTPFields = [:]) {
    self.init(Secret.all(in: PageRequest(url: url), fields))
  }
}
