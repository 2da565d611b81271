import TestSupport
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

@Suite("Fields of a page, and errors that name what the page has", .timeLimit(.minutes(15)))
struct PageFieldTests {
  private struct Meta: Decodable, Equatable { let syncedAt: Date }
  private struct Row: Decodable, Sendable {
    let rowID: Int
    enum CodingKeys: String, CodingKey { case rowID = "rowId" }
  }

  private func walk(
    _ answer: TransportResponse, decoder: JSONDecoder,
    change: (inout PageClient.Configuration) -> Void = { _ in }
  ) -> Walk<Row> {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    change(&configuration)
    return PageClient(transport: CannedServer([answer]), configuration: configuration).cursor(
      of: Row.self, at: "https://h.test/rows",
      pagination: Pagination(next: .body("/next"), items: "/rows"), decoder: decoder
    ).walk()
  }

  private var snake: JSONDecoder {
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    return decoder
  }

  @Test(
    "12-A4, C-12: a field is decoded as the listing's items are: key and date strategies included")
  func fields() async throws {
    let page =
      #"{"rows": [{"row_id": 1}], "meta": {"synced_at": "2026-01-02T03:04:05Z"}, "n": null}"#
    let walk = walk(.json(page), decoder: snake)
    let first = try #require(try await walk.next())
    let meta = try first.field("/meta", as: Meta.self)
    #expect(meta?.syncedAt == Date(timeIntervalSince1970: 1_767_323_045))
    #expect(try first.field("/n", as: Int.self) == nil)
    #expect(try first.field("/absent", as: Int.self) == nil)
    #expect(try first.withItems([0]).field("/meta", as: Meta.self) == meta)
  }

  @Test(
    "12-A4: a field that does not fit is a PageError that names the path by the page's own names")
  func wrongFields() async throws {
    let walk = walk(
      .json(#"{"rows": [], "meta": {"synced_at": [5]}, "list": [{"row_id": "x"}]}"#),
      decoder: snake)
    let page = try #require(try await walk.next())
    let date = #expect(throws: PageError.self) { try page.field("/meta", as: Meta.self) }
    #expect(date?.code == .fieldDecoding)
    #expect(
      date?.message.contains("The page's field at \"/meta\" cannot be decoded, at /synced_at:")
        == true)
    #expect(date?.underlying is DecodingError)
    let list = #expect(throws: PageError.self) { try page.field("/list", as: [Row].self) }
    #expect(list?.message.contains("at /0/row_id") == true)
  }

  @Test("12-A4, D-3: an item's error shows the names in the page, not those of a key strategy")
  func convertedKeys() async throws {
    let custom = JSONDecoder()
    custom.keyDecodingStrategy = .custom { path in
      struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
      }
      let name = path.last?.stringValue ?? ""
      return Key(stringValue: name.hasPrefix("x-") ? String(name.dropFirst(2)) : name)
    }
    for (decoder, name) in [(snake, "row_id"), (custom, "x-rowId")] {
      let walk = walk(
        .json("{\"rows\": [{\"\(name)\": 1}, {\"\(name)\": \"a\"}]}"), decoder: decoder)
      let error = await #expect(throws: PageError.self) { try await walk.next() }
      #expect(
        error?.message.contains(
          "Item 1 of the page cannot be decoded, at /\(name) (items are counted from 0): ") == true)
      #expect(error?.underlying is DecodingError)
    }
    let missing = walk(.json(#"{"rows": [{}]}"#), decoder: snake)
    let error = await #expect(throws: PageError.self) { try await missing.next() }
    #expect(
      error?.message.contains(
        "The member \"row_id\" is missing, which the decoder calls \"rowId\".")
        == true)
  }

  @Test("12-A4: an error about an unproven end names the setting that accepts it")
  func unprovenEnd() async throws {
    let server = CannedServer([.status(200, [:], "a,b", framing: .untilClose)])
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let walk = PageClient(transport: server, configuration: configuration).cursor(
      at: "https://h.test/x", pagination: .linkHeader, decoder: BytesPageDecoder()
    ).walk()
    let error = await #expect(throws: PageError.self) { try await walk.next() }
    #expect(error?.description.contains("configuration.acceptsUnprovenEnd") == true)
  }

  @Test("12-A4: where redirects led is on the page and in the error; what failed is a public type")
  func redirects() async throws {
    func server(_ last: TransportResponse) -> CannedServer {
      CannedServer([
        .status(302, ["Location": "https://h.test/elsewhere?token=abcdefgh&page=2"]), last,
      ])
    }
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    func walk(_ last: TransportResponse) -> Walk<Int> {
      PageClient(transport: server(last), configuration: configuration).cursor(
        of: Int.self, at: "https://h.test/x", pagination: .linkHeader
      ).walk()
    }
    let page = try await walk(.json("[1]")).next()
    #expect(page?.http?.url == "https://h.test/elsewhere?token=abcdefgh&page=2")
    for answer in [TransportResponse.status(404), .json("{"), .json("{}")] {
      let error = await #expect(throws: PageError.self) { try await walk(answer).next() }
      #expect(error?.request == "GET https://h.test/x")
      #expect(error?.redirectedTo == "https://h.test/elsewhere?token=…&page=2")
      #expect("\(error.map { "\($0)" } ?? "")".contains("redirected to https://h.test/elsewhere"))
    }
    let refused = await #expect(throws: PageError.self) { try await walk(.status(404)).next() }
    #expect((refused?.underlying as? HTTPFailure)?.response.head.status == .notFound)
    #expect("\((refused?.underlying as? HTTPFailure).map { "\($0)" } ?? "")" == "404")
  }
}
