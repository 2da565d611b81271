import HTTPTypes
import QuireCore

@testable import QuireHTTP
@testable import QuirePagination

/// Listings of public services whose pages say in an uncommon way where the next one is.
extension PeculiarListing {
  static let uncommon: [PeculiarListing] =
    tokens + fields + inBodies + links + maps + numbers + [
      .init(
        name: "Dojo, a range with a unit",
        options: .init(headers: [.range: "items=0-9"]), isFound: true
      ) { request in
        guard let range = request.fields[.range], range.hasPrefix("items="),
          let span = ItemRange(range)?.range
        else { return .json(items(0, count: count)) }
        let last = min(span.upperBound, count - 1)
        return .status(
          206, ["Content-Range": "items \(span.lowerBound)-\(last)/\(count)"],
          items(span.lowerBound, count: span.count))
      }
    ]

  private static func start(after token: String?) -> Int {
    Int(token?.dropFirst() ?? "") ?? 0
  }

  private static func token(behind start: Int) -> String {
    start + size < count ? "\"t\(start + size)\"" : "null"
  }

  // MARK: Tokens

  private static let tokens: [PeculiarListing] = [
    .init(
      name: "Dynatrace, a key that goes alone",
      url: "https://api.test/things?entitySelector=host&pageSize=10", isFound: true
    ) { request in
      let key = request.query["nextPageKey"]
      if key != nil, request.query.pairs.count > 1 { return .status(400, [:], "{\"error\":\"\"}") }
      let start = start(after: key)
      return .json(
        "{\"totalCount\":\(count),\"entities\":\(items(start)),\"nextPageKey\":"
          + "\(token(behind: start))}")
    },
    .init(name: "Tenor, a position", isFound: true) { request in
      let start = start(after: request.query["pos"])
      return .json("{\"results\":\(items(start)),\"next\":\(token(behind: start))}")
    },
    .init(name: "HubSpot, a contact's number", isFound: true) { request in
      let start = request.number("vidOffset") ?? 0
      return .json(
        "{\"contacts\":\(items(start)),\"has-more\":\(start + size < count),"
          + "\"vid-offset\":\(start + size)}")
    },
    beside("page.size", "page.token", "nextToken"),
    beside("request[limit]", "request[cursor]", "nextCursor"),
    beside("pagination.page_size", "pagination.page_token", "nextPageToken"),
    beside("pagination[count]", "pagination[cursor]", "next"),
  ]

  /// A listing whose token goes where the request's page size is.
  private static func beside(
    _ pageSize: String, _ parameter: String, _ name: String
  ) -> PeculiarListing {
    .init(
      name: "a token as \(parameter)", url: "https://api.test/things?\(pageSize)=10", isFound: true
    ) { request in
      let start = start(after: request.query[parameter])
      return .json("{\"things\":\(items(start)),\"\(name)\":\(token(behind: start))}")
    }
  }

  // MARK: Header fields

  private static func field(
    _ name: String, _ next: String, start: @escaping @Sendable (Request) -> Int
  ) -> PeculiarListing {
    .init(name: "a continuation in \(name)", isFound: true) { request in
      let start = start(request)
      return .status(
        200, start + size < count ? [name: "\(next)\(start + size)"] : [:], items(start))
    }
  }

  private static let fields: [PeculiarListing] = [
    field("After-Cursor", "t") { start(after: $0.query["cursor"]) },
    field("X-Pagination-Cursor-Next", "t") { request in
      start(after: HTTPField.Name("X-Pagination-Cursor").flatMap { request.fields[$0] })
    },
    field("NextPageUri", "https://api.test/things?nextPage=t") {
      start(after: $0.query["nextPage"])
    },
  ]

  // MARK: Bodies of JSON

  private static let inBodies: [PeculiarListing] = [
    .init(
      name: "AppSync, a variable that the query declares",
      options: .init(
        method: .post, body: .json(["query": "query($nextToken: String) { list { items } }"])),
      isFound: true
    ) { request in
      let start = start(after: request.body["variables"]?["nextToken"]?.string)
      return .json(
        "{\"data\":{\"list\":{\"items\":\(items(start)),\"nextToken\":\(token(behind: start))}}}")
    },
    .init(
      name: "App Search, a page's number within what is called page",
      options: .init(method: .post, body: .json(["query": ""])), isFound: true
    ) { request in
      if request.body["page"]?.integer != nil { return .status(400, [:], "{\"error\":\"\"}") }
      let page = request.body["page"]?["current"]?.integer ?? 1
      return .json(
        "{\"meta\":{\"page\":{\"current\":\(page),\"total_pages\":5,\"total_results\":\(count)}},"
          + "\"results\":\(items((page - 1) * size))}")
    },
  ]

  // MARK: Links

