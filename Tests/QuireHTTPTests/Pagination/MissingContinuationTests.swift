import HTTPTypes
import QuireCore
import QuireTesting
import TestSupport
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Continuations that are missing or cannot be read")
struct MissingContinuationTests {
  /// Walks a listing whose pages are the answers, and returns its items and its error.
  private func walk(
    _ pagination: Pagination, pageSize: Int? = nil, _ answers: [TransportResponse]
  ) async -> (count: Int, error: PageError?) {
    let client = PageClient(transport: CannedServer(answers))
    var count = 0
    do {
      for try await page in client.cursor(
        of: JSONValue.self, at: "https://a.test/l", pagination: pagination, pageSize: pageSize)
      {
        count += page.items.count
      }
      return (count, nil)
    } catch {
      return (count, error as? PageError)
    }
  }

  @Test("The end is not told by an item without the key, where the description has another end")
  func missingKeys() async throws {
    let last = #"[{"id":3},{"id":null}]"#
    for body in [last, #"[{"id":3},{}]"#, #"[{"id":3},null]"#] {
      let result = await walk(.keyset, [.json(#"[{"id":1},{"id":2}]"#), .json(body)])
      #expect(result.count == 4)
      #expect(result.error?.code == .inconsistentTermination, "\(body)")
      #expect(result.error?.message.contains("/id") == true)
    }
    let next = Pagination(
      next: .lastItem("/id"), send: .query("after"), end: [.noNext()], items: "")
    #expect(await walk(next, [.json(last)]).error == nil)
    let short = Pagination(
      next: .lastItem("/id"), send: .query("after"), end: [.shortPage], items: "",
      size: Pagination.PageSize(.query("n")))
    #expect(await walk(short, pageSize: 3, [.json(last)]).error == nil)
    #expect(await walk(short, pageSize: 2, [.json(last)]).error != nil)
  }

  @Test("Nor is it told by a page without the number or the range that an offset is made of")
  func missingSteps() async throws {
    let first = TransportResponse.json(#"{"data":[1,2],"n":2}"#, ["Content-Range": "items 0-1/*"])
    func listing(_ next: Pagination.Next, _ end: [Pagination.End]) -> Pagination {
      Pagination(next: next, send: .query("from"), end: end, items: "/data")
    }
    for next in [Pagination.Next.offset(step: .body("/n")), .contentRange()] {
      for body in [#"{"data":[3]}"#, #"{"data":[3],"n":-1}"#, #"{"data":[3],"n":"x"}"#] {
        let result = await walk(listing(next, [.emptyPage]), [first, .json(body)])
        #expect(result.count == 3)
        #expect(result.error?.code == .inconsistentTermination, "\(next), \(body)")
        let told = await walk(listing(next, [.emptyPage, .noNext()]), [first, .json(body)])
        #expect(told.count == 3 && told.error == nil, "\(next), \(body)")
      }
      let empty = await walk(listing(next, [.emptyPage]), [first, .json(#"{"data":[]}"#)])
      #expect(empty.count == 2 && empty.error == nil, "\(next)")
    }
  }

  @Test("A Link field that mentions the next page and cannot be read fails behind its page")
  func brokenLinks() async throws {
    let result = await walk(
      .linkHeader, [.json("[1,2]", ["Link": #"</l?p=2; rel="next""#])])
    #expect(result.count == 2 && result.error?.code == .refusedLink)
    #expect(await walk(.linkHeader, [.json("[1]", ["Link": "</l>; rel=self, x"])]).error == nil)
  }

  @Test("A cursor in a header field is sent as it came, or is an error")
  func headerCursors() async throws {
    let pagination = Pagination(next: .header("X-Next"), send: .query("c"), items: "")
    let field = try #require(HTTPField.Name("X-Next"))
    func answer(_ values: [String]) -> TransportResponse {
      var response = TransportResponse.json("[1]")
      for value in values {
        response.head.headerFields.append(HTTPField(name: field, value: value))
      }
      return response
    }
    for values in [["b", "c"], ["caf\u{FFFD}"]] {
      let result = await walk(pagination, [answer(values)])
      #expect(result.count == 1 && result.error?.code == .invalidCursor, "\(values)")
    }
    #expect(await walk(pagination, [answer(["b", "b"]), .json("[2]")]).error == nil)
  }

  @Test("A page that is null is no empty page, also where items are optional; an empty object is")
  func nullPage() async throws {
    let pagination = Pagination(
      next: .body("/next"), send: .query("c"), items: .optional(.path("/items")))
    let first = TransportResponse.json(#"{"items":[1],"next":"b"}"#)
    #expect(await walk(pagination, [first, .json("null")]).error?.code == .shape)
    #expect(await walk(pagination, [first, .json("{}")]).error == nil)
  }
}
