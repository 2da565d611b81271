import HTTPTypes
import QuireCore
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Detection of peculiar listings", .timeLimit(.minutes(15)))
struct PeculiarListingTests {
  private let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())

  @Test(
    "12-L23, 12-L24: what a detection calls verified reads all items once, and what the request has already is found",
    arguments: PeculiarListing.all.map(\.name))
  func honest(name: String) async throws {
    let listing = try #require(PeculiarListing.all.first { $0.name == name })
    let server = CannedServer { try listing.serve($0, $1) }
    var configuration = PageClient.Configuration()
    configuration.clock = InstantClock()
    let client = PageClient(transport: server, configuration: configuration)
    let detection = try await client.detect(
      at: listing.url, request: listing.options, decoder: decoder)
    for request in server.requests {
      let text = PercentEncoding.decode(request.url)
      #expect(!text.contains("{"), "a placeholder went out: \(text)")
    }
    let tried = detection.candidates.map {
      "\($0.confidence) \($0.swift): \($0.check?.explanation ?? "-")"
    }
    guard listing.isFound else {
      #expect(detection.best?.confidence != .verified, "\(tried)")
      #expect(detection.best?.check?.result != .refuted, "\(tried)")
      #expect(detection.best == nil || detection.best?.confidence == .possible, "\(tried)")
      return
    }
    let best = try #require(detection.best, "\(tried)")
    #expect(best.confidence == .verified, "\(tried)")
    var items: [[UInt8]] = []
    for try await page in client.cursor(
      at: listing.url, pagination: best.pagination, request: listing.options, decoder: decoder)
    {
      items += page.items.map(\.compact)
    }
    #expect(items.count == PeculiarListing.count, "\(best.swift)")
    #expect(Set(items).count == PeculiarListing.count, "\(best.swift)")
  }

  @Test(
    "12-L24: a search asks few times, by no parameter twice, and not for a page that looks whole")
  func search() async throws {
    for (count, most) in [(10, 25), (7, 19)] {
      let list = (0..<count).map { "{\"id\":\($0)}" }.joined(separator: ",")
      let server = CannedServer { _, _ in .json("[\(list)]") }
      let detection = try await PageClient(transport: server)
        .detect(at: "https://api.test/things", decoder: decoder)
      #expect(detection.best == nil)
      let many = try server.requests.map {
        QueryString(try URLReference($0.url).query).pairs.map(\.name)
      }
      .filter { $0.count > 4 }
      #expect(many.isEmpty == (count == 7))
      for names in many { #expect(Set(names.map { $0.lowercased() }).count == names.count) }
      #expect(server.requests.count <= most)
      let unasked = CannedServer { _, _ in .json("[\(list)]") }
      _ = try await PageClient(transport: unasked)
        .detect(at: "https://api.test/things", checks: 0, decoder: decoder)
      #expect(unasked.requests.count == 1)
    }
  }

  @Test("12-L24: a placeholder that nothing is known of is an error, and nothing is sent")
  func unknownPlaceholder() async throws {
    let server = CannedServer { _, _ in .json("[]") }
    await #expect {
      try await PageClient(transport: server)
        .detect(at: "https://api.test/{owner}/things", decoder: decoder)
    } throws: {
      ($0 as? PageError)?.message.contains("{owner}") == true
    }
    #expect(server.requests.isEmpty)
  }

  @Test("An index of pages is verified: the pages behind its first are looked up in it")
  func index() async throws {
    let space = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\""
    let server = CannedServer { request, _ in
      let name = request.url.split(separator: "/").last ?? ""
      let body =
        name == "sitemap.xml"
        ? "<sitemapindex \(space)>"
          + (1...3).map { "<sitemap><loc>https://api.test/s\($0).xml</loc></sitemap>" }.joined()
          + "</sitemapindex>"
        : "<urlset \(space)>"
          + ["a", "b"].map { "<url><loc>https://api.test/\(name)/\($0)</loc></url>" }.joined()
          + "</urlset>"
      return .status(200, ["Content-Type": "application/xml"], body)
    }
    let detection = try await PageClient(transport: server)
      .detect(at: "https://api.test/sitemap.xml", decoder: decoder)
    let explanation = detection.best?.check?.explanation ?? "-"
    #expect(detection.best?.confidence == .verified, "\(explanation)")
    let urls = server.requests.map(\.url)
    #expect(Set(urls).count == urls.count, "\(urls)")
  }

  @Test("Braces that are encoded within a value are part of a query, and no placeholder")
  func encodedBraces() async throws {
    for fields in ["cursor", "id"] {
      let url = "https://api.test/graphql?query=%7Bthings%7B\(fields)%7D%7D"
      let server = CannedServer { _, _ in .json("[]") }
      _ = try await PageClient(transport: server).detect(at: url, checks: 0, decoder: decoder)
      #expect(server.requests.map(\.url) == [url])
    }
  }

  @Test(
    "12-L23: a description of which nothing is to be seen is not proposed, nor one for no items")
  func nothingLeadsOn() throws {
    for body in [
      #"{"items":[],"total":0}"#, #"{"count":1,"more":"x","continue_from":"abc"}"#,
      #"{"results":[{"id":1}],"count":1}"#,
    ] {
      let document = try #require(DetectorSample.document(Array(body.utf8)))
      let detection = try PaginationDetector(
        PageAnswer(
          request: PageRequest(url: "https://api.test/l"), url: "https://api.test/l", status: 200,
          headerFields: [:], document: document, position: .start)
      ).detection()
      let best = detection.best
      #expect(
        best == nil || best?.doubts.contains { $0.contains("there is no continuation") } == false)
      if !body.contains("{\"id\"") { #expect(best == nil, "\(best?.swift ?? "")") }
    }
  }
}