  private static func xml(
    _ parameter: String, _ page: @escaping @Sendable (String, String?) -> String
  ) -> @Sendable (Request) -> TransportResponse {
    { request in
      let start = request.number(parameter) ?? 0
      let things = (min(start, count)..<min(start + size, count)).map {
        "<Host><ID>\($0 + 700)</ID></Host>"
      }
      let next =
        start + size < count
        ? "https://api.test/things?action=list&amp;\(parameter)=\(start + size)" : nil
      return .status(
        200, ["Content-Type": "application/xml"], page(things.joined(), next))
    }
  }

  private static let links: [PeculiarListing] = [
    .init(
      name: "Qualys, a link to the listing under a name that says nothing",
      url: "https://api.test/things?action=list", isFound: true,
      answer: xml("id_min") { things, next in
        "<Output><Response><List>\(things)</List>"
          + (next.map { "<Warning><Code>1980</Code><URL>\($0)</URL></Warning>" } ?? "")
          + "</Response></Output>"
      }),
    .init(
      name: "OSLC in RDF, a link in an attribute", url: "https://api.test/things?action=list",
      isFound: true,
      answer: xml("start.at") { things, next in
        "<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><Info>"
          + (next.map { "<nextPage r:resource='\($0)'/>" } ?? "")
          + "</Info><List>\(things)</List></r:RDF>"
      }),
  ]

  // MARK: Items under their own identifiers

  private static func map(_ start: Int) -> String {
    let first = min(max(start, 0), count)
    let members = (first..<min(first + size, count)).map {
      "\"u\($0)\":{\"id\":\($0),\"name\":\"n\($0)\"}"
    }
    return "{" + members.joined(separator: ",") + "}"
  }

  private static let maps: [PeculiarListing] = [
    .init(name: "Kraken, an object of trades and an offset that only a search finds", isFound: true)
    { request in
      .json(
        "{\"error\":[],\"result\":{\"trades\":\(map(request.number("ofs") ?? 0)),"
          + "\"count\":\(count)}}")
    },
    .init(name: "an object of users beside a cursor", isFound: true) { request in
      let start = start(after: request.query["cursor"])
      return .json("{\"users\":\(map(start)),\"next_cursor\":\(token(behind: start))}")
    },
    .init(name: "a page that is an object of items", isFound: true) { request in
      .json(map(((request.number("page") ?? 1) - 1) * size))
    },
  ]

  // MARK: Numbers

  private static let numbers: [PeculiarListing] = [
    .init(name: "Nuxeo, the current page's index", isFound: true) { request in
      let page = request.number("currentPageIndex") ?? 0
      return .json(
        "{\"resultsCount\":\(count),\"currentPageIndex\":\(page),\"numberOfPages\":5,"
          + "\"pageIndex\":\(page),\"entries\":\(items(page * size))}")
    },
    .init(
      name: "API-Football, as many pages as items of each, and no other total", isFound: true
    ) { request in
      let start = ((request.number("page") ?? 1) - 1) * 7
      return .json(
        "{\"results\":7,\"paging\":{\"current\":\(start / 7 + 1),\"total\":7},"
          + "\"response\":\(items(start, count: 7))}")
    },
    .init(name: "a total of two full pages, and more behind them", isFound: true) { request in
      let page = request.number("page") ?? 1
      return .json("{\"page\":\(page),\"total\":20,\"items\":\(items((page - 1) * size))}")
    },
    .init(name: "pages from 0, and the number of the last one", isFound: true) { request in
      let page = request.number("page") ?? 0
      return .json("{\"page\":\(page),\"lastPage\":4,\"items\":\(items(page * size))}")
    },
    .init(name: "a count that is neither of items nor of pages", isFound: true) { request in
      let page = request.number("page") ?? 1
      return .json("{\"count\":3,\"page\":\(page),\"items\":\(items((page - 1) * size))}")
    },
    .init(name: "a total of nine items, as many as the page has", isFound: true) { request in
      let start = ((request.number("page") ?? 1) - 1) * 9
      let own = max(0, min(9, count - start))
      return .json("{\"total\":\(own),\"results\":\(items(start, count: 9))}")
    },
    .init(name: "pages of which the last comes again behind it", isFound: true) { request in
      let page = min(request.number("page") ?? 1, 5)
      return .json(
        "{\"page\":\(page),\"total_pages\":5,\"items\":\(items((page - 1) * size))}")
    },
    .init(name: "pages with an item without content behind the last", isFound: true) { request in
      let page = request.number("page") ?? 1
      let items = page > 5 ? "[{}]" : items((page - 1) * size)
      return .json("{\"page\":\(page),\"total_pages\":5,\"items\":\(items)}")
    },
    .init(name: "a chat's messages, newest first", isFound: true) { request in
      let start = request.number("before").map { 901 - $0 } ?? 0
      return .json("{\"messages\":\(items(start) { "{\"id\":\(900 - $0)}" })}")
    },
  ]
}
