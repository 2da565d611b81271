import Foundation
import HTTPTypes
import QuireCore
import QuireTesting
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A token goes where its own name says, spelled as the server spells; no check is spent on a spelling
/// that no server has.
@Suite("How a detected parameter is spelled", .timeLimit(.minutes(15)))
struct DetectedSpellingTests {
  private let url = "https://api.test/things"

  /// The URLs and bodies that were asked for, the first one left out.
  private func asked(
    _ page: String, fields: HTTPFields = [:], request: PageClient.RequestOptions = .init(),
    checks: Int = 8
  ) async throws -> [String] {
    let server = CannedServer { sent, _ in
      sent.head.path == "/things" && String(decoding: sent.body, as: UTF8.self) == body(request)
        ? TransportResponse(
          head: HTTPResponse(status: .ok, headerFields: fields), framing: .explicit,
          body: .bytes(Array(page.utf8)))
        : .status(400, [:], "no")
    }
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let client = PageClient(transport: server, configuration: configuration)
    _ = try await client.detect(
      at: url, request: request, checks: checks,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
    return server.requests.dropFirst().map {
      String(decoding: $0.body, as: UTF8.self) + ($0.head.path ?? "")
    }
  }

  @Sendable private func body(_ request: PageClient.RequestOptions) -> String {
    switch request.body {
    case .none: ""
    case .json(let value): "\(value)"
    case .form(let text), .xml(let text): text
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  @Test(
    "12-L23, 12-L24: a token is tried under its own name without its \"next\", in the server's spelling, and under no squashed one",
    arguments: [
      ("next_continuation_token", "continuation_token"),
      ("next-continuation-token", "continuation-token"),
      ("nextcontinuationtoken", "continuationtoken"),
      ("NEXT_CONTINUATION_TOKEN", "CONTINUATION_TOKEN"),
      ("nextContinuationToken", "continuationToken"), ("resumption_token", "resumption_token"),
      ("next-cursor", "cursor"), ("NextCursor", "Cursor"),
    ])
  func spellings(token: String, parameter: String) async throws {
    let asked = try await asked(#"{"rocks":[{"id":1},{"id":2}],"\#(token)":"abcxyz"}"#)
    #expect(asked.contains { $0.contains("?\(parameter)=abcxyz") }, "\(asked)")
    let squashed = PaginationVocabulary.normalized(parameter)
    // Presets send a `cursor`, whatever a page says.
    if squashed != parameter, squashed != "cursor" {
      #expect(!asked.contains { $0.contains("?\(squashed)=") }, "\(asked)")
    }
  }

  @Test("12-L24: a token in a header field is tried under its words")
  func fields() async throws {
    let asked = try await asked(
      #"[{"id":1},{"id":2}]"#, fields: [try #require(.init("X-Next-Page-Token")): "abcxyz"])
    #expect(asked.contains { $0.contains("?page_token=abcxyz") }, "\(asked)")
    #expect(!asked.contains { $0.contains("?pagetoken=") }, "\(asked)")
  }

  @Test("12-L24: what a body of XML has already is tried first, elements and attributes alike")
  func xmlBodies() async throws {
    let page = "<rocks><rock><id>1</id></rock><rock><id>2</id></rock></rocks>"
    for (request, next) in [
      ("<q><page>1</page></q>", "<q><page>2</page></q>"),
      (
        "<s:Envelope xmlns:s='u'><s:Body><offset>0</offset></s:Body></s:Envelope>",
        "<s:Envelope xmlns:s='u'><s:Body><offset>2</offset></s:Body></s:Envelope>"
      ),
      ("<Get startIndex='0' max='2'><x/></Get>", "<Get startIndex='2' max='2'><x/></Get>"),
    ] {
      let asked = try await asked(page, request: .init(method: .post, body: .xml(request)))
      // Of an offset it is asked first whether it counts items.
      #expect(asked.prefix(2).contains("\(next)/things"), "\(asked)")
    }
    let token = "<rocks><rock><id>1</id></rock><rock><id>2</id></rock><next>abcxyz</next></rocks>"
    let asked = try await asked(
      token.replacing("next>", with: "nextCursor>"),
      request: .init(method: .post, body: .xml("<q><cursor/></q>")))
    #expect(asked.first == "<q><cursor>abcxyz</cursor></q>/things", "\(asked)")
  }

  @Test("A template of XML tells its leaves, each path once, and no declaration of a namespace")
  func leaves() {
    let template = XMLTemplate(
      "<?xml version='1.0'?><a:q xmlns:a='u' xmlns='v' n='1'><!-- <z>1</z> --><b>x &amp; y</b><b>2</b>"
        + "<c/><d><e m=\"\"></e></d></a:q>")
    let leaves = template.leaves(most: 9)
    #expect(leaves.map(\.path.text) == ["/q/@n", "/q/b", "/q/c", "/q/d/e/@m", "/q/d/e"])
    #expect(leaves.map(\.value) == ["1", "x & y", "", "", ""])
    #expect(template.leaves(most: 2).count == 2)
    #expect(XMLTemplate("no <markup").leaves(most: 9).isEmpty)
    for leaf in leaves { #expect(throws: Never.self) { try template.setting("v", at: leaf.path) } }
  }
}
