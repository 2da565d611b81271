import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// Servers that ignore the cursor and write something anew into every item, and listings that only
/// look as if they did.
@Suite("Records that come again with a new stamp", .timeLimit(.minutes(15)))
struct RestampedListingTests {
  /// How a listing goes on.
  enum Way: CaseIterable { case token, link, pageNumber, offset }

  /// Walks up to `most` pages of a listing whose page n has the items `page(n)`, or ends behind them.
  private func drain(
    _ way: Way = .token, most: Int = 150,
    _ page: @escaping @Sendable (Int) -> [String]?
  ) async throws -> (pages: Int, error: PageError?) {
    let server = CannedServer { _, ordinal in
      let items = page(ordinal) ?? []
      let next =
        switch way {
        case _ where items.isEmpty: ""
        case .link: #","next":"https://api.test/items?c=\#(ordinal)""#
        default: #","next":"t\#(ordinal)""#
        }
      return .json(#"{"items":[\#(items.joined(separator: ","))]\#(next)}"#)
    }
    let pagination =
      switch way {
      case .token: Pagination(next: .body("/next"), send: .query("t"), items: "/items")
      case .link: Pagination(next: .body("/next"), items: "/items")
      case .pageNumber:
        Pagination(
          next: .pageNumber(), send: .query("page"), end: [.emptyPage], items: "/items")
      case .offset:
        Pagination(next: .offset(), send: .query("offset"), end: [.emptyPage], items: "/items")
      }
    let cursor = PageClient(transport: server).cursor(
      at: "https://api.test/items", pagination: pagination, decoder: JSONRawPageDecoder())
    let walk = cursor.limited(to: Limits(pages: most)).walk()
    do {
      while try await walk.next() != nil {}
      return (walk.report.pages, nil)
    } catch let error as PageError {
      return (walk.report.pages, error)
    }
  }

  /// The same records, whatever page is asked for.
  static let restamped: [(name: String, changed: String, page: @Sendable (Int) -> [String])] = [
    (
      "an age", "age",
      { n in (0..<20).map { #"{"id":\#($0),"title":"e\#($0)","age":\#($0 * 60 + n)}"# } }
    ),
    (
      "a time", "time", { n in (0..<20).map { #"{"id":\#($0),"title":"e","time":"12:00:\#(n)"}"# } }
    ),
    ("an id and an age", "age", { n in (0..<3).map { #"{"id":\#($0),"age":\#(n)}"# } }),
    ("two items", "fetched_at", { n in (0..<2).map { #"{"uuid":"u\#($0)","fetched_at":\#(n)}"# } }),
    ("one item", "views", { n in [#"{"id":7,"title":"e","views":\#(n)}"#] }),
    ("one item's age", "age", { n in [#"{"id":7,"age":\#(n)}"#] }),
    ("a counter", "hitCount", { n in (0..<5).map { #"{"_id":"x\#($0)","hitCount":\#(n + $0)}"# } }),
    (
      "an unknown name", "quux",
      { n in (0..<5).map { #"{"id":\#($0),"name":"n\#($0)","quux":\#(n)}"# } }
    ),
    (
      "inside", "meta/served",
      { n in (0..<5).map { #"{"id":\#($0),"meta":{"served":\#(n),"v":1}}"# } }
    ),
    ("an envelope", "node/age", { n in (0..<5).map { #"{"node":{"id":\#($0),"age":\#(n)}}"# } }),
    ("no id, an age", "age", { n in (0..<5).map { #"{"title":"t\#($0)","age":\#(n)}"# } }),
    ("no id, a time", "seenAt", { n in (0..<5).map { #"{"title":"t\#($0)","seenAt":\#(n)}"# } }),
    ("an own reference", "age", { n in (0..<5).map { #"{"event_id":\#($0),"age":\#(n)}"# } }),
    (
      "two stamps", "age",
      { n in (0..<5).map { #"{"id":\#($0),"age":\#(n),"nonce":"\#(n * 7)"}"# } }
    ),
    (
      "a member that comes and goes", "stale",
      { n in (0..<5).map { #"{"id":\#($0)\#(n % 2 == 0 ? "" : #","stale":true"#),"age":\#(n)}"# } }
    ),
    (
      "many items", "age",
      { n in (0..<1000).map { #"{"id":\#($0),"title":"e\#($0)","age":\#(n)}"# } }
    ),
  ]

  @Test(
    "12-L12: the same records with a new stamp are a stall at the second page, and what changed is named",
    arguments: Self.restamped.map(\.name), Way.allCases)
  func stalls(name: String, way: Way) async throws {
    let listing = try #require(Self.restamped.first { $0.name == name })
    let (pages, error) = try await drain(way, most: 5) { listing.page($0) }
    #expect(pages == 1)
    #expect(error?.code == .stalledContent)
    #expect(error?.message.contains(listing.changed) == true, "\(error?.message ?? "none")")
    #expect(error?.description.contains("Limits.comparedPages") == true)
  }

  @Test(
    "12-L12: a server that goes round in a circle of restamped pages is found out after one round")
  func circles() async throws {
    let (pages, error) = try await drain { n in
      (0..<5).map { #"{"id":\#(n % 3 * 5 + $0),"age":\#(n)}"# }
    }
    #expect(pages == 3)
    #expect(error?.code == .stalledContent)
    #expect(error?.message.contains("3 pages ago") == true)
  }

  /// Records that look alike, and are others on every page.
  static let legitimate: [(name: String, page: @Sendable (Int) -> [String])] = [
    (
      "readings with ids",
      { n in (0..<20).map { #"{"id":\#(n * 20 + $0),"time":\#(n),"value":20}"# } }
    ),
    (
      "readings with times",
      { n in (0..<20).map { #"{"time":\#(n * 20 + $0),"value":20,"unit":"C"}"# } }
    ),
    (
      "readings of some sensors",
      { n in (0..<5).map { #"{"sensor":"s\#($0)","time":\#(n),"value":20}"# } }
    ),
    (
      "readings of sensors with ids",
      { n in (0..<5).map { #"{"sensorId":\#($0),"time":\#(n),"value":20}"# } }
    ),
    (
      "readings of services with names",
      { n in ["web", "db"].map { #"{"name":"\#($0)","status":"up","time":"12:00:\#(n)"}"# } }
    ),
    (
      "readings of sensors with ids and names",
      { n in (0..<5).map { #"{"sensorId":\#($0),"name":"s\#($0)","time":\#(n)}"# } }
    ),
    (
      "counts of each day by name",
      { n in ["a", "b"].map { #"{"name":"\#($0)","count":\#(n * 7),"date":"day \#(n)"}"# } }
    ),
    (
      "an id behind many members",
      { n in
        let zeros = (0..<33).map { #""m\#($0)":0"# }.joined(separator: ",")
        return (0..<3).map { #"{"name":"line \#($0)",\#(zeros),"id":\#(n * 3 + $0)}"# }
      }
    ),
    (
      "many items, of which those looked at are the same",
      { n in
        let same: Set = [0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96]
        return (0..<100).map { #"{"id":\#(same.contains($0) ? $0 : n * 1000 + $0)}"# }
      }
    ),
    ("one reading", { n in [#"{"time":\#(n),"value":20}"#] }),
    ("one reading of one sensor", { n in [#"{"sensor_id":7,"time":\#(n),"value":20}"#] }),
    ("one reading with an id", { n in [#"{"id":\#(n),"value":20}"#] }),
    (
      "log lines",
      { n in (0..<5).map { #"{"ts":\#(n * 5 + $0),"level":"info","message":"tick"}"# } }
    ),
    ("one log line", { n in [#"{"ts":\#(n),"message":"tick"}"#] }),
    ("versions", { n in [#"{"id":7,"version":\#(n),"title":"x"}"#] }),
    ("versions in pages", { n in (0..<3).map { #"{"id":7,"version":\#(n * 3 + $0)}"# } }),
    ("changes", { n in (0..<2).map { #"{"seq":\#(n * 2 + $0),"id":"a\#($0)","rev":\#(n)}"# } }),
    ("rows with numbers", { n in (0..<5).map { #"{"row":\#($0),"id":\#(n * 5 + $0)}"# } }),
    ("rows", { n in (0..<5).map { #"[\#($0),"x",\#(n * 5 + $0)]"# } }),
    ("scalars", { n in (0..<5).map { "\(n * 5 + $0)" } }),
    ("a table", { n in (0..<5).map { #"{"x":\#($0),"y":\#(n),"value":\#(n * $0)}"# } }),
    (
      "one pinned item in front of others that differ by their id alone",
      { n in
        [#"{"id":0,"kind":"note","state":"open"}"#]
          + (1..<5).map { #"{"id":\#(n * 5 + $0),"kind":"note","state":"open"}"# }
      }
    ),
    (
      "pinned items",
      { n in
        (0..<8).map { #"{"id":\#($0),"age":\#(n)}"# }
          + (8..<20).map { #"{"id":\#(n * 20 + $0),"age":1}"# }
      }
    ),
  ]

  @Test(
    "12-L12: similar records are not taken for the same ones",
    arguments: Self.legitimate.map(\.name), Way.allCases)
  func passes(name: String, way: Way) async throws {
    let listing = try #require(Self.legitimate.first { $0.name == name })
    let (pages, error) = try await drain(way) { $0 < 90 ? listing.page($0) : nil }
    #expect(error == nil)
    #expect(pages == 91)
  }

  @Test(
    "12-L12: equal pages of one item, or of equal items, under positions that count are a listing",
    arguments: [["7"], [#""x""#], [#"{"value":20}"#], ["7", "7", "7"]], [Way.offset, .pageNumber])
  func equalPages(items: [String], way: Way) async throws {
    let (pages, error) = try await drain(way, most: 300) { $0 < 200 ? items : nil }
    #expect(error == nil)
    #expect(pages == 201)
  }

  @Test(
    "12-L12: equal pages of one record that has an identity are a stall, whatever the positions")
  func equalRecords() async throws {
    for way in Way.allCases {
      let (pages, error) = try await drain(way) { _ in [#"{"id":7,"value":20}"#] }
      #expect(pages == 1 && error?.code == .stalledContent)
    }
  }

  @Test("12-L12: a listing of nothing but the same page is refused in the end, in bounded time")
  func endless() async throws {
    let (equal, first) = try await drain(.offset, most: 5000) { _ in ["7"] }
    #expect(equal == 1001 && first?.code == .stalledContent)
    let words = "1000 pages before it that looked like an earlier one were delivered."
    #expect(first?.message.contains(words) == true, "\(first?.message ?? "")")
    let (alike, second) = try await drain(.token, most: 5000) { n in
      (0..<5).map { #"{"sensor":"s\#($0)","time":\#(n)}"# }
    }
    #expect(alike == 1001 && second?.code == .stalledContent)
    let (own, third) = try await drain(.token, most: 5000) { [#"{"id":7,"time":\#($0)}"#] }
    #expect(own == 101 && third?.code == .stalledContent)
  }

  @Test("12-L12: names of members are the server's, and do not reach a terminal raw")
  func escapes() async throws {
    let (_, error) = try await drain { n in
      (0..<5).map { #"{"id":\#($0),"title":"t\#($0)","a\u001b[31m\nb":\#(n)}"# }
    }
    #expect(error?.code == .stalledContent)
    #expect(error?.message.unicodeScalars.allSatisfy { $0.value >= 0x20 } == true)
  }
}
