import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Transforms")
struct ValueTransformTests {
  @Test("T14: a form-encoded value is decoded once, with + as a space")
  func formDecoded() throws {
    let decoded = try Pagination.ValueTransform.formDecoded.apply(
      to: "x+y%2Bz%C3%A9%2525", pageSize: nil)
    #expect(decoded == "x y+zé%25")
  }

  @Test(
    "T15: adding keeps every digit and the kind of a number",
    arguments: [
      (JSONValue.number("9"), 1, JSONValue.number("10")),
      (.string("9007199254740993"), 1, .string("9007199254740994")),
      (.number("12345678901234567890"), 1, .number("12345678901234567891")),
      (.number("10"), -1, .number("9")),
    ])
  func adding(_ value: JSONValue, _ number: Int, _ sum: JSONValue) throws {
    #expect(try Pagination.ValueTransform.adding(number).apply(to: value, pageSize: nil) == sum)
  }

  @Test(
    "A cursor that cannot be counted from is an error, not a trap",
    arguments: [
      JSONValue.string("a1"), .number("1.5"), .array([]),
      .number("170141183460469231731687303715884105727"),
    ])
  func notCountable(_ value: JSONValue) {
    let error = #expect(throws: PageError.self) {
      try Pagination.ValueTransform.adding(1).apply(to: value, pageSize: nil)
    }
    #expect(error?.code == .invalidCursor)
  }

  @Test(
    "A template puts values into a text and leaves other braces alone",
    arguments: [
      ("id ]{}..; max={size}", JSONValue.string("a"), "id ]a..; max=25"),
      ("{}-{to}", JSONValue.number("50"), "50-74"),
      ("{a}/{b}{c}", JSONValue.object([.init("a", 1), .init("b", "x")]), "1/x{c}"),
      (#"["{}"]{"#, JSONValue.string("k"), #"["k"]{"#),
    ])
  func template(_ text: String, _ value: JSONValue, _ result: String) throws {
    let filled = try Pagination.ValueTransform.template(text).apply(to: value, pageSize: 25)
    #expect(filled == .string(result))
  }

  @Test("T17: JSON text becomes a value and a value becomes JSON text, without loss")
  func json() throws {
    #expect(
      try Pagination.ValueTransform.json.apply(to: "1e400", pageSize: nil) == .number("1e400"))
    #expect(try Pagination.ValueTransform.json.apply(to: .number("7"), pageSize: nil) == 7)
    let key: JSONValue = ["a", .number("1.10")]
    #expect(try Pagination.ValueTransform.jsonText.apply(to: key, pageSize: nil) == #"["a",1.10]"#)
    #expect(try Pagination.ValueTransform.jsonText.apply(to: "a\"b", pageSize: nil) == #""a\"b""#)
    #expect(throws: PageError.self) {
      try Pagination.ValueTransform.json.apply(to: "[1", pageSize: nil)
    }
  }

  @Test("T17: a query parameter comes out of a link decoded, from a text or an object")
  func queryItem() throws {
    let item = Pagination.ValueTransform.queryItem("c")
    #expect(try item.apply(to: "/l?a=1&c=x%2By#f", pageSize: nil) == "x+y")
    #expect(try item.apply(to: ["href": "?c="], pageSize: nil) == "")
    #expect(try item.apply(to: "/l", pageSize: nil) == nil)
  }

  // MARK: In a walk

  private func engine(
    _ pagination: Pagination, url: String = "https://a.test/l", body: PageRequest.Body = .none,
    pageSize: Int? = nil
  ) throws -> PaginationEngine {
    let first = PageRequest(method: body == .none ? .get : .post, url: url, body: body)
    return try PaginationEngine(
      pagination, first: first, home: Origin(url: url), pageSize: pageSize)
  }

  private func follow(_ engine: PaginationEngine, _ page: String) throws -> PageRequest? {
    let request = try engine.builder.request(at: nil)
    let answer = PageAnswer(
      request: request, url: request.url, status: 200, headerFields: [:],
      document: try JSONDocument(Array(page.utf8)), position: .start)
    let count = try answer.document.count(at: "/items") ?? 0
    return try engine.finder.continuation(after: answer, itemCount: count).next.map {
      try engine.builder.request(at: $0)
    }
  }

  @Test("T15: the greatest id counts where a server does not sort, and the first where it asks so")
  func maxItem() throws {
    let page = #"{"items":[{"id":"9"},{"id":"10"},{"id":12345678901234567890},{"id":null},{}]}"#
    let telegram = try engine(
      Pagination(next: .adding(1, to: .maxItem("/id")), send: .query("offset"), items: "/items"))
    #expect(try follow(telegram, page)?.url == "https://a.test/l?offset=12345678901234567891")
    let first = try engine(
      Pagination(next: .firstItem("/id"), send: .query("before"), items: "/items"))
    #expect(try follow(first, page)?.url == "https://a.test/l?before=9")
    #expect(try follow(first, #"{"items":[]}"#) == nil)
  }

  @Test("T15: the greatest value is that of the number, with decimals and exponents too")
  func maxDecimal() throws {
    let engine = try engine(
      Pagination(next: .maxItem("/t"), send: .query("after"), items: ""))
    for (values, greatest) in [
      ("9.25,9.75,10.5", "10.5"), ("1e2,99", "1e2"), ("-1.5,-10.5", "-1.5"),
      (#""9.75","10.5""#, "10.5"), (#""1e5","9d0""#, "9d0"), ("0.10,0.1", "0.10"),
    ] {
      let page = "[\(values.split(separator: ",").map { "{\"t\":\($0)}" }.joined(separator: ","))]"
      #expect(try follow(engine, page)?.url == "https://a.test/l?after=\(greatest)", "\(values)")
    }
  }

  @Test("A template around an offset goes out with the first page too, and positions stay numbers")
  func templateOfOffset() throws {
    let description = Pagination(
      next: .template("{},{size}", of: .offset), send: .query("limit"), end: [.emptyPage],
      items: "/items", size: Pagination.PageSize(.header("X-Size")))
    let engine = try engine(description, pageSize: 2)
    #expect(try engine.builder.request(at: nil).url == "https://a.test/l?limit=0%2C2")
    #expect(try follow(engine, #"{"items":[1,2]}"#)?.url == "https://a.test/l?limit=2%2C2")
  }

  @Test(
    "A walk counts on from the number that it sent first, whatever was added to that or put around")
  func changedCounters() throws {
    let rows: [(next: Pagination.Next, query: String, second: String, isMidway: Bool)] = [
      (.adding(1, to: .pageNumber(first: 0)), "", "?at=2", false),
      (.adding(1, to: .pageNumber(first: 0)), "?at=1", "?at=2", false),
      (.adding(1, to: .pageNumber(first: 0)), "?at=5", "?at=6", true),
      (.template("row {} on", of: .offset), "?at=row%2040%20on", "?at=row%2042%20on", true),
      (.template("p{}", of: .adding(-1, to: .pageNumber)), "?at=p3", "?at=p4", true),
      (.template("p{}", of: .pageNumber), "?at=3", "?at=p4", true),
      (.template("1{}", of: .offset), "?at=13", "?at=15", true),
      (.template("{size},{}", of: .offset), "?at=2,40", "?at=2%2C42", true),
      (.adding(1, to: .offset), "?at=\(Int.min)", "?at=3", true),
    ]
    for row in rows {
      let engine = try engine(
        Pagination(
          next: row.next, send: .query("at"), end: [.emptyPage], items: "/items",
          size: Pagination.PageSize(.header("X-Size"))),
        url: "https://a.test/l\(row.query)", pageSize: 2)
      #expect(engine.startsMidway == row.isMidway, "\(row)")
      let second = try follow(engine, #"{"items":[1,2]}"#)?.url
      #expect(second == "https://a.test/l\(row.second)", "\(row)")
    }
  }

  @Test("V56: a placeholder is filled in the URL, encoded or not, and inside any body")
  func placeholder() throws {
    let description = Pagination(
      next: .offset, send: .placeholder("{{offset}}"), end: [.shortPage], items: "/items",
      size: Pagination.PageSize(.placeholder("{{limit}}")))
    let url = "https://a.test/l?query=LIMIT%20{{limit}}%20OFFSET%20%7B%7Boffset%7D%7D"
    let inURL = try engine(description, url: url, pageSize: 2)
    #expect(
      try inURL.builder.request(at: nil).url == "https://a.test/l?query=LIMIT%202%20OFFSET%200")
    #expect(
      try follow(inURL, #"{"items":[1,2]}"#)?.url
        == "https://a.test/l?query=LIMIT%202%20OFFSET%202")
    let bodies: [(PageRequest.Body, PageRequest.Body)] = [
      (
        .json(["q": ["LIMIT {{limit}} OFFSET {{offset}}", 1]]),
        .json(["q": ["LIMIT 2 OFFSET 2", 1]])
      ),
      (.form("q=%7B%7Blimit%7D%7D+{{offset}}"), .form("q=2+2")),
      (.xml("<q>{{limit}} {{offset}}</q>"), .xml("<q>2 2</q>")),
      (.bytes(Array("{{limit}} {{offset}}".utf8)), .bytes(Array("2 2".utf8))),
    ]
    for (template, filled) in bodies {
      let engine = try engine(description, body: template, pageSize: 2)
      #expect(try follow(engine, #"{"items":[1,2]}"#)?.body == filled)
    }
    #expect(throws: PageError.self) { try engine(description, pageSize: 2) }
  }

  @Test("T16, T17: several values go into a body together, and missing ones are left out")
  func bodyMerge() throws {
    let description = Pagination(
      next: .all(["/from/row": .json(.body("/row")), "/from/id": .body("/id")]), send: .bodyMerge,
      items: "/items")
    let engine = try engine(description, body: .json(["q": "x"]))
    #expect(
      try follow(engine, #"{"items":[1],"row":"12","id":"a"}"#)?.body
        == .json(["q": "x", "from": ["id": "a", "row": 12]]))
    #expect(
      try follow(engine, #"{"items":[1],"id":"a"}"#)?.body
        == .json(["q": "x", "from": ["id": "a"]]))
    #expect(try follow(engine, #"{"items":[1]}"#) == nil)
  }

  @Test("A page that names a place too deep in the body, or too intricate a one, is refused")
  func intricateMerge() throws {
    let description = Pagination(next: .body("/next"), send: .bodyMerge, items: "/items")
    let engine = try engine(description, body: .json([:]))
    for name in [
      String(repeating: "/a", count: 100_000), "/a[" + String(repeating: "not(", count: 60_000),
    ] {
      let error = #expect(throws: PageError.self) {
        try follow(engine, #"{"items":[1],"next":{"\#(name)":1}}"#)
      }
      #expect(error?.code == .invalidArgument)
      #expect(error?.message.utf8.count ?? .max < 1_000)
    }
    let many = (0...1_000).map { #""/a\#($0)":1"# }.joined(separator: ",")
    let error = #expect(throws: PageError.self) {
      try follow(engine, #"{"items":[1],"next":{\#(many)}}"#)
    }
    #expect(error?.code == .invalidCursor)
  }

  @Test("A parameter of a form is set in its place, encoded once, and the others are left alone")
  func form() throws {
    let description = Pagination(
      next: .body("/next"), send: .form("cursor"),
      request: Pagination.RequestRule(keep: .only(["token"])),
      items: "/items")
    let engine = try engine(description, body: .form("token=a%20b+c&limit=1"))
    #expect(
      try follow(engine, #"{"items":[1],"next":"x+/= é"}"#)?.body
        == .form("token=a%20b+c&cursor=x%2B%2F%3D%20%C3%A9"))
  }
}
