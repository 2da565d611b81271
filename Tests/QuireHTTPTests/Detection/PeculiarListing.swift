import HTTPTypes
import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A listing whose server does not do what a detector would like it to.
struct PeculiarListing: Sendable {
  /// What a request says, and how often one was made.
  struct Request {
    var url: String
    var query: QueryString
    var body: JSONValue
    var fields: HTTPFields
    var ordinal: Int

    func number(_ name: String) -> Int? { query[name].flatMap { Int($0) } }
  }

  static let size = 10
  static let count = 47

  var name: String
  var url = "https://api.test/things"
  var options = PageClient.RequestOptions()
  /// Whether there is a description that a detector has to find.
  var isFound: Bool
  var answer: @Sendable (Request) -> TransportResponse

  func serve(_ request: TransportRequest, _ ordinal: Int) throws -> TransportResponse {
    let text = String(decoding: request.body, as: UTF8.self)
    let document = try? JSONDocument(Array(text.utf8))
    let body = document.flatMap { (try? $0.value(at: "")) ?? nil } ?? .null
    return answer(
      Request(
        url: request.url, query: QueryString(try URLReference(request.url).query), body: body,
        fields: request.head.headerFields, ordinal: ordinal))
  }

  // MARK: Pages

  /// The items from `start` on.
  static func items(
    _ start: Int, count: Int = size, _ item: (Int) -> String = { "{\"id\":\($0 * 3 + 7)}" }
  ) -> String {
    let first = min(max(start, 0), Self.count)
    return "[" + (first..<min(first + count, Self.count)).map(item).joined(separator: ",") + "]"
  }

  private static func next(_ start: Int) -> Int? {
    start + size < count ? start + size : nil
  }

  private static func token(_ start: Int) -> String {
    next(start).map { "\"t\($0)\"" } ?? "null"
  }

  private static func start(_ text: String?) -> Int {
    Int(text?.dropFirst() ?? "") ?? 0
  }

  static let all: [PeculiarListing] =
    misleading + volatile + refusing + asked + slices + pageCounts
    + otherFormats + illusory + ended + documented + surveyed + unusual + uncommon

  // MARK: Ends and lists that are none

  private static let illusory: [PeculiarListing] = [
    .init(name: "a collection whose last page leads nowhere, and whose first one on", isFound: true)
    {
      request in
      guard let from = request.number("from") else {
        return .json(
          "{\"type\":\"OrderedCollection\",\"totalItems\":\(count),"
            + "\"first\":\"https://api.test/things?from=0\",\"last\":\"https://api.test/things?from=40\"}"
        )
      }
      let next = next(from).map { ",\"next\":\"https://api.test/things?from=\($0)\"" } ?? ""
      return .json(
        "{\"type\":\"OrderedCollectionPage\",\"orderedItems\":\(items(from))\(next)}")
    },
    .init(
      name: "a total of this page alone, which is as long as was asked for",
      url: "https://api.test/things?limit=10", isFound: false
    ) { request in
      .json("{\"objects\":\(items(request.number("after") ?? 0)),\"totalResults\":10}")
    },
    .init(name: "a total of this page alone, which is as long as many pages are", isFound: false) {
      request in
      .json("{\"objects\":\(items(request.number("after") ?? 0)),\"totalResults\":10}")
    },
    .init(name: "a list of errors that is empty beside an object of items", isFound: false) { _ in
      .json(
        "{\"error\":[],\"result\":{\"ledger\":{\"A\":{\"id\":1},\"B\":{\"id\":2}},\"count\":\(count)}}"
      )
    },
  ]

  // MARK: Words for no next page

  private static let ended: [PeculiarListing] = [
    .init(name: "a next page that is 0 behind the last", isFound: true) { request in
      let page = request.number("page") ?? 1
      return .json(
        "{\"items\":\(items((page - 1) * size)),\"nextPage\":\(page * size < count ? page + 1 : 0)}"
      )
    },
    .init(name: "a next offset that is -1 behind the last", isFound: true) { request in
      let start = request.number("offset") ?? 0
      return .json("{\"items\":\(items(start)),\"nextOffset\":\(next(start) ?? -1)}")
    },
  ]

  // MARK: Tokens under names that mean something else

