import HTTPTypes
import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireXML
import Synchronization
import Testing

/// What happens where a page comes in another format, or is another thing, than the listing's pages.
@Suite("Bound formats", .timeLimit(.minutes(15)))
struct BoundFormatTests {
  private final class Server: HTTPTransport {
    private let bodies: [(type: String?, body: String)]
    private let count = Mutex(0)

    init(_ bodies: [(type: String?, body: String)]) { self.bodies = bodies }

    func send(_ request: TransportRequest) async throws -> TransportResponse {
      let number = count.withLock {
        $0 += 1
        return $0
      }
      let (type, body) = bodies[min(number, bodies.count) - 1]
      var head = HTTPResponse(status: .ok)
      head.headerFields[.contentType] = type
      if number < bodies.count, let link = HTTPField.Name("Link") {
        head.headerFields[link] = "</l?p=2>; rel=\"next\""
      }
      return TransportResponse(head: head, framing: .explicit, body: .bytes(Array(body.utf8)))
    }
  }

  private func run(
    _ pagination: Pagination, _ bodies: [(type: String?, body: String)],
    delivery: PageDelivery = .whole
  ) async -> (items: [String], error: PageError?) {
    let client = PageClient(transport: Server(bodies))
    let cursor = client.cursor(
      at: "https://a.test/l", pagination: pagination,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()),
      delivery: delivery)
    var items: [String] = []
    do {
      for try await item in cursor.items { items.append(item.description) }
      return (items, nil)
    } catch {
      return (items, error as? PageError)
    }
  }

  private static let error = "<Error><Code>Busy</Code><Message>Slow down</Message></Error>"

  @Test(
    "12-L2, H28, N25: the format of the first page binds the later ones, whatever their types say",
    arguments: [PageDelivery.whole, .asItArrives])
  func laterPage(delivery: PageDelivery) async {
    for type in ["application/xml", nil, "text/html", "application/json"] {
      let run = await run(
        .linkHeader, [("application/json", "[1]"), (type, Self.error)], delivery: delivery)
      #expect(run.items == ["1"])
      #expect(run.error?.code == .unexpectedMediaType)
    }
    for type in ["application/xml", nil, "application/json"] {
      let run = await run(
        .linkHeader, [("application/xml", "<l><i>1</i></l>"), (type, "[2]")], delivery: delivery)
      #expect(run.items.count == 1)
      #expect(run.error?.code == .unexpectedMediaType)
    }
  }

  @Test("12-L2, H28: JSON that is declared as XML is JSON where the listing is bound to that")
  func wrongType() async {
    let run = await run(.linkHeader, [("application/json", "[1]"), ("text/xml", " [2]")])
    #expect(run.items == ["1", "2"])
    #expect(run.error == nil)
  }

  @Test("12-L2: a preset says which formats its API has, and another one is no page, the first too")
  func presets() async throws {
    for preset in Pagination.presets where preset.pagination.formats == [.json] {
      let error = #expect(throws: PageError.self) {
        var session = AutomaticPageDecoder(
          json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()
        ).begin(
          DecodingContext(
            contentType: "application/xml", items: preset.pagination.example.items,
            formats: preset.pagination.formats))
        try session.receive(Array(Self.error.utf8))
        _ = try session.finish()
      }
      #expect(error?.code == .unexpectedMediaType, "\(preset.name)")
    }
    let run = await run(.github, [("application/xml", Self.error)])
    #expect(run.items == [])
    #expect(run.error?.code == .unexpectedMediaType)
    let json = await self.run(.atom, [("application/json", #"{"feed":{"entry":[]}}"#)])
    #expect(json.error?.code == .unexpectedMediaType)
  }

  @Test(
    "12-L2: what came in place of XML is named by its start, and quoted",
    arguments: [
      ("Service unavailable", "text/plain", "something else"), ("%PDF-1.4", nil, "something else"),
      ("a,b\n1,2\n", "text/csv", "CSV"), ("[1]", "application/json", "JSON"),
    ] as [(String, String?, String)])
  func inPlaceOfXML(body: String, type: String?, words: String) async {
    let error = await run(.atom, [(type, body)]).error
    #expect(error?.code == .unexpectedMediaType)
    #expect(error?.message.contains("looks like \(words), ") == true, "\(error?.message ?? "")")
    #expect(error?.message.contains("starts with \"\(body.prefix(3))") == true)
  }

  @Test(
    "12-L2, H27: an answer with none of the named members is no page, where items are optional too")
  func foreignPage() async {
    let google = Pagination.google.items(at: "/books")
    for body in [
      #"{"error":"gone"}"#, #"{"message":"x","code":3}"#, #"{"items":[1]}"#, #"{"ok":false}"#,
    ] {
      let run = await run(google, [(nil, body)])
      #expect(run.error?.code == .shape, "\(body)")
    }
    for body in [
      "{}", #"{"books":null}"#, #"{"nextPageToken":""}"#, #"{"totalSize":0}"#,
      #"{"kind":"storage#objects"}"#,
    ] {
      let run = await run(google, [(nil, body)])
      #expect(run.error == nil, "\(body)")
      #expect(run.items == [])
    }
    let anywhere = Pagination(next: .body("//next"), send: .query("t"), items: .optional("//book"))
    for body in [Self.error, "<Error>Busy</Error>"] {
      #expect(await run(anywhere, [("application/xml", body)]).error?.code == .shape)
    }
    #expect(await run(anywhere, [("application/xml", "<books/>")]).error == nil)
    let rooted = Pagination(
      next: .body("//next"), send: .query("t"), items: .optional("/books/book"))
    let empty = await run(rooted, [("application/xml", "<books><at>now</at></books>")])
    #expect(empty.error == nil)
  }

  @Test("12-L2: formats and marks are parts of the language, and survive it")
  func language() throws {
    var pagination = Pagination(next: .linkHeader, formats: [.json])
    pagination.policy.marks = ["/kind"]
    #expect(try Pagination(json: pagination.json.utf8) == pagination)
    #expect(throws: PageError.self) {
      try Pagination(json: #"{"next":"linkHeader","formats":["yaml"]}"#.utf8)
    }
  }
}
