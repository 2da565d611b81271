import HTTPTypes
import QuireCore
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// Pages that are a single value, a root without content, or hardly a page at all.
@Suite("Pages of every root", .timeLimit(.minutes(15)))
struct RootValueTests {
  /// Every kind of value that a page can be: the scalars of JSON, empty and nested containers, values
  /// that are grammatical and cannot be read, and the roots of XML.
  static let roots = [
    "null", "true", "false", "0", "-0", "12", "1e999", "0.5", String(repeating: "9", count: 5_000),
    "\"\"", "\"x\"", "\"\\ud800\"", "\"\\u0000\"",
    "\"" + String(repeating: "x", count: 9_000) + "\"",
    "\u{FEFF}null", " \n7 ", ")]}'\ntrue", "[]", "{}", "[null]", "[[]]", "[1,\"x\",null]",
    "{\"items\":null}", "{\"items\":0,\"next\":\"x\"}", "{\"\":null}", "[{}]",
    "<a/>", "<a></a>", "<a>x</a>", "<a b='c'/>", "<a xmlns='urn:x'/>", "<a><!-- c --></a>",
    "<a><![CDATA[x]]></a>", "<?xml version='1.0'?><a>1</a>", "<a> </a>", "<n:a xmlns:n='urn:x'/>",
    "<a><b/></a>", "<a><b/><b/></a>", "<!DOCTYPE a><a/>", "", " ", "nul", "<", "<a>",
  ]

  /// Every preset, and descriptions that look where presets do not.
  static let descriptions: [(name: String, pagination: Pagination)] =
    Pagination.presets.map { ($0.name, $0.pagination.example) } + [
      ("link", Pagination(next: .linkHeader)),
      ("body at the root", Pagination(next: .body(""), send: .query("c"))),
      ("element", Pagination(next: .body("/0"), send: .query("c"), items: "/-1")),
      ("header", Pagination(next: .header("X-Next"), send: .query("c"), items: .optional("/a"))),
      ("last", Pagination(next: .lastItem("/id"), send: .query("c"), items: "/a/b")),
      (
        "counter",
        Pagination(
          next: .offset, send: .query("o"),
          end: [.total(Pagination.TotalSource(.body(""))), .emptyPage],
          total: Pagination.TotalSource(.body("")))
      ),
      ("members", Pagination(next: .linkHeader, items: .members(""))),
      ("columns", Pagination(next: .linkHeader, items: .columns(""))),
      ("matches", Pagination(next: .linkHeader, items: "/*/a")),
    ]

  /// A page, short where it is named.
  struct Root: CustomTestStringConvertible {
    let text: String
    var testDescription: String { text.count < 40 ? text.debugDescription : "\(text.prefix(9))…" }
  }

  private let url = "https://api.test/{id}/things"
  private let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())

  private func client(_ root: String) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.clock = InstantClock()
    let type = root.hasPrefix("<") ? "application/xml" : "application/json"
    let server = CannedServer([.status(200, ["Content-Type": type], root)])
    return PageClient(transport: server, configuration: configuration)
  }

  /// The request that a description can be used with.
  private func request(for pagination: Pagination) throws -> PageClient.RequestOptions {
    let bodies: [PageRequest.Body] = [.json(.object([])), .form("a=b"), .xml("<a><b/></a>")]
    let home = try Origin(url: url)
    for options in [.init()] + bodies.map({ PageClient.RequestOptions(method: .post, body: $0) }) {
      let first = PageRequest(
        method: options.method, url: url, headerFields: options.headers, body: options.body)
      if (try? PaginationEngine(pagination, first: first, home: home)) != nil { return options }
    }
    return .init()
  }

  @Test(
    "12-K1: a page of any root is read by every description to an end or an error, and by no trap",
    arguments: roots.map(Root.init))
  func drained(root: Root) async throws {
    let client = client(root.text)
    for (name, pagination) in Self.descriptions {
      let cursor = client.cursor(
        at: url, pagination: pagination, request: try request(for: pagination), decoder: decoder
      ).limited(to: Limits(pages: 3))
      do {
        for try await page in cursor { _ = page.http?.signsOfMore(than: page.items.count) }
      } catch {
        #expect(error is PageError, "\(name): \(error)")
      }
    }
  }

  @Test(
    "12-K1: what a page of any root shows is told, and by no trap", arguments: roots.map(Root.init))
  func detected(root: Root) async throws {
    let client = client(root.text)
    for request in [
      PageClient.RequestOptions(), .init(method: .post, body: .json(.null)),
      .init(method: .post, body: .json("x")), .init(method: .post, body: .form("")),
      .init(method: .post, body: .xml("<a/>")), .init(method: .post, body: .bytes([])),
    ] {
      do {
        let detection = try await client.detect(
          at: "https://api.test/things", request: request, decoder: decoder)
        #expect(detection.best?.confidence != .verified, "\(detection)")
        #expect(!detection.observations.isEmpty)
      } catch {
        #expect(error is PageError)
      }
    }
  }

  @Test(
    "12-K1: a value that is no container has no elements and no names, however long it is",
    arguments: roots.map(Root.init))
  func childless(root: Root) throws {
    guard let document = try? JSONDocument(Array(root.text.utf8)) else { return }
    let kind = document.word(at: 0).kind
    #expect(kind == .array || document.elements(of: 0).underestimatedCount == 0)
    #expect(kind == .object || document.names(of: 0).underestimatedCount == 0)
  }

  @Test(
    "12-K1: an outline of any root has that root, and below a scalar nothing",
    arguments: roots.map(Root.init))
  func outlined(root: Root) throws {
    guard let document = DetectorSample.document(Array(root.text.utf8)) as? any OutlinedDocument
    else {
      return
    }
    let outline = document.outline
    let first = try #require(outline.nodes.first)
    #expect(first.kind != .scalar || outline.nodes.count == 1)
  }
}