  private static let misleading: [PeculiarListing] = [
    .init(name: "a token where \"cursor\" is a filter that leaves one item", isFound: false) {
      request in
      if request.query["cursor"] != nil {
        return .json("{\"items\":[{\"id\":9999}],\"next_cursor\":\"u1\",\"total\":\(count)}")
      }
      return .json("{\"items\":\(items(0)),\"next_cursor\":\"t10\",\"total\":\(count)}")
    },
    .init(name: "a token where \"cursor\" is a filter that leaves the last item", isFound: false) {
      request in
      if request.query["cursor"] != nil {
        return .json("{\"items\":[{\"id\":9999}],\"next_cursor\":null,\"total\":\(count)}")
      }
      return .json("{\"items\":\(items(0)),\"next_cursor\":\"t10\",\"total\":\(count)}")
    },
    .init(
      name: "an offset under \"next\" where \"page\" leaps over a hundred items", isFound: true
    ) { request in
      let start = ((request.number("page") ?? 1) - 1) * size
      return .json("{\"items\":\(items(start)),\"next_page\":\(start + size)}")
    },
    .init(name: "an offset under \"next\" where \"page\" counts in pages", isFound: true) {
      request in
      let start = ((request.number("page") ?? 1) - 1) * size
      let next = start + size < count ? String(start + size) : "null"
      return .json("{\"items\":\(items(start)),\"next_page\":\(next)}")
    },
    .init(name: "pages from 0, and nothing says so", isFound: true) { request in
      .json(items((request.number("page") ?? 0) * size))
    },
    .init(
      name: "an offset that counts pages", url: "https://api.test/things?offset=0", isFound: true
    ) { .json(items(($0.number("offset") ?? 0) * 3, count: 3)) },
    .init(name: "an offset that counts pages, from 1, and is repeated", isFound: true) { request in
      let page = request.number("offset") ?? 1
      return .json(
        "{\"offset\":\(page),\"total\":\(count),\"items\":\(items((page - 1) * 3, count: 3))}")
    },
    .init(
      name: "an offset that counts pages, and two are all there are",
      url: "https://api.test/things?offset=0", isFound: true
    ) { request in
      let page = request.number("offset") ?? 0
      return .json(
        "{\"total\":\(count),\"items\":\(items(page * 40, count: page < 2 ? 40 : 0))}")
    },
    .init(name: "a token that goes by \"offset\", which also counts", isFound: true) { request in
      let start = request.number("offset") ?? start(request.query["resume"])
      return .json("{\"items\":\(items(start)),\"next\":\(token(start))}")
    },
    .init(name: "a \"next\" that names the next chapter", isFound: false) { _ in
      .json("{\"items\":\(items(0)),\"next\":\"Chapter 2\",\"total\":\(count)}")
    },
    .init(name: "every cursor brings a page from anywhere", isFound: false) { request in
      .json(
        "{\"items\":\(items(request.ordinal * 3 % 40)),\"next_cursor\":\"c\(request.ordinal)\"}")
    },
  ]

  // MARK: Items with volatile members

  private static func volatile(_ name: String, item: @escaping @Sendable (Int, Int) -> String)
    -> PeculiarListing
  {
    .init(name: "volatile members: \(name)", isFound: false) { request in
      let list = items(0) { item($0, request.ordinal) }
      return .json("{\"items\":\(list),\"next_cursor\":\"c\(request.ordinal)\",\"total\":\(count)}")
    }
  }

  private static let volatile: [PeculiarListing] = [
    volatile("an age") { "{\"id\":\($0),\"age\":\($1 * 1000 + $0)}" },
    volatile("a time without an id") { "{\"street\":\"s\($0)\",\"seen\":\($1 * 1000 + $0)}" },
    volatile("an id inside") { "{\"age\":\($1 * 1000 + $0),\"node\":{\"id\":\"n\($0)\"}}" },
    volatile("a new id for everything") {
      "{\"id\":\"r\($1)-\($0)\",\"name\":\"n\($0)\",\"mail\":\"m\($0)\",\"born\":\"b\($0)\"}"
    },
    volatile("a request's id") { "{\"requestId\":\"r\($1)-\($0)\",\"title\":\"n\($0)\"}" },
    .init(name: "volatile members in a listing that goes on", isFound: true) { request in
      let start = start(request.query["cursor"])
      let list = items(start) { "{\"id\":\($0),\"age\":\(request.ordinal * 1000 + $0)}" }
      return .json("{\"items\":\(list),\"next_cursor\":\(token(start))}")
    },
    .init(name: "ranks that begin anew on every page", isFound: true) { request in
      let start = start(request.query["cursor"])
      let list = items(start) { "{\"rank\":\($0 % size),\"name\":\"n\($0)\"}" }
      return .json("{\"items\":\(list),\"next_cursor\":\(token(start))}")
    },
  ]

  // MARK: Servers that refuse what a check asks

  private static func refusing(_ status: Int) -> PeculiarListing {
    .init(name: "every further page is \(status)", isFound: false) { request in
      if request.ordinal > 0 { return .status(status, [:], "{\"error\":\"no\"}") }
      return .json(
        "{\"results\":\(items(0)),\"next\":\"https://api.test/things?p=2\",\"count\":\(count)}")
    }
  }

