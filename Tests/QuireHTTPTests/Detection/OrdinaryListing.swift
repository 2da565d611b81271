import HTTPTypes
import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A listing of 25 things as many a service has one, most of which nobody made a preset for: it heeds its
/// own parameters and no others.
struct OrdinaryListing: Sendable {
  /// What comes before a page and what it holds.
  struct Slice {
    var start: Int
    var count: Int
    /// Where the next page starts; nil on the last.
    var next: Int? { start + count < OrdinaryListing.total ? start + count : nil }
    /// The page's number, from 1.
    var number: Int { start / OrdinaryListing.size + 1 }
    var things: String { list { "{\"id\":\($0),\"name\":\"Thing \($0)\"}" } }
    var elements: String {
      (start..<start + count).map { "<thing><id>\($0)</id><name>Thing \($0)</name></thing>" }
        .joined()
    }

    /// The things as JSON:API has them.
    var resources: String {
      list { "{\"type\":\"things\",\"id\":\"\($0)\",\"attributes\":{\"name\":\"Thing \($0)\"}}" }
    }

    func list(_ thing: (Int) -> String) -> String {
      "[" + (start..<start + count).map(thing).joined(separator: ",") + "]"
    }
  }

  /// How a parameter says where a page starts.
  enum Parameter {
    /// By the number of items before it.
    case offset(String)
    /// By its number, from 1.
    case page(String)
    /// By the number of items before it too, but nothing else will do.
    case token(String)
  }

  static let total = 25
  static let size = 10

  var name: String
  var parameter: Parameter
  var query = ""
  var page: @Sendable (Slice) -> String

  var url: String { "https://api.test/things" + query }

  func answer(_ request: TransportRequest) throws -> TransportResponse {
    let query = QueryString(try URLReference(request.url).query)
    let start =
      switch parameter {
      case .offset(let name): query[name].map { Int($0) ?? 0 } ?? 0
      case .page(let name): query[name].map { (Int($0) ?? 1) * Self.size - Self.size } ?? 0
      case .token(let name): query[name].map { Int($0.prefix { $0 != "=" }) ?? 0 } ?? 0
      }
    let first = min(max(start, 0), Self.total)
    let count = min(Self.size, Self.total - first)
    let body = page(Slice(start: first, count: count))
    let type = body.hasPrefix("<") ? "application/xml" : "application/json"
    return .status(200, ["Content-Type": type], body)
  }
}

extension OrdinaryListing {
  private static func text(_ number: Int?) -> String { number.map { "\"\($0)\"" } ?? "null" }

  private static func link(_ parameter: String, _ start: Int?) -> String? {
    start.map { "https://api.test/things?\(parameter)=\($0)" }
  }

  static let all =
    unnamed + services + frameworks + sizes + offsets + [countedAlike]
    + documented + surveyed

