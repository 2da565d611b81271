import QuirePagination
import QuireXML
import Foundation
import Quire
import QuireTesting
import Testing

/// What the guides show of types that they name: each block between `guide:` and `end` stands in that
/// guide word for word, and is compiled, and as far as it needs no server run, here.
@Suite("Shapes that the guides show", .timeLimit(.minutes(15)))
struct GuideShapeTests {
  private struct Issue: Decodable, Sendable { let id: Int }
  private typealias Entry = Issue

  @Test("The guides show the shapes that are compiled here, word for word")
  func words() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let block = #/\n *// guide: (\w+)\n(.*?)\n *// end\n/#.dotMatchesNewlines()
    let blocks = source.matches(of: block)
    #expect(blocks.count == 7)
    for block in blocks {
      let guide = try String(
        contentsOf: root.appendingPathComponent("Sources/Quire/Quire.docc/\(block.1).md"),
        encoding: .utf8)
      let lines = block.2.split(separator: "\n", omittingEmptySubsequences: false)
      let indent = lines.first?.prefix { $0 == " " }.count ?? 0
      let text = lines.map { String($0.dropFirst(indent)) }.joined(separator: "\n")
      #expect(guide.contains("\n\(text)\n```"), "\(block.1): \(text)")
    }
  }

  @Test("A raw item has its bytes, a value and whatever type is asked for")
  func rawItem() async throws {
    let transport = ScriptedTransport([
      ScriptedExchange("https://a.test/", answerBody: #"[{"id": 7}, {"id": 8}]"#)
    ])
    let client = PageClient(transport: transport)
    let url = "https://a.test/"
    // guide: GettingStarted
    let raw = client.cursor(of: RawItem.self, at: url, pagination: .github)
    for try await item in raw.items {
      let id = try item.value["id"]  // a JSONValue, whose number has its text
      let issue = try item.decode(Issue.self)  // or any Decodable type
      print(item, item.compact.count, id ?? .null, issue)  // the JSON in one line, and its bytes
    }
    // end
    #expect(transport.unplayed.isEmpty)
  }

  @Test("A total has a value and says what it counts")
  func total() {
    let page = Page([1], total: Total(1234))
    // guide: CursorsAndWalks
    if let total = page.total, total.kind == .items {
      print("\(page.items.count) of \(total.value)")
    }
    // end
    #expect(page.total?.value == 1234)
  }

  @Test("Leniency is a set of what is admitted")
  func leniency() {
    // guide: XMLPages
    let lenient = XMLPageDecoder<Entry>(leniency: [.namedCharacters, .leadingWhiteSpace])
    let feeds = XMLPageDecoder<Entry>(leniency: .feed)  // all of it
    // end
    _ = (lenient, feeds)
    #expect(XMLLeniency.feed.isSuperset(of: [.namedCharacters, .leadingWhiteSpace]))
  }

  @Test("A route is a source and where its value goes")
  func route() throws {
    // guide: DescriptionReference
    let next = Pagination.Next.firstOf([
      Pagination.Route(.linkHeader, send: .url),
      Pagination.Route(.body("/next_cursor"), send: .query("cursor")),
    ])
    // end
    #expect(try Pagination(json: Pagination(next: next, items: "/a").json).next == next)
  }

  @Test("A transport of one's own is made of a configuration")
  func transport() async {
    // guide: TuningAClient
    let transport = CurlTransport(
      CurlTransport.Configuration(
        certificateAuthorities: .file("/etc/ssl/company.pem"), httpVersion: .http1,
        connectionsPerHost: 16, idleTimeout: .seconds(10)))
    let client = PageClient(transport: transport)
    // end
    _ = client
    await transport.shutdown()
  }

  @Test("A scripted source hands out pages and fails as told")
  func scriptedSource() async throws {
    // guide: YourOwnDoors
    let source = ScriptedSource(sizes: 2, 2, 1)  // 0, 1; 2, 3; 4
    source.fail(2, times: 1, with: ScriptedFailure())  // the second page, the first time
    let walk = Cursor(source).walk()
    #expect(try await walk.next()?.items == [0, 1])
    await #expect(throws: PageError.self) { try await walk.next() }  // underlying: the failure
    #expect(source.requests == [1, 2])
    // end
  }

  @Test("A decoder is checked on a page of its own")
  func decoder() throws {
    // guide: YourOwnDoors
    try DecoderConformance.check(
      JSONPageDecoder<Int>(), page: Array(#"{"a": [1, 2]}"#.utf8),
      context: DecodingContext(items: "/a"), items: [1, 2])
    // end
  }
}
