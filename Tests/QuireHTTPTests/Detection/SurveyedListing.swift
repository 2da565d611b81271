import HTTPTypes
import QuireCore

@testable import QuireHTTP
@testable import QuirePagination

/// Further listings as public services document them, for which there is no preset.
extension OrdinaryListing {
  static let surveyed: [OrdinaryListing] = [
    .init(name: "Scopus, links beside the entries", parameter: .offset("start")) {
      let own = "{\"@ref\":\"self\",\"@href\":\"https://api.test/things?start=\($0.start)\"}"
      let next = $0.next.map {
        ",{\"@ref\":\"next\",\"@href\":\"https://api.test/things?start=\($0)\"}"
      }
      return "{\"search-results\":{\"opensearch:totalResults\":\"25\",\"opensearch:Query\":"
        + "{\"@startPage\":\"\($0.start)\"},\"link\":[\(own)\(next ?? "")],\"entry\":\($0.things)}}"
    },
    .init(name: "Backblaze, a file's name", parameter: .token("startFileName")) {
      "{\"files\":\($0.things),\"nextFileName\":\($0.next.map { "\"\($0)==\"" } ?? "null")}"
    },
    .init(name: "Oracle, a name to start with", parameter: .token("start")) {
      "{\"objects\":\($0.things),\"prefixes\":[]"
        + "\($0.next.map { ",\"nextStartWith\":\"\($0)==\"" } ?? "")}"
    },
    .init(name: "Trove, a page within a list", parameter: .token("s")) {
      let next = $0.next.map {
        ",\"next\":\"https://api.test/things?s=\($0)%3D%3D\",\"nextStart\":\"\($0)==\""
      }
      return "{\"query\":\"x\",\"category\":[{\"code\":\"book\",\"records\":{\"n\":\($0.count),"
        + "\"total\":25\(next ?? ""),\"work\":\($0.things)}}]}"
    },
    .init(name: "OSLC, names with a namespace", parameter: .page("pageno")) {
      let next =
        $0.next == nil
        ? "" : ",\"oslc:nextPage\":\"https://api.test/things?pageno=\($0.number + 1)\""
      return "{\"oslc:results\":\($0.things),\"oslc:responseInfo\":{\"oslc:totalCount\":25\(next)}}"
    },
    .init(
      name: "Environment Agency, an offset beside its limit", parameter: .offset("_offset"),
      query: "?_limit=10"
    ) { "{\"meta\":{\"limit\":10},\"items\":\($0.things)}" },
    .init(name: "Mailjet, a total of the page alone", parameter: .offset("Offset")) {
      "{\"Count\":\($0.count),\"Data\":\($0.things),\"Total\":\($0.count)}"
    },
    .init(name: "Weaviate, a total of the page alone", parameter: .offset("offset")) {
      "{\"objects\":\($0.things),\"totalResults\":\($0.count)}"
    },
    .init(name: "API-Football, a number that the items exceed", parameter: .page("page")) {
      "{\"paging\":{\"current\":\($0.number),\"total\":12},\"response\":\($0.things)}"
    },
    .init(name: "RabbitMQ, a total beside that of what is filtered", parameter: .page("page")) {
      "{\"filtered_count\":25,\"items\":\($0.things),\"page\":\($0.number),\"total_count\":90}"
    },
    .init(
      name: "WordPress.org, names within the request", parameter: .page("request[page]"),
      query: "?request%5Bper_page%5D=10"
    ) {
      "{\"info\":{\"page\":\($0.number),\"pages\":3,\"results\":25},\"plugins\":\($0.things)}"
    },
    .init(name: "data.gouv.fr, lists of facets", parameter: .page("page")) {
      "{\"data\":\($0.things),\"facets\":{\"tag\":[{\"name\":\"a\",\"count\":9},"
        + "{\"name\":\"b\",\"count\":7}]},\"page\":\($0.number),\"total\":25}"
    },
    .init(name: "NodeBB, a link of the row of pages", parameter: .page("page")) {
      let next =
        $0.next == nil ? "{\"active\":false}" : "{\"page\":\($0.number + 1),\"active\":true}"
      return "{\"topics\":\($0.things),\"pagination\":{\"currentPage\":\($0.number),"
        + "\"next\":\(next),\"pageCount\":3}}"
    },
    .init(name: "Listen Notes, a next offset behind the end", parameter: .offset("offset")) {
      "{\"count\":\($0.count),\"total\":25,\"next_offset\":\($0.start + $0.count),"
        + "\"results\":\($0.things)}"
    },
    .init(name: "Giant Bomb in XML, an element around the list", parameter: .offset("offset")) {
      "<response><offset>\($0.start)</offset><number_of_page_results>\($0.count)"
        + "</number_of_page_results><number_of_total_results>25</number_of_total_results><results>"
        + "\($0.elements)</results></response>"
    },
  ]
}