  private static let refusing: [PeculiarListing] =
    [400, 403, 404, 410, 422, 500, 501, 503].map(refusing) + [
      .init(name: "the third page is 500", isFound: false) { request in
        let start = start(request.query["cursor"])
        if start > 10 { return .status(500) }
        return .json("{\"items\":\(items(start)),\"next_cursor\":\(token(start))}")
      },
      .init(name: "the third page is the first again", isFound: false) { request in
        let start = start(request.query["cursor"]) % 20
        return .json("{\"items\":\(items(start)),\"next_cursor\":\"t\(start + 10)\"}")
      },
    ]

  // MARK: Parameters that the request has

  private static let asked: [PeculiarListing] = [
    .init(name: "from=0", url: "https://api.test/things?from=0", isFound: true) { request in
      .json("{\"things\":\(items(request.number("from") ?? 0))}")
    },
    .init(name: "Offset=0", url: "https://api.test/things?Offset=0", isFound: true) { request in
      .json("{\"Things\":\(items(request.number("Offset") ?? 0))}")
    },
    .init(name: "since=0 is the last id", url: "https://api.test/things?since=0", isFound: true) {
      request in
      let since = request.number("since") ?? 0
      return .json(items(since == 0 ? 0 : (since - 7) / 3 + 1))
    },
    .init(name: "P=1", url: "https://api.test/things?P=1", isFound: true) { request in
      .json(items(((request.number("P") ?? 1) - 1) * size))
    },
    .init(name: "Marker", isFound: true) { request in
      let start = start(request.query["Marker"])
      return .json("{\"Things\":\(items(start)),\"NextMarker\":\(token(start))}")
    },
    .init(
      name: "Since in a body",
      options: .init(method: .post, body: .json(["Since": 0, "Kind": "all"])), isFound: true
    ) { request in
      let since = request.body["Since"]?.integer ?? 0
      return .json("{\"Rows\":\(items(since == 0 ? 0 : (since - 7) / 3 + 1))}")
    },
    .init(
      name: "a cursor in variables",
      options: .init(
        method: .post, body: .json(["query": "{things}", "variables": ["cursor": .null]])),
      isFound: true
    ) { request in
      let start = start(request.body["variables"]?["cursor"]?.string)
      return .json(
        "{\"data\":{\"things\":{\"list\":\(items(start)),\"nextCursor\":\(token(start))}}}")
    },
    .init(name: "the answer's own name of its number", isFound: true) { request in
      let page = request.number("pageNumber") ?? 1
      return .json(
        "{\"items\":\(items((page - 1) * size)),\"pageNumber\":\(page),\"pageCount\":5}")
    },
    .init(name: "pageNo=1", url: "https://api.test/things?pageNo=1", isFound: true) { request in
      .json("{\"items\":\(items(((request.number("pageNo") ?? 99) - 1) * size))}")
    },
    .init(name: "startRow=0", url: "https://api.test/things?startRow=0", isFound: true) { request in
      .json("{\"items\":\(items(request.number("startRow") ?? 99))}")
    },
    .init(name: "a placeholder", url: "https://api.test/things/{page}", isFound: true) { request in
      let page = request.url.split(separator: "/").last.flatMap { Int($0) } ?? 99
      return .json(items((page - 1) * size))
    },
    .init(
      name: "a placeholder for an offset", url: "https://api.test/things?at={offset}", isFound: true
    ) { .json(items($0.number("at") ?? 99)) },
    .init(
      name: "a placeholder within a parameter, encoded as programs do it",
      url: "https://api.test/things?range=%7Boffset%7D-99", isFound: true
    ) { request in
      let start = request.query["range"].flatMap { Int($0.prefix { $0 != "-" }) }
      return .json(items(start ?? 99))
    },
    .init(
      name: "a placeholder for a cursor", url: "https://api.test/things?at={cursor}", isFound: true
    ) { request in
      let start = start(request.query["at"])
      return .json("{\"items\":\(items(start)),\"next_cursor\":\(token(start))}")
    },
  ]

  /// json-server's lists, which have what is between `_start` and `_end`, or as many as `_limit` says.
  @Sendable private static func sliced(_ request: Request) -> TransportResponse {
    let start = request.number("_start") ?? 0
    let length = request.number("_end").map { $0 - start } ?? request.number("_limit") ?? count
    return .json(items(start, count: max(0, length)))
  }

