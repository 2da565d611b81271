import TestSupport
import HTTPTypes
import QuireCore
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

/// Plants a secret in each place where a request can hold one, has the server repeat it in every
/// spelling, and looks for it in everything that is printed or stored.
@Suite("Secrets that a server repeats")
struct SecretCanaryTests {
  /// Where a request holds the secret.
  enum Place: String, CaseIterable, Sendable {
    case query, field, bearer, basic, cookie, form, json, pair, xml, parameter, cdata, bytes
    case path, segment, matrix, signerField, signerQuery, signerBody
  }

  private static let links = Pagination(next: .body("/next"), items: "/items")

  private struct Listing {
    var url = "https://api.test/v1/items"
    var request = PageClient.RequestOptions()
    var pagination = links
    var signer: RequestSigner?

    init(_ place: Place, _ secret: String) {
      let encoded = PercentEncoding.encode(secret)
      switch place {
      case .query: url += "?access_token=\(encoded)&limit=2"
      case .field: request.headers[.init("X-Api-Key")!] = secret
      case .bearer: request.headers[.authorization] = "Bearer \(secret)"
      case .basic:
        let pair = Data("someone:\(secret)".utf8).base64EncodedString()
        request.headers[.authorization] = "Basic \(pair)"
      case .cookie: request.headers[.cookie] = "theme=dark; sid=\(encoded)"
      case .form: request.body = .form("client_id=me&client_secret=\(encoded)")
      case .json: request.body = .json(["filter": ["auth": [["api_key": .string(secret)]]]])
      case .pair:
        request.body = .json(["params": [["name": "api_key", "value": .string(secret)]]])
      case .parameter:
        let text = secret.replacing("&", with: "&amp;")
        request.body = .xml("<q><param name='token'>\(text)</param></q>")
      case .xml:
        let text = secret.replacing("&", with: "&amp;")
        request.body = .xml("<q xmlns:w='u'><w:Password Type='t'>\(text)</w:Password></q>")
      case .cdata:
        request.body = .xml("<q><a><![CDATA[<b>]]></a><pwd><![CDATA[\(secret)]]></pwd></q>")
      case .bytes:
        request.body = .bytes(Array(#"{"password":\#(JSONValue.string(secret).description)}"#.utf8))
      case .path:
        url = "https://api.test/hooks/\(encoded)/items"
        request.secrets = [secret]
      case .segment:
        url = "https://api.test/bot\(encoded)/items"
        pagination.policy.secretSegment = "bot{secret}"
      case .matrix: url = "https://api.test/v1;jsessionid=\(encoded)/items"
      case .signerField:
        signer = RequestSigner { request, _ in
          request.head.headerFields[.init("X-Custom")!] = secret
        }
      case .signerQuery:
        signer = RequestSigner { request, _ in
          request.head.path = (request.head.path ?? "") + "?proof=\(encoded)"
        }
      case .signerBody:
        request.body = .json(["a": 1])
        signer = RequestSigner { request, _ in
          request.body = Array(#"{"a":1,"token":\#(JSONValue.string(secret).description)}"#.utf8)
        }
      }
      switch place {
      case .form, .json, .pair, .xml, .parameter, .cdata, .bytes, .signerBody:
        request.method = .post
      default: break
      }
    }
  }

  /// Everything that a walk over two pages prints and stores.
  private func walk(
    _ place: Place, _ secret: String, _ answer: TransportResponse
  ) async throws -> String {
    let listing = Listing(place, secret)
    let log = CapturedLog()
    var configuration = PageClient.Configuration()
    configuration.retry.attempts = 2
    configuration.retry.delay = .zero
    configuration.logger = log.logger
    configuration.badItems = .collect
    configuration.signer = listing.signer
    let server = CannedServer([answer])
    let client = PageClient(transport: server, configuration: configuration)
    let cursor = client.cursor(
      of: [String: Int].self, at: listing.url, pagination: listing.pagination,
      request: listing.request)
    let walk = cursor.walk()
    var shown: [String] = []
    func add(_ position: Position?) throws {
      guard let position else { return }
      shown.append(String(decoding: try JSONEncoder().encode(position), as: UTF8.self))
    }
    do {
      for _ in 0..<2 {
        guard let page = try await walk.next() else { break }
        shown += page.badItems.flatMap { [$0.path, $0.message] } + page.warnings.map(\.description)
        shown.append(page.http?.request ?? "")
        try add(page.next)
        try add(page.previous)
        try add(page.position)
        if let failure = page.nextFailure { shown.append("\(failure)") }
      }
    } catch let error as PageError {
      shown += ["\(error)", error.message, error.request ?? "", error.redirectedTo ?? ""]
      shown.append("\(error.underlying.map { "\($0)" } ?? "")")
      try add(error.position)
      try add(error.checkpoint)
    }
    shown.append("\(walk.report)")
    try add(walk.report.checkpoint)
    #expect(!server.requests.isEmpty, "\(place): \(shown)")
    return (shown + [log.text]).joined(separator: "\n")
  }

  /// Answers that have `text` in every place where an answer can have one.
  private func answers(_ text: String) -> [TransportResponse] {
    let json = JSONValue.string(text).description
    let link = PercentEncoding.encode(text, allowing: "%~+&;#/=:")
    let name = "{\(json): [{\"a\": 1}]}"
    return [
      .status(400, ["Content-Type": "text/plain"], "bad \(text) bad"),
      .status(401, ["WWW-Authenticate": "x"], "{\"error\": \(json)}"),
      .status(503, [:], "later, \(text)"),
      .status(302, ["Location": "http://\(link)/x"]),
      .status(302, ["Location": "/again/\(link)?a=\(link)"]),
      .json(name), .json("[\(json)]"),
      .json("{\"items\": {\(json): 1}}"),
      .json("{\"items\": [{\(json): \(json)}, {\"b\": \(json)}], \"next\": null}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("/p/\(link)/x?y=\(link)"))}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("?after=1&t=\(link)"))}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("https://\(link).test/x"))}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("https://api.test:\(link)/x"))}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("\(link)://x/y"))}"),
      .status(200, ["Content-Type": "text/html; x=\(link)"], "<html>\(text)"),
    ]
  }

  @Test(
    "12-S4, H-8, L1, L3: no error, log, report or position shows a secret, however it is spelled",
    arguments: Place.allCases, [1] as [UInt64])
  func canary(place: Place, seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    // A field has no room for everything, and a cookie for less.
    let secret = SecretPatternTests.secret(&random).replacing("é", with: "e")
      .replacing(" ", with: "_").replacing("\"", with: "'")
    let spellings = Set(SecretPatternTests.spellings(secret))
    let positions = [secret, PercentEncoding.encode(secret), secret.uppercased()]
    for spelled in spellings {
      for (number, answer) in answers(spelled).enumerated() {
        let shown = try await walk(place, secret, answer)
        let context = "\(place), seed \(seed), answer \(number), \(spelled)"
        #expect(!shown.contains(secret), "\(context): \(shown)")
        #expect(!PercentEncoding.decode(shown).contains(secret), "\(context): \(shown)")
        for form in positions where spelled == form {
          #expect(!shown.contains(spelled), "\(context): \(shown)")
        }
      }
    }
  }

  @Test("12-S4, H-1: a link's secret is sent again as the server spelled it, in path and host too")
  func roundTrips() throws {
    let secrets = SecretParameters(
      Secret.all(
        in: PageRequest(
          url: "https://h.test/botS%2FECRET/x", body: .form("client_secret=a/b%20c+d")), [:],
        segments: [try SecretSegment("bot{secret}")], named: ["hostKey99"]))
    for text in [
      "https://h.test/botS%2fECRET/x?y=S/ECRET", "https://hostkey99.h.test/", "S/ECRET",
      "x-S/ECRET-y",
      "a/b%20c%20d", "a/b+c+d&x=a%2Fb+c%20d", "HOSTKEY99hostKey99",
    ] {
      let position = Position([
        "token": .string(text), text: 1, "request": ["body": [.string(text)]],
      ])
      let stored = secrets.redact(position)
      #expect(stored != position, "\(text)")
      let shown = "\(stored.value ?? .null)".lowercased()
      for secret in ["s/ecret", "s%2fecret", "hostkey", "b+c", "b%20c"] {
        #expect(!shown.contains(secret))
      }
      #expect(try secrets.restore(stored) == position, "\(text)")
    }
  }

  @Test("12-S4: a new process has the signer's secret again before it asks for the page")
  func signedPositions() async throws {
    let server = CannedServer { request, _ in
      let page = request.head.path?.contains("page=2") == true
      return .json(page ? #"{"items":[2]}"# : #"{"items":[1],"next":"/p/s1gner-t0ken/?page=2"}"#)
    }
    func cursor() -> Cursor<Int> {
      var configuration = PageClient.Configuration()
      configuration.signer = RequestSigner { request, _ in
        request.head.headerFields[.init("X-Custom")!] = "s1gner-t0ken"
      }
      return PageClient(transport: server, configuration: configuration).cursor(
        of: Int.self, at: "https://api.test/items", pagination: Self.links)
    }
    var first = cursor().makeAsyncIterator()
    let next = try #require(try await first.next()?.next)
    #expect(!"\(next)".contains("s1gner-t0ken"))
    var rest = cursor().resuming(from: next).makeAsyncIterator()
    #expect(try await rest.next()?.items == [2])
    #expect(server.requests.last?.head.path == "/p/s1gner-t0ken/?page=2")
  }

  @Test("12-S4: the preset telegram knows the token in the path, and a wrong pattern is refused")
  func segments() throws {
    #expect(Pagination.telegram.policy.secretSegment == "bot{secret}")
    #expect(try SecretSegment("bot{secret}").secrets(in: "/x/bot12:ab/get") == ["12:ab"])
    for text in ["bot", "{secret}/x", "{secret}{secret}"] {
      #expect(throws: PageError.self) { try SecretSegment(text) }
    }
    let policy = try Pagination.Policy.grammar.read(["secretSegment": "k-{secret}"])
    #expect(policy.secretSegment == "k-{secret}")
    #expect(throws: FormFailure.self) { try Pagination.Policy.grammar.read(["secretSegment": "k"]) }
  }
}