extension PeculiarListing {
  static let surveyed: [PeculiarListing] =
    severalParameters + lastItems + behindTheEnd + bodies + [
      .init(name: "IEEE, a record to start from, which counts from 1", isFound: true) { request in
        let start = (request.number("start_record") ?? 1) - 1
        return .json("{\"total_records\":\(count),\"articles\":\(items(start))}")
      },
      .init(name: "a token in a field under a name of two words", isFound: true) { request in
        let start = request.query["continuationToken"].flatMap { Int($0.dropFirst()) } ?? 0
        let more = start + size < count
        return .status(200, more ? ["X-Continuation-Token": "t\(start + size)"] : [:], items(start))
      },
      .init(name: "UK Parliament, links beside the items of the only page", isFound: false) {
        request in
        .json(
          "{\"items\":\(items(0, count: count)),\"links\":[{\"rel\":\"self\",\"href\":\"\(request.url)\"}]}"
        )
      },
    ]

  // MARK: Several parameters together

  private static let severalParameters: [PeculiarListing] = [
    .init(name: "Blockscout, an object of parameters", isFound: true) { request in
      let start = request.number("items_count") ?? 0
      if start > 0, request.number("block_number") != 900 - start { return .status(422) }
      let next =
        start + size < count
        ? "{\"block_number\":\(900 - start - size),\"index\":3,\"items_count\":\(start + size)}"
        : "null"
      return .json("{\"items\":\(items(start)),\"next_page_params\":\(next)}")
    },
    .init(name: "FEC, the last indexes", isFound: true) { request in
      let start = request.number("last_index").map { ($0 - 7) / 3 + 1 } ?? 0
      if start > 0, request.query["last_date"] == nil { return .status(422) }
      let last = min(start + size, count) - 1
      let indexes =
        start < count ? "{\"last_index\":\"\(last * 3 + 7)\",\"last_date\":\"2024\"}" : "null"
      return .json(
        "{\"pagination\":{\"count\":\(count),\"pages\":5,\"last_indexes\":\(indexes)},"
          + "\"results\":\(items(start))}")
    },
  ]

  // MARK: The last item

  private static let lastItems: [PeculiarListing] = [
    .init(name: "Steam, the last item's own id", isFound: true) { request in
      let start = request.number("last_appid").map { $0 + 1 } ?? 0
      let more =
        start + size < count
        ? ",\"have_more_results\":true,\"last_appid\":\(start + size - 1)" : ""
      return .json(
        "{\"response\":{\"apps\":\(items(start) { "{\"appid\":\($0)}" })\(more)}}")
    },
    .init(
      name: "Zulip, an anchor that comes again", url: "https://api.test/things?anchor=0",
      isFound: true
    ) { request in
      let anchor = request.number("anchor") ?? 0
      let start = anchor == 0 ? 0 : (anchor - 7) / 3
      return .json("{\"result\":\"success\",\"messages\":\(items(start))}")
    },
    .init(name: "Binance, an id that comes again", isFound: true) { request in
      .json(items(request.number("fromId").map { ($0 - 7) / 3 } ?? 0))
    },
  ]

  // MARK: Behind the last page

  /// A listing by pages of which `end` is behind the last one.
  private static func numbered(
    _ name: String, _ end: @escaping @Sendable (Int) -> TransportResponse
  ) -> PeculiarListing {
    .init(name: "\(name) behind many pages", isFound: true) { request in
      let page = request.number("page") ?? 1
      return page > 5 ? end(page) : .json(items((page - 1) * size))
    }
  }

  private static let behindTheEnd: [PeculiarListing] = [
    numbered("404") { _ in .status(404, [:], "{\"message\":\"no such page\"}") },
    numbered("204") { _ in .status(204) },
    numbered("the last page again") { _ in .json(items(4 * size)) },
  ]

  // MARK: Bodies of JSON

  private static let bodies: [PeculiarListing] = [
    .init(
      name: "Tencent, an offset beside the limit in the body",
      options: .init(method: .post, body: .json(["Limit": 10])), isFound: true
    ) { request in
      let start = request.body["Offset"]?.integer ?? 0
      return .json("{\"Response\":{\"TotalCount\":\(count),\"InstanceSet\":\(items(start))}}")
    },
    .init(
      name: "Misskey, the last id in the body",
      options: .init(method: .post, body: .json(.object([]))), isFound: true
    ) { request in
      let start = request.body["untilId"]?.string.flatMap { Int($0.dropFirst()) }
      return .json(items(start.map { 901 - $0 } ?? 0) { "{\"id\":\"n\(900 - $0)\"}" })
    },
    .init(
      name: "Visual Studio, a list of searches",
      options: .init(
        method: .post, body: .json(["filters": [["pageNumber": 1, "pageSize": 10]]])), isFound: true
    ) { request in
      let page = request.body["filters"]?.value(at: "/0/pageNumber")?.integer ?? 1
      return .json(
        "{\"results\":[{\"extensions\":\(items((page - 1) * size)),\"pagingToken\":null}]}")
    },
  ]
}
