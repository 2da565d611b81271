import HTTPTypes
import QuireCore

@testable import QuireHTTP
@testable import QuirePagination

/// Listings as public services document them, for which there is no preset.
extension OrdinaryListing {
  private static func page(_ slice: Slice, _ number: Int? = nil) -> String {
    "\"https://api.test/things?page=\(number ?? slice.number + 1)\""
  }

  static let documented: [OrdinaryListing] = [
    .init(name: "Discogs, a last link before the next one", parameter: .page("page")) {
      let urls = $0.next == nil ? "" : "\"last\":\(page($0, 3)),\"next\":\(page($0))"
      return "{\"pagination\":{\"page\":\($0.number),\"pages\":3,\"per_page\":10,\"items\":25,"
        + "\"urls\":{\(urls)}},\"releases\":\($0.things)}"
    },
    .init(name: "Better Stack, links to the first and the last page", parameter: .page("page")) {
      "{\"data\":\($0.resources),\"pagination\":{\"first\":\(page($0, 1)),\"last\":\(page($0, 3)),"
        + "\"prev\":null,\"next\":\($0.next == nil ? "null" : page($0))}}"
    },
    .init(name: "API-Football, a total that counts pages", parameter: .page("page")) {
      "{\"errors\":[],\"results\":\($0.count),\"paging\":{\"current\":\($0.number),\"total\":3},"
        + "\"response\":\($0.things)}"
    },
    .init(name: "Smithsonian, rows and their number", parameter: .offset("start")) {
      "{\"status\":200,\"response\":{\"rows\":\($0.things),\"rowCount\":25}}"
    },
    .init(name: "Google Books, items and their number", parameter: .offset("startIndex")) {
      "{\"kind\":\"books#volumes\",\"totalItems\":25,\"items\":\($0.things)}"
    },
    .init(
      name: "Reed, asked to skip", parameter: .offset("resultsToSkip"),
      query: "?resultsToTake=10&resultsToSkip=0"
    ) { "{\"results\":\($0.things),\"totalResults\":25}" },
    .init(
      name: "Plex, asked for a start", parameter: .offset("X-Plex-Container-Start"),
      query: "?X-Plex-Container-Start=0&X-Plex-Container-Size=10"
    ) {
      "<MediaContainer size=\"\($0.count)\" totalSize=\"25\" offset=\"\($0.start)\">\($0.elements)"
        + "</MediaContainer>"
    },
    .init(name: "USAJOBS, names with capitals", parameter: .page("Page")) {
      "{\"LanguageCode\":\"EN\",\"SearchResult\":{\"SearchResultCount\":\($0.count),"
        + "\"SearchResultCountAll\":25,\"SearchResultItems\":\($0.things),"
        + "\"UserArea\":{\"NumberOfPages\":\"3\"}}}"
    },
    .init(name: "Telnyx, a page's number in brackets", parameter: .page("page[number]")) {
      "{\"data\":\($0.things),\"meta\":{\"page_number\":\($0.number),\"page_size\":10,"
        + "\"total_pages\":3,\"total_results\":25}}"
    },
    .init(name: "Covalent, a page's number with a hyphen", parameter: .page("page-number")) {
      "{\"data\":{\"items\":\($0.things),\"pagination\":{\"has_more\":\($0.next != nil),"
        + "\"page_number\":\($0.number),\"page_size\":10}},\"error\":false}"
    },
    .init(name: "setlist.fm, one letter for the page", parameter: .page("p")) {
      "{\"type\":\"setlists\",\"itemsPerPage\":10,\"page\":\($0.number),\"total\":25,"
        + "\"setlist\":\($0.things)}"
    },
    .init(name: "NocoDB, an offset beside the page's number", parameter: .offset("offset")) {
      "{\"list\":\($0.things),\"pageInfo\":{\"totalRows\":25,\"page\":\($0.number),"
        + "\"pageSize\":10,\"isFirstPage\":\($0.start == 0),\"isLastPage\":\($0.next == nil)}}"
    },
    .init(name: "Algorand, a token for next", parameter: .token("next")) {
      "{\"accounts\":\($0.things)\($0.next.map { ",\"next-token\":\"\($0)==\"" } ?? "")}"
    },
    .init(name: "Alchemy, a key of pages", parameter: .token("pageKey")) {
      "{\"ownedNfts\":\($0.things),\"totalCount\":25,\"pageKey\":"
        + "\($0.next.map { "\"\($0)==\"" } ?? "null")}"
    },
    .init(name: "ProPublica, a page within a list", parameter: .offset("offset")) {
      "{\"status\":\"OK\",\"results\":[{\"num_results\":\($0.count),\"offset\":\($0.start),"
        + "\"members\":\($0.things)}]}"
    },
    .init(name: "dblp in XML, a list in an element of its plural", parameter: .offset("first")) {
      let hits = ($0.start..<$0.start + $0.count).map {
        "<hit id=\"\($0)\"><title>t\($0)</title></hit>"
      }
      return "<result><completions total=\"1\"/><hits total=\"25\" sent=\"\($0.count)\" "
        + "first=\"\($0.start)\">\(hits.joined())</hits></result>"
    },
  ]
}

extension PeculiarListing {
  static let documented: [PeculiarListing] = [
    .init(
      name: "CoinMarketCap, a start that counts from 1, and nothing says so", isFound: true
    ) { request in
      .json(
        "{\"status\":{\"total_count\":\(count)},\"data\":\(items((request.number("start") ?? 1) - 1))}"
      )
    },
    .init(name: "TVmaze, pages from 0 until one is 404", isFound: true) { request in
      let page = request.number("page") ?? 0
      if page > 1 { return .status(404, [:], "{\"name\":\"Not Found\"}") }
      return .json(items(page * 40, count: 40))
    },
    .init(name: "Modern Treasury, a cursor in a field", isFound: true) { request in
      let start = request.query["after_cursor"].flatMap { Int($0.dropFirst()) } ?? 0
      let more = start + size < count
      return .status(
        200,
        more ? ["X-After-Cursor": "t\(start + size)", "X-Per-Page": "10"] : ["X-Per-Page": "10"],
        items(start))
    },
    .init(
      name: "Camunda, a cursor beside the page's limit in the body",
      options: .init(method: .post, body: .json(["page": ["limit": 10]])), isFound: true
    ) { request in
      let after = request.body["page"]?["after"]?.string
      let start = after.flatMap { Int($0.dropFirst()) } ?? 0
      let end = start < count ? "\"t\(min(start + size, count))\"" : "null"
      return .json(
        "{\"items\":\(items(start)),\"page\":{\"totalItems\":\(count),\"endCursor\":\(end)}}")
    },
    .init(name: "Vercel, a time before and a time after", isFound: true) { request in
      let start = request.number("until").map { 1_700_000_000 - $0 } ?? 0
      let next = start + size < count ? "\(1_700_000_000 - start - size)" : "null"
      return .json(
        "{\"deployments\":\(items(start)),\"pagination\":{\"count\":10,\"next\":\(next),"
          + "\"prev\":\(1_700_000_000 - start)}}")
    },
  ]
}
