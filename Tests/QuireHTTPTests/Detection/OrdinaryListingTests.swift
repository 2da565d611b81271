import HTTPTypes
import QuireCore
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Detection of ordinary listings", .timeLimit(.minutes(15)))
struct OrdinaryListingTests {
  private let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())

  @Test(
    "Ordinary listings are detected and verified by six checks, and then read to the end",
    arguments: OrdinaryListing.all.map(\.name))
  func found(name: String) async throws {
    let listing = try #require(OrdinaryListing.all.first { $0.name == name })
    let server = CannedServer { request, _ in try listing.answer(request) }
    let client = PageClient(transport: server)
    let detection = try await client.detect(at: listing.url, decoder: decoder)
    #expect(server.requests.count <= 1 + 6 * 3)
    let tried = detection.candidates.map { "\($0.swift) \($0.check?.explanation ?? "-")" }
    let best = try #require(detection.best, "\(tried)")
    #expect(best.confidence == .verified, "\(tried)")
    var items: [[UInt8]] = []
    for try await page in client.cursor(
      at: listing.url, pagination: best.pagination, decoder: decoder)
    {
      items += page.items.map(\.compact)
    }
    #expect(items.count == OrdinaryListing.total, "\(best.swift)")
    #expect(Set(items).count == OrdinaryListing.total, "\(best.swift)")
  }

  /// What one page shows, without a request.
  private func detection(_ body: String, _ url: String = "https://api.test/l") throws -> Detection {
    let document = try #require(DetectorSample.document(Array(body.utf8)))
    return try PaginationDetector(
      PageAnswer(
        request: PageRequest(url: url), url: url, status: 200, headerFields: [:],
        document: document, position: .start)
    ).detection()
  }

  @Test("A description without items is a guess where the page has a list that it does not look at")
  func misplaced() throws {
    let json = try detection(#"{"things":[{"id":1},{"id":2}],"nextCursor":"x"}"#)
    let scim = try #require(json.candidates.first { $0.preset == "scimCursor" })
    #expect(scim.confidence == .guess)
    #expect(
      scim.doubts.contains(#"there is no item at "/Resources", and "/things" has 2"#),
      "\(scim.doubts)")
    #expect(json.best?.pagination.items == "/things")
    let xml = try detection(
      "<list><total>25</total><next>https://api.test/l?p=2</next><things><thing><id>1</id></thing>"
        + "<thing><id>2</id></thing></things></list>")
    #expect(xml.candidates.allSatisfy { $0.preset != "spotify" || $0.confidence == .guess })
    #expect(xml.best?.pagination.next == .body("/list/next"))
    #expect(xml.best?.pagination.items == "/list/things/thing")
    // Nothing else is there that it might look at.
    let empty = try detection(#"{"totalResults":0,"nextCursor":"x"}"#)
    #expect(empty.best?.preset == "scimCursor", "\(empty.candidates)")
  }

  @Test(
    "A page's links to the listing's first and last page are neither continuations nor signs of one"
  )
  func endsOfListing() throws {
    let one = "https://api.test/l?page=1"
    let found = try detection(
      "{\"data\":[{\"id\":1},{\"id\":2}],\"links\":{\"first\":\"\(one)\",\"last\":\"\(one)\"}}")
    #expect(found.mayBeWhole)
    #expect(!found.candidates.contains { $0.pagination.next == .body("/links/last") })
    #expect(!found.observations.contains { $0.contains("/links/last") }, "\(found.observations)")
  }

  @Test("A size of pages is no total beside one, and fewer pages than items are no total of items")
  func sizesAndPages() throws {
    let things = "[{\"a\":1},{\"a\":2},{\"a\":3}]"
    let next = "\"links\":{\"next\":\"https://api.test/l?page=1\"}"
    let sized = try detection(
      "{\(next),\"page\":{\"size\":20,\"total_elements\":9},\"rocks\":\(things)}")
    #expect(sized.best?.pagination.total?.source == .body("/page/total_elements"))
    let paged = try detection("{\"paging\":{\"current\":1,\"total\":2},\"rocks\":\(things)}")
    let numbered = try #require(paged.candidates.first { $0.pagination.next.isCounter })
    #expect(numbered.pagination.end.contains(.pages(.body("/paging/total"))), "\(numbered.swift)")
  }

  @Test("Descriptions that send the same request for the second page are checked by one")
  func sameRequest() async throws {
    let page =
      #"{"things":[{"id":1},{"id":2}],"rocks":[{"id":3}],"next":"https://api.test/l?at=2"}"#
    let server = CannedServer { _, _ in .json(page) }
    let detection = try await PageClient(transport: server)
      .detect(at: "https://api.test/l", checks: 1, decoder: decoder)
    let checks = detection.candidates.compactMap(\.check)
    #expect(server.requests.count == 2)
    #expect(checks.count > 1 && Set(checks.map(\.request)).count == 1, "\(detection.candidates)")
    #expect(checks.contains { $0.explanation.contains("repeats the first") })
  }

  @Test(
    "What a page repeats of its request tells an offset from a page's number, and its parameter")
  func echoes() throws {
    for (echo, parameter) in [
      ("offset", "offset"), ("skip", "skip"), ("startIndex", "startIndex"), ("page", "page"),
    ] {
      let number = parameter == "page" ? 1 : 0
      let found = try detection(
        "{\"\(echo)\":\(number),\"total\":9,\"rocks\":[{\"a\":1},{\"a\":2}]}")
      let first = try #require(found.candidates.first)
      #expect(first.pagination.send == .query(parameter), "\(echo): \(first.swift)")
      #expect(
        first.evidence.contains("\"/\(echo)\" is \(number), as sent for the first page"),
        "\(first.evidence)")
    }
    let fromOne = try detection(#"{"startIndex":1,"total":9,"rocks":[{"a":1},{"a":2}]}"#)
    #expect(fromOne.candidates.first?.pagination.next == .offset(first: 1))
    #expect(
      try detection(#"{"page":0,"total":9,"rocks":[{"a":1}]}"#).candidates.first?.swift
        .contains(".pageNumber(first: 0)") == true)
  }

  @Test("A page size goes with what presets have beside it, and a `first` that is one is no offset")
  func besideSize() throws {
    func sends(_ query: String) throws -> [Pagination.Placement] {
      try detection(#"[{"a":1},{"a":2}]"#, "https://api.test/l?" + query)
        .candidates.map(\.pagination.send)
    }
    #expect(try sends("max=2").contains(.query("first")))
    #expect(try sends("first=0").first == .query("first"))
    #expect(try !sends("first=20").contains(.query("first")))
    #expect(try !sends("maxPageSize=2").contains(.query("maxPageNumber")))
  }

  @Test("A page size goes with `page` and a number that is called after it, and neither is likely")
  func besidePageSize() throws {
    let found = try detection(
      #"{"totalCount":9,"rocks":[{"a":1},{"a":2}]}"#, "https://api.test/l?page_size=2")
    for name in ["page", "page_number"] {
      let candidate = try #require(found.candidates.first { $0.pagination.send == .query(name) })
      #expect(candidate.evidence.contains { $0.contains("page size has a name") }, "\(name)")
    }
    #expect(found.candidates.allSatisfy { $0.confidence < .likely }, "\(found.candidates)")
  }

  @Test("Finding one of several places tells as much as finding it where it is the only one")
  func rarity() throws {
    let vocabulary = PaginationVocabulary.shared
    let link = DescriptionTrait(.next, .link(relation: "next", conditions: [:]))
    var alternative = link
    alternative.isAlternative = true
    #expect(vocabulary.information(of: alternative) == vocabulary.information(of: link))
    let unknown = DescriptionTrait(.next, .link(relation: "unheard-of", conditions: [:]))
    #expect(vocabulary.information(of: unknown) != vocabulary.information(of: link))
  }
}
