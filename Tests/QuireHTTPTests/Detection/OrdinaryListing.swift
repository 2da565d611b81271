import HTTPTypes
import QuireCore

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A listing of 25 things as many a service has one that nobody made a preset for: it heeds its own
/// parameters and no others.
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
      case .token(let name): query[name].map { Int($0) ?? 0 } ?? 0
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

  static let all: [OrdinaryListing] = [
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
}
