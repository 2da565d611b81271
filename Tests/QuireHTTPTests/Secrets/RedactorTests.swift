import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Redaction")
struct RedactorTests {
  private let redactor = Redactor(
    fields: [.authorization: "Bearer s3cr3t-token", .init("X-Api-Key")!: "abcdef123456"],
    urls: ["https://g.test/me?access_token=SECRET%2FVALUE&limit=25"])

  @Test("H-8, R20: a URL shows its parameters' names and only harmless values")
  func urls() {
    #expect(
      redactor.describe(.get, "https://g.test/me?access_token=SECRET&after=Zm9v&page=12&x")
        == "GET https://g.test/me?access_token=…&after=…&page=12&x=")
    #expect(redactor.describe(.post, "https://g.test/me") == "POST https://g.test/me")
  }

  @Test("L3: a known secret is cut out of whatever a server says")
  func scrubbing() {
    #expect(redactor.scrub("no Bearer s3cr3t-token here") == "no … here")
    #expect(redactor.scrub("key abcdef123456, token s3cr3t-token") == "key …, token …")
    #expect(redactor.scrub("you sent SECRET/VALUE or SECRET%2FVALUE") == "you sent … or …")
  }

  @Test(
    "L3: a secret of a body in XML is cut out, whatever stands around it and however it is written",
    arguments: [
      #"<g><Password>&#83;upersecret-ä9</Password></g>"#,
      #"<g><Password>Supersecret-&#xE4;9</Password></g>"#,
      #"<g password="Supersecret-&#228;9"/>"#, #"<g note="x>y" password='Supersecret-ä9'/>"#,
      #"<g><Password note="a>b">Supersecret-ä9</Password></g>"#,
      #"<g><w:Password>Super<!-- > < -->secret-ä9</w:Password></g>"#,
      #"<g><Password><?x > ?>Supersecret-ä9</Password></g>"#,
      #"<g><Password>Super<![CDATA[secret-ä9]]></Password></g>"#,
      #"<g><Password><b/><value>Supersecret-ä9</value></Password></g>"#,
      #"<g><Password><value><v of = "Supersecret-ä9"/></value></Password></g>"#,
      #"<g><Password>Super<b/>secret-ä9</Password></g>"#,
      #"<g note="cut <Password>Supersecret-ä9"#,
      #"<g><param type="text" name="api_key">Supersecret-ä9</param></g>"#,
      #"<g><param value="Supersecret-ä9" name="api_key"/></g>"#,
      #"<g><name>api_key</name><type>t</type><value><string>Supersecret-ä9</string></value></g>"#,
      #"<g><header><Name><![CDATA[token]]></Name><Value>Supersecret-ä9</Value></header></g>"#,
      #"<dict><key>user</key><string/><key>password</key><string>Supersecret-ä9</string></dict>"#,
    ])
  func bodiesInXML(body: String) {
    let redactor = Redactor(fields: [:], urls: [], body: .xml(body))
    #expect(redactor.scrub("wrong: Supersecret-ä9!") == "wrong: …!")
  }

  @Test(
    "L3: a secret of a body in JSON is cut out if its name is a text beside it",
    arguments: [
      #"{"params": [{"name": "api_key", "value": "Supersecret-ä9"}]}"#,
      #"{"params": [{"Value": ["Supersecret-ä9"], "Key": "password", "type": "text"}]}"#,
      #"{"headers": [["Accept", "*/*"], ["X-Api-Key", "Supersecret-ä9"]]}"#,
      #"{"headers": ["Accept: */*", "X-Api-Key: Supersecret-ä9"]}"#,
      #"{"headers": [{"name": "Authorization", "value": "Bearer Supersecret-ä9"}]}"#,
      #"{"headers": {"cookie": "theme=dark; sid=Supersecret-ä9"}}"#,
    ])
  func pairs(body: String) throws {
    let value = try JSONValue(parsing: body)
    for body: PageRequest.Body in [.json(value), .bytes(Array(body.utf8))] {
      let redactor = Redactor(fields: [:], urls: [], body: body)
      #expect(redactor.scrub("wrong: Supersecret-ä9!") == "wrong: …!")
    }
  }

  @Test("L3: what stands beside a pair of a secret's name and value is none, nor is prose")
  func besidesPairs() throws {
    let json = #"""
      {"params": [{"name": "api_key", "kind": "plainwords", "value": "Supersecret9"},
        {"name": "page_token", "value": "otherwords"},
        {"name": "my secret garden", "value": "roses!"}],
        "sort": ["session", "descending"], "note": ["the key: listen"]}
      """#
    let xml = """
      <g><p name="api_key" kind="plainwords">Supersecret9</p><q><name>page_token</name>
      <value>otherwords</value></q><name>token</name><name>city</name><value>roses!</value>
      <r><name>token</name></r><value>descending</value><value name="note">listen</value></g>
      """
    let said = "plainwords, otherwords, roses!, descending, listen"
    for body: PageRequest.Body in [.json(try JSONValue(parsing: json)), .xml(xml)] {
      let redactor = Redactor(fields: [:], urls: [], body: body)
      #expect(redactor.scrub("\(said): Supersecret9") == "\(said): …")
    }
  }

  @Test("L3: what stands beside a secret of a body in XML is none, and a huge body takes no time")
  func besidesInXML() {
    let body =
      #"<g kind="plainwords"><token xmlns:n="urn:namespace"/><password>Supersecret9</password>otherwords</g>"#
    let redactor = Redactor(fields: [:], urls: [], body: .xml(body))
    let said = "plainwords, urn:namespace and otherwords"
    #expect(redactor.scrub("\(said): Supersecret9") == "\(said): …")
    for piece in [
      "<", "<a b='", "<!--", "<password>", "&#", "<a>]]>", "</a>", "<name>token", "<key a='",
    ] {
      let text = String(repeating: piece, count: 20_000)
      #expect(BodySecrets.all(in: .xml(text)).count < 10, "\(piece)")
    }
  }

  @Test("L2: line breaks and escapes of a body do not reach a log, and 256 bytes are enough")
  func snippets() {
    #expect(redactor.snippet(Array("a\r\nb\u{1B}[31mc\u{0}".utf8)) == "a  b\\u{1B}[31mc\\u{0}")
    #expect(redactor.snippet([UInt8](repeating: 65, count: 10_000)).count == 257)
    #expect(redactor.snippet(Array("a short one".utf8)) == "a short one")
  }

  @Test(
    "H-8: the beginning of a body shows no secret that the body itself names, such as a token",
    arguments: [
      (
        #"{"access_token":"ya29.a0AfH6SMBx\/yz01","expires_in":3599}"#,
        #"{"access_token":"…","expires_in":3599}"#
      ),
      ("access_token=gho_16C7e42F292c6912E771&scope=repo", "access_token=…&scope=repo"),
      (
        "<r><AccessToken>ya29.a0AfH6SMBxyz01</AccessToken></r>",
        "<r><AccessToken>…</AccessToken></r>"
      ),
      (#"{"error":"unknown","key":"per_page"}"#, #"{"error":"unknown","key":"per_page"}"#),
    ])
  func namedByTheBody(body: String, shown: String) {
    #expect(redactor.snippet(body.utf8) == shown)
  }

  @Test("H-8, L3: no part of a secret stays where a text is cut, wherever that is")
  func cuts() {
    let secret = "s3cr3t-token"
    for limit in [256, 4 << 10] {
      for offset in (limit - 20)...limit {
        let before = String(repeating: "x", count: offset)
        let snippet = redactor.snippet("\(before)\(secret) and more".utf8)
        #expect(!snippet.contains("s"), "at \(offset)")
      }
    }
    for count in 1..<secret.utf8.count {
      #expect(redactor.scrub("It is \"<p>\(secret.prefix(count))…\".") == "It is \"<p>…\".")
    }
    #expect(redactor.scrub(#"{"url":"?token=SECRET\/VALUE"}"#) == #"{"url":"?token=…"}"#)
  }
}