  private static let slices: [PeculiarListing] = ["_start=0&_end=10", "_end=10", "_limit=10"].map {
    .init(name: $0, url: "https://api.test/things?\($0)", isFound: true, answer: sliced)
  }

  // MARK: Totals that are none

  private static let pageCounts: [PeculiarListing] = [
    .init(name: "a count of the page's own items, beside its number", isFound: true) { request in
      let page = request.number("page") ?? 1
      let start = (page - 1) * size
      let own = max(0, min(size, count - start))
      return .json("{\"items\":\(items(start)),\"count\":\(own),\"page\":\(page)}")
    },
    .init(
      name: "a total of the page's own items, beside its offset",
      url: "https://api.test/things?limit=10&offset=0", isFound: true
    ) { request in
      let start = request.number("offset") ?? 0
      let own = max(0, min(size, count - start))
      return .json("{\"items\":\(items(start)),\"total\":\(own),\"offset\":\(start)}")
    },
  ]

  // MARK: Parameters that only a search finds

  /// A listing that is counted by a parameter which nothing in its answers names.
  private static func counted(
    by name: String, from first: Int = 0, _ page: @escaping @Sendable (String) -> String
  ) -> PeculiarListing {
    .init(name: "counted by \(name)", isFound: true) { request in
      .json(page(items((request.number(name) ?? first) - first)))
    }
  }

  private static let unusual: [PeculiarListing] = [
    counted(by: "skip") { "{\"entity\":\"collection\",\"count\":10,\"items\":\($0)}" },
    counted(by: "startRow") { "{\"totalResultsCount\":\(count),\"places\":\($0)}" },
    counted(by: "page[from]") { "{\"stats\":{\"total\":\(count)},\"results\":\($0)}" },
    counted(by: "_skip") { "{\"total_results\":\(count),\"data\":\($0)}" },
    .init(name: "numbered by page_number", isFound: true) { request in
      .json(items(((request.number("page_number") ?? 1) - 1) * size))
    },
    .init(name: "a time as token, sent as \"until\"", isFound: true) { request in
      let start = request.number("until").map { 5_000 - $0 } ?? 0
      let next = next(start).map { String(5_000 - $0) } ?? "null"
      return .json("{\"projects\":\(items(start)),\"pagination\":{\"next\":\(next)}}")
    },
    .init(name: "the last order's number as \"after\", newest first", isFound: true) { request in
      let start = request.number("after").map { 9_000 - $0 + 1 } ?? 0
      return .json("{\"code\":\"0\",\"data\":\(items(start) { "{\"ordId\":\"\(9_000 - $0)\"}" })}")
    },
    .init(name: "a cursor in each item", isFound: true) { request in
      let start = request.query["cursor"].map { Self.start($0) + 1 } ?? 0
      return .json(items(start) { "{\"cursor\":\"t\($0)\",\"service\":{\"name\":\"s\($0)\"}}" })
    },
    .init(
      name: "parameters that are unknown are refused, and so are names of a search", isFound: false
    ) {
      request in
      request.query.pairs.isEmpty
        ? .json("{\"count\":10,\"items\":\(items(0))}")
        : .status(400, ["Content-Type": "application/json"], "{\"error\":\"unknown parameter\"}")
    },
  ]

  // MARK: XML

  private static func xml(_ start: Int, _ head: String) -> TransportResponse {
    let first = min(start, count)
    let list = (first..<min(first + size, count)).map { "<thing><id>\($0)</id></thing>" }
    return .status(
      200, ["Content-Type": "application/xml"],
      "<list>\(head)<things>\(list.joined())</things></list>")
  }

  private static let otherFormats: [PeculiarListing] = [
    .init(name: "XML in a wrap, and the page is ignored", isFound: false) { request in
      .status(
        200, ["Content-Type": "application/xml"],
        "<list><things at='\(request.ordinal)'><thing><id>1</id></thing><thing><id>2</id></thing>"
          + "</things></list>")
    },
    .init(name: "XML, items that hold attributes alone", isFound: true) { request in
      let start = ((request.number("page") ?? 1) - 1) * size
      let things = (min(start, count)..<min(start + size, count)).map {
        "<thing id='\($0)' name='n\($0)'/>"
      }
      return .status(
        200, ["Content-Type": "application/xml"],
        "<list page='\(start / size + 1)' pages='5'>\(things.joined())</list>")
    },
    .init(name: "XML, a cursor", isFound: true) { request in
      let start = start(request.query["cursor"])
      return xml(start, next(start).map { "<next>t\($0)</next>" } ?? "<next/>")
    },
    .init(name: "XML, Offset=0", url: "https://api.test/things?Offset=0", isFound: true) {
      request in
      xml(request.number("Offset") ?? 0, "")
    },
  ]
}