  private static let unnamed: [OrdinaryListing] = [
    .init(name: "offset and limit, repeated", parameter: .offset("offset")) {
      "{\"offset\":\($0.start),\"limit\":10,\"total\":25,\"items\":\($0.things)}"
    },
    .init(
      name: "offset and limit, asked for", parameter: .offset("offset"),
      query: "?offset=0&limit=10"
    ) { "{\"offset\":\($0.start),\"limit\":10,\"total\":25,\"items\":\($0.things)}" },
    .init(name: "items and total", parameter: .offset("offset")) {
      "{\"items\":\($0.things),\"total\":25}"
    },
    .init(name: "items and total, by pages", parameter: .page("page")) {
      "{\"items\":\($0.things),\"total\":25}"
    },
    .init(name: "skip and limit, repeated", parameter: .offset("skip")) {
      "{\"things\":\($0.things),\"total\":25,\"skip\":\($0.start),\"limit\":10}"
    },
    .init(name: "start, repeated", parameter: .offset("start")) {
      "{\"start\":\($0.start),\"count\":25,\"docs\":\($0.things)}"
    },
    .init(name: "page and per_page, repeated", parameter: .page("page")) {
      "{\"page\":\($0.number),\"per_page\":10,\"total\":25,\"things\":\($0.things)}"
    },
    .init(name: "page and pages", parameter: .page("page")) {
      "{\"page\":\($0.number),\"pages\":3,\"results\":\($0.things)}"
    },
    .init(name: "a page in an envelope", parameter: .page("page")) {
      "{\"data\":\($0.things),\"pagination\":{\"page\":\($0.number),\"page_size\":10,\"total\":25}}"
    },
    .init(name: "a list by pages", parameter: .page("page")) { $0.things },
    .init(name: "a list by offset", parameter: .offset("offset"), query: "?offset=0") {
      $0.things
    },
    .init(name: "a cursor of digits", parameter: .token("cursor")) {
      "{\"items\":\($0.things),\"next\":\(text($0.next))}"
    },
    .init(name: "nextCursor", parameter: .token("cursor")) {
      "{\"things\":\($0.things),\"nextCursor\":\(text($0.next))}"
    },
    .init(name: "a link", parameter: .token("at")) {
      "{\"things\":\($0.things),\"next\":\(link("at", $0.next).map { "\"\($0)\"" } ?? "null")}"
    },
    .init(name: "XML, a link", parameter: .token("at")) {
      "<list><total>25</total>"
        + (link("at", $0.next).map { "<next>\($0)</next>" } ?? "")
        + "<things>\($0.elements)</things></list>"
    },
    .init(name: "XML, a cursor", parameter: .token("cursor")) {
      "<list><next>\($0.next.map(String.init) ?? "")</next><things>\($0.elements)</things></list>"
    },
    .init(name: "XML, offset and limit, repeated", parameter: .offset("offset")) {
      "<list><offset>\($0.start)</offset><limit>10</limit><total>25</total>"
        + "<things>\($0.elements)</things></list>"
    },
  ]

  // MARK: Services, as their documentation has them

  private static let services: [OrdinaryListing] = [
    .init(name: "Strapi", parameter: .page("pagination[page]")) {
      "{\"data\":\($0.things),\"meta\":{\"pagination\":{\"page\":\($0.number),\"pageSize\":10,"
        + "\"pageCount\":3,\"total\":25}}}"
    },
    .init(
      name: "Strapi, with a page size", parameter: .page("pagination[page]"),
      query: "?pagination[pageSize]=10"
    ) {
      "{\"data\":\($0.things),\"meta\":{\"pagination\":{\"page\":\($0.number),\"pageSize\":10,"
        + "\"pageCount\":3,\"total\":25}}}"
    },
    .init(
      name: "Strapi, by start and limit", parameter: .offset("pagination[start]"),
      query: "?pagination[limit]=10"
    ) {
      "{\"data\":\($0.things),\"meta\":{\"pagination\":{\"start\":\($0.start),\"limit\":10,"
        + "\"total\":25}}}"
    },
    .init(
      name: "Strapi, asked for a start", parameter: .offset("pagination[start]"),
      query: "?pagination[start]=0"
    ) { "{\"data\":\($0.things),\"meta\":{}}" },
    .init(name: "npm's search", parameter: .offset("from"), query: "?text=thing") {
      let objects = $0.list { "{\"package\":{\"name\":\"thing-\($0)\"},\"searchScore\":1}" }
      return "{\"objects\":\(objects),\"total\":25,\"time\":\"Wed Jan 25 2017\"}"
    },
    .init(name: "Launchpad", parameter: .offset("ws.start")) {
      let entries = $0.list { "{\"self_link\":\"https://api.test/things/\($0)\",\"id\":\($0)}" }
      let next = link("ws.size=10&ws.start", $0.next).map { ",\"next_collection_link\":\"\($0)\"" }
      return "{\"start\":\($0.start),\"total_size\":25\(next ?? ""),\"entries\":\(entries)}"
    },
    .init(name: "Ghost", parameter: .page("page"), query: "?key=1") {
      let next = $0.next == nil ? "null" : "\($0.number + 1)"
      return "{\"posts\":\($0.things),\"meta\":{\"pagination\":{\"page\":\($0.number),"
        + "\"limit\":10,\"pages\":3,\"total\":25,\"next\":\(next),\"prev\":null}}}"
    },
    .init(name: "a number of the next page alone", parameter: .page("page")) {
      "{\"things\":\($0.things),\"next\":\($0.next == nil ? "null" : "\($0.number + 1)")}"
    },
    .init(
      name: "a number of the next page, where the request has its own name for it",
      parameter: .page("pageNo"), query: "?pageNo=1"
    ) { "{\"things\":\($0.things),\"next\":\($0.next == nil ? "null" : "\($0.number + 1)")}" },
    .init(name: "SonarQube's components", parameter: .page("p"), query: "?qualifiers=TRK") {
      let components = $0.list { "{\"key\":\"k\($0)\",\"name\":\"Thing \($0)\"}" }
      return "{\"paging\":{\"pageIndex\":\($0.number),\"pageSize\":10,\"total\":25},"
        + "\"components\":\(components)}"
    },
    .init(name: "SonarQube's issues", parameter: .page("p")) {
      let issues = $0.list { "{\"key\":\"k\($0)\",\"message\":\"Thing \($0)\"}" }
      return "{\"total\":25,\"p\":\($0.number),\"ps\":10,\"paging\":{\"pageIndex\":\($0.number),"
        + "\"pageSize\":10,\"total\":25},\"issues\":\(issues),\"components\":[{\"key\":\"c\"}]}"
    },
    .init(name: "Keycloak", parameter: .offset("first"), query: "?first=0&max=10") { $0.things },
    .init(name: "Keycloak, with a page size alone", parameter: .offset("first"), query: "?max=10") {
      $0.things
    },
    .init(name: "Cloudinary", parameter: .token("next_cursor")) {
      "{\"resources\":\($0.things)\($0.next.map { ",\"next_cursor\":\"\($0)\"" } ?? "")}"
    },
    .init(name: "FastAPI's cursors", parameter: .token("cursor")) {
      "{\"items\":\($0.things),\"total\":null,\"next_page\":"
        + "\($0.next.map { "\"\($0)==\"" } ?? "null")}"
    },
    .init(name: "Prometheus", parameter: .token("group_next_token"), query: "?group_limit=10") {
      let next = $0.next.map { ",\"groupNextToken\":\"\($0)\"" } ?? ""
      return "{\"status\":\"success\",\"data\":{\"groups\":\($0.things)\(next)}}"
    },
    .init(name: "WeChat's followers", parameter: .token("next_openid")) {
      let texts = $0.list { "\"o\($0)\"" }
      return "{\"total\":25,\"count\":\($0.count),\"data\":{\"openid\":\(texts)},"
        + "\"next_openid\":\"\($0.next.map(String.init) ?? "")\"}"
    },
    .init(name: "bare texts and two counts", parameter: .page("page")) {
      let texts = $0.list { "\"t\($0)\"" }
      return "{\"count\":\($0.count),\"total\":25,\"names\":\(texts)}"
    },
    .init(name: "a next page's offset", parameter: .token("offset")) {
      "{\"result\":{\"points\":\($0.things),\"next_page_offset\":\(text($0.next))}}"
    },
    .init(name: "a last key", parameter: .token("lastKey"), query: "?limit=10") {
      "{\"items\":\($0.things)\($0.next.map { ",\"lastKey\":\"\($0)\"" } ?? "")}"
    },
    .init(name: "Feathers", parameter: .offset("$skip"), query: "?$limit=10") {
      "{\"total\":25,\"limit\":10,\"skip\":\($0.start),\"data\":\($0.things)}"
    },
    .init(name: "LoopBack", parameter: .offset("filter[skip]"), query: "?filter[limit]=10") {
      $0.things
    },
    .init(name: "pages of .NET", parameter: .page("pageNumber")) {
      "{\"currentPage\":\($0.number),\"pageSize\":10,\"totalPages\":3,\"totalCount\":25,"
        + "\"hasNext\":\($0.next != nil),\"data\":\($0.things)}"
    },
    .init(
      name: "Mongoose, asked for an offset", parameter: .offset("offset"),
      query: "?offset=0&limit=10"
    ) {
      "{\"docs\":\($0.things),\"totalDocs\":25,\"offset\":\($0.start),\"limit\":10,\"totalPages\":3,"
        + "\"page\":\($0.number),\"hasNextPage\":\($0.next != nil),"
        + "\"nextPage\":\($0.next == nil ? "null" : "\($0.number + 1)")}"
    },
    .init(name: "Weibo, asked for a page", parameter: .page("page"), query: "?page=1&count=10") {
      "{\"statuses\":\($0.things),\"previous_cursor\":0,\"next_cursor\":"
        + "\($0.next == nil ? 0 : 11_488_013_766),\"total_number\":25}"
    },
    .init(name: "CircleCI", parameter: .token("page-token"), query: "?org-slug=gh/x") {
      "{\"next_page_token\":\(text($0.next)),\"items\":\($0.things)}"
    },
  ]

  private static let frameworks: [OrdinaryListing] = [
    .init(name: "Spring HATEOAS", parameter: .token("at")) {
      let next = link("at", $0.next).map { ",\"next\":{\"href\":\"\($0)\"}" } ?? ""
      return "{\"_embedded\":{\"things\":\($0.things)},\"_links\":{\"self\":{\"href\":\"/\"}"
        + "\(next)},\"page\":{\"size\":10,\"totalElements\":25,\"totalPages\":3,"
        + "\"number\":\($0.number - 1)}}"
    },
    .init(name: "JSON:API", parameter: .token("page[offset]")) {
      let next = link("page%5Boffset%5D", $0.next).map { "\"\($0)\"" } ?? "null"
      return "{\"data\":\($0.things),\"links\":{\"self\":\"/\",\"next\":\(next)}}"
    },
    .init(name: "JSON:API, without links", parameter: .page("page[number]")) {
      "{\"data\":\($0.resources),\"meta\":{\"total\":25}}"
    },
    .init(name: "JSON:API, without links and totals", parameter: .page("page[number]")) {
      "{\"jsonapi\":{\"version\":\"1.0\"},\"data\":\($0.resources)}"
    },
    .init(
      name: "JSON:API, without links and by offset", parameter: .offset("page[offset]"),
      query: "?page[limit]=10"
    ) { "{\"data\":\($0.resources)}" },
    .init(
      name: "JSON:API, by a cursor", parameter: .token("page[after]"), query: "?page[size]=10"
    ) {
      "{\"data\":\($0.resources),\"meta\":{\"page\":{\"cursor\":{\"after\":\(text($0.next))},"
        + "\"has_more\":\($0.next != nil),\"total\":25}}}"
    },
    .init(name: "JSON:API, by a cursor beside the items", parameter: .token("page[cursor]")) {
      "{\"data\":\($0.resources),\"meta\":{\"next_cursor\":\(text($0.next))}}"
    },
    .init(name: "JSON:API, by a plain offset", parameter: .offset("offset")) {
      "{\"data\":\($0.resources)}"
    },
    .init(name: "JSON:API, by a plain offset and with a total", parameter: .offset("offset")) {
      "{\"data\":\($0.resources),\"meta\":{\"total\":25}}"
    },
    .init(name: "JSON:API, by a plain page", parameter: .page("page")) {
      "{\"data\":\($0.resources)}"
    },
    .init(name: "OData", parameter: .token("$skiptoken")) {
      let next = link("$skiptoken", $0.next).map { ",\"@odata.nextLink\":\"\($0)\"" } ?? ""
      return "{\"@odata.context\":\"https://api.test/$metadata\",\"value\":\($0.things)\(next)}"
    },
    .init(name: "Hydra", parameter: .token("at")) {
      let next = link("at", $0.next).map { ",\"hydra:next\":\"\($0)\"" } ?? ""
      return "{\"hydra:totalItems\":25,\"hydra:member\":\($0.things),"
        + "\"hydra:view\":{\"@id\":\"/things\"\(next)}}"
    },
    .init(name: "Django REST framework", parameter: .token("at")) {
      let next = link("at", $0.next).map { "\"\($0)\"" } ?? "null"
      return "{\"count\":25,\"next\":\(next),\"previous\":null,\"results\":\($0.things)}"
    },
  ]

  // MARK: Counters beside a page size

  private static let sized: [(parameter: Parameter, query: String)] = [
    (.page("pageNumber"), "?pageSize=10"), (.page("PageNumber"), "?PageSize=10"),
    (.page("page[number]"), "?page[size]=10"), (.offset("page[offset]"), "?page[limit]=10"),
    (.page("_page"), "?_per_page=10"), (.offset("_start"), "?_limit=10"),
    (.page("page"), "?pageSize=10"), (.page("paging.pageNumber"), "?paging.pageSize=10"),
    (.page("filter[pageNumber]"), "?filter[pageSize]=10"),
  ]

  private static let sizes: [OrdinaryListing] = sized.flatMap { parameter, query in
    [
      OrdinaryListing(name: "\(parameter) beside \(query)", parameter: parameter, query: query) {
        "{\"rocks\":\($0.things),\"totalCount\":25}"
      },
      OrdinaryListing(
        name: "\(parameter) beside \(query), and a list", parameter: parameter, query: query
      ) { $0.things },
    ]
  }

  // MARK: Offsets by every name

  private static let offsets: [OrdinaryListing] = [
    "rowStart", "fromIndex", "startIndex", "startAt", "firstResult", "first", "skip", "$skip",
    "_start", "offset", "first_row", "recordOffset", "iDisplayStart", "StartRow",
  ].flatMap { name in
    [
      OrdinaryListing(
        name: "\(name), asked for", parameter: .offset(name), query: "?\(name)=0"
      ) { "{\"items\":\($0.things),\"count\":25}" },
      OrdinaryListing(
        name: "\(name), asked for, and a list", parameter: .offset(name), query: "?\(name)=0"
      ) { $0.things },
      OrdinaryListing(name: "\(name), repeated", parameter: .offset(name)) {
        "{\"\(name)\":\($0.start),\"items\":\($0.things),\"total\":25}"
      },
    ]
  }

  /// As GBIF counts, but nothing says which page is the last.
  private static let countedAlike = OrdinaryListing(
    name: "count and results", parameter: .offset("offset")
  ) { "{\"count\":25,\"results\":\($0.things)}" }
}
