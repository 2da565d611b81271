import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Pagination engine")
struct PaginationEngineTests {
  private let url = "https://a.test/l"

  private func makeEngine(
    _ pagination: Pagination, url: String = "https://a.test/l", pageSize: Int? = nil,
    method: HTTPRequest.Method = .get, body: PageRequest.Body = .none
  ) throws -> PaginationEngine {
    let first = PageRequest(method: method, url: url, body: body)
    return try PaginationEngine(
      pagination, first: first, home: Origin(url: url), pageSize: pageSize)
  }

  private func answer(
    _ engine: PaginationEngine, _ body: String, at position: Position = .start
  ) throws -> PageAnswer {
    let request = try engine.builder.request(at: position)
    return PageAnswer(
      request: request, url: request.url, status: 200, headerFields: [:],
      document: try JSONDocument(Array(body.utf8)), position: position)
  }

  @Test("H26: a wait that a body asks for is finite, and none where it is no time")
  func waits() throws {
    let rule = Pagination.FailureRule(
      when: .value(.body("/error")), .throttled, after: .body("/after"))
    var pagination = Pagination(next: .body("/next"))
    pagination.policy.failure = [rule]
    let engine = try makeEngine(pagination)
    for (after, delay) in [
      ("1e300", .seconds(3.2e9)), ("\"inf\"", .seconds(3.2e9)), ("2.5", .seconds(2.5)),
      ("-1", nil), ("\"NaN\"", nil), ("null", nil),
    ] as [(String, Duration?)] {
      let answer = try answer(engine, #"{"error":"slow down","after":\#(after)}"#)
      guard case .failure(let failure) = try engine.reader.classify(answer) else {
        Issue.record("a failure was taken for a page")
        return
      }
      #expect(failure.delay == delay, "\(after)")
    }
  }

  @Test(
    "Parts that do not fit together are refused with a sentence that says which",
    arguments: [
      (Pagination(next: .firstOf([])), "has no routes"),
      (
        Pagination(next: .firstOf([Pagination.Route(.firstOf([]), send: .url)])),
        "stands inside \"firstOf\""
      ),
      (Pagination(next: .all(["a": .body("/a")]), send: .query("a")), "queryMerge"),
      (Pagination(next: .all(["a": .offset]), send: .queryMerge), "only sources of one value"),
      (Pagination(next: .queryItem("a", of: .pageNumber), send: .query("a")), "change numbers"),
      (Pagination(next: .offset, end: [.emptyPage]), "sent as a link"),
      (Pagination(next: .offset, send: .query("o")), "never ends"),
      (Pagination(next: .pageNumber, send: .query("p"), end: [.noNext()]), "never ends"),
      (Pagination(next: .offset, send: .query("o"), end: [.shortPage]), "how long a page is"),
      (
        Pagination(next: .offset(step: .pageSize), send: .query("o"), end: [.emptyPage]),
        "moves by the page size"
      ),
      (
        Pagination(next: .body("/a"), send: .query("a"), end: [.total("/t")]),
        "this one has cursors"
      ),
      (
        Pagination(next: .offset, send: .query("a"), end: [.pages("/t")]),
        "a walk that counts pages"
      ),
      (
        Pagination(
          next: .offset, send: .query("a"), end: [.total(Pagination.TotalSource("/t", .lowerBound))]
        ),
        "lower bound"
      ),
      (
        Pagination(
          next: .body("/a"), send: .jsonBody("/a"), request: Pagination.RequestRule(method: .get)),
        "requests made GET have none"
      ),
      (Pagination(next: .body("/a"), send: .jsonBody("/a")), "Make it a POST"),
      (
        Pagination(
          next: .body("/a"), send: .query("a"), size: Pagination.PageSize(.jsonBody("/n"))),
        "Make it a POST"
      ),
      (Pagination(next: .header("bad name"), send: .query("a")), "name of a header field"),
      (Pagination(next: .body("/a"), send: .header("")), "name of a header field"),
      (Pagination(next: .body("/a"), send: .header("Host")), "how the request is sent"),
      (Pagination(next: .body("/a"), send: .query("")), "no name"),
      (Pagination(next: .body("/a"), send: .itemRange), "range of items"),
      (
        Pagination(next: .contentRange(), send: .itemRange, end: [.emptyPage]), "needs a page size"
      ),
      (Pagination(next: .body("/a"), send: .path("{page}")), "does not contain \"{page}\""),
    ])
  func misfits(_ pagination: Pagination, _ part: String) throws {
    let error = #expect(throws: PageError.self) { try makeEngine(pagination) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.description.contains(part) == true, "\(error?.description ?? "")")
  }

  @Test("A body of another kind than the values is refused before the first request")
  func foreignBody() throws {
    let pagination = Pagination(
      next: .body("/a"), send: .jsonBody("/a"), request: Pagination.RequestRule(first: "*"))
    #expect(throws: PageError.self) { try makeEngine(pagination, body: .bytes([1])) }
    let places: [(Pagination.Placement, PageRequest.Body)] = [
      (.jsonBody("/a"), .form("q=1")), (.bodyMerge, .bytes([1])), (.form("a"), .bytes([1])),
      (.form("a"), .json([:])), (.xmlBody("//a"), .form("a=1")),
    ]
    for (place, body) in places {
      let error = #expect(throws: PageError.self) {
        try makeEngine(Pagination(next: .body("/a"), send: place), body: body)
      }
      #expect(error?.message.contains("the walk's request has another") == true, "\(place)")
    }
    let engine = try makeEngine(
      Pagination(next: .body("/a"), send: .jsonBody("/a/b")), body: .json(["a": "text"]))
    #expect(throws: PageError.self) { try engine.builder.request(at: Position(["token": "x"])) }
  }

  @Test("A page size beyond the maximum is lowered, and said so")
  func clamp() throws {
    let engine = try makeEngine(.github, pageSize: 1000)
    #expect(try engine.builder.request(at: nil).url == url + "?per_page=100")
    #expect(engine.notices.count == 1)
    #expect(engine.notices.first?.contains("lowered to 100") == true)
    #expect(try makeEngine(.github, pageSize: 100).notices == [])
    #expect(throws: PageError.self) { try makeEngine(.jsonFeed, pageSize: 10) }
    #expect(throws: PageError.self) { try makeEngine(.github, pageSize: 0) }
  }

  @Test("A page size that the server does not take tells short pages all the same")
  func fixedPageSize() throws {
    let file = """
      {"next": "offset", "send": {"query": "o"}, "end": ["shortPage"], "size": {"default": 2}}
      """
    let pagination = try Pagination(json: Array(file.utf8))
    #expect(pagination.size == Pagination.PageSize(default: 2))
    #expect(try Pagination(json: pagination.json) == pagination)
    let engine = try makeEngine(pagination)
    #expect(try engine.builder.request(at: nil).url == url)
    #expect(
      engine.finder.continuation(after: try answer(engine, "[1, 2]"), itemCount: 2).next != nil)
    #expect(engine.finder.continuation(after: try answer(engine, "[1]"), itemCount: 1).next == nil)
    #expect(throws: PageError.self) { try makeEngine(pagination, pageSize: 5) }
  }

  @Test("The caller's own parameters are never overwritten on the first page")
  func callerWins() throws {
    let asana = try makeEngine(.asana, url: url + "?limit=7&opt_fields=a,b")
    #expect(try asana.builder.request(at: nil).url == url + "?limit=7&opt_fields=a,b")
    let crossref = try makeEngine(.crossref, url: url + "?cursor=abc%2F")
    #expect(try crossref.builder.request(at: nil).url == url + "?cursor=abc%2F")
    #expect(try makeEngine(.asana).builder.request(at: nil).url == url + "?limit=100")
    for (range, asked) in [("40-", "40-49"), ("items=40-", "items=40-49"), ("40-44", "40-49")] {
      let engine = try PaginationEngine(
        .postgrest, first: PageRequest(url: url, headerFields: [.range: range]),
        home: Origin(url: url), pageSize: 10)
      #expect(engine.first.headerFields[.range] == asked)
      #expect(engine.startsMidway)
    }
  }

  @Test("A range begins at the first item that a description counts from, whoever gives the size")
  func firstRange() throws {
    for (size, asked) in [(nil, "1-1000"), (50, "1-50")] as [(Int?, String)] {
      let engine = try makeEngine(.postgrest.counting(from: 1), pageSize: size)
      #expect(engine.first.headerFields[.range] == asked)
      #expect(!engine.startsMidway)
    }
  }

  @Test("C-10: a request that begins in the middle of the listing is known as one")
  func midway() throws {
    for (query, isMidway) in [
      ("", false), ("?offset=0", false), ("?offset=", false), ("?offset=20", true),
    ] {
      let engine = try makeEngine(.offsetLimit, url: "https://a.test/l\(query)")
      #expect(engine.startsMidway == isMidway, "\(query)")
    }
    for (query, isMidway) in [("?cursorMark=*", false), ("?cursorMark=AoE", true)] {
      let engine = try makeEngine(.solr, url: "https://a.test/l\(query)")
      #expect(engine.startsMidway == isMidway, "\(query)")
    }
  }

  @Test("A page size goes where the description says, in the form it says")
  func pageSizes() throws {
    let odata = try makeEngine(.odata, pageSize: 5).builder.request(at: nil)
    #expect(odata.headerFields.first?.value == "odata.maxpagesize=5")
    let link = try makeEngine(.odata, pageSize: 5).builder.request(
      at: Position(["url": "https://a.test/l?$skip=5"]))
    #expect(link.url == "https://a.test/l?$skip=5")
    #expect(link.headerFields.first?.value == "odata.maxpagesize=5")
    let notion = try makeEngine(.notion, pageSize: 5, method: .post).builder.request(at: nil)
    #expect(notion.body == .json(["page_size": 5]))
  }

  @Test(
    "A position of another listing is refused",
    arguments: [
      Position("x"), Position(["offset": "x"]), Position([:]), Position(["url": 1]),
      Position(["token": "x", "via": 3]), Position(["token": "x", "via": -1]),
      Position(["url": "https://a.test/"]),
    ])
  func alienPosition(_ position: Position) throws {
    let engine = try makeEngine(Pagination(next: .body("/a"), send: .query("a")))
    let error = #expect(throws: PageError.self) { try engine.builder.request(at: position) }
    #expect(error?.code == .invalidArgument)
  }

  @Test(
    "A position that counts in another way than the listing is refused",
    arguments: [
      (Pagination.offsetLimit, Position(["page": 3])),
      (.offsetLimit, Position(["token": "c5"])),
      (.pages, Position(["offset": 3])), (.pages, Position(["token": "c5"])),
      (Pagination(next: .body("/a"), send: .query("a")), Position(["page": 3])),
    ])
  func alienCount(_ pagination: Pagination, _ position: Position) throws {
    let engine = try makeEngine(pagination)
    let error = #expect(throws: PageError.self) { try engine.builder.request(at: position) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message.contains("counts in another way") == true)
  }

  @Test("A position without a link is refused where links are followed")
  func positionWithoutLink() throws {
    let error = #expect(throws: PageError.self) {
      try makeEngine(.linkHeader).builder.request(at: Position(["token": "x"]))
    }
    #expect(error?.code == .invalidArgument)
  }

  @Test(
    "R14: a cursor that cannot be sent is refused, from a page and from a checkpoint alike",
    arguments: [
      JSONValue.string("a\r\nX-Admin: 1"), .string("a\u{0}"), .string("\u{7F}"),
      .string(String(repeating: "a", count: 8193)), .array(["a", ["b\n"]]),
      .object([JSONValue.Member("k\u{1}", "v")]),
    ])
  func invalidCursor(_ token: JSONValue) throws {
    let engine = try makeEngine(Pagination(next: .body("/next"), send: .header("X-Cursor")))
    let checkpoint = #expect(throws: PageError.self) {
      try engine.builder.request(at: Position(["token": token]))
    }
    #expect(checkpoint?.code == .invalidCursor)
    let answer = try answer(engine, "{\"next\":\(token)}")
    let continuation = engine.finder.continuation(after: answer, itemCount: 1)
    #expect(continuation.next == nil)
    #expect(continuation.nextFailure?.code == .invalidCursor)
  }

  @Test("R14: control characters of a cursor are sent where they are encoded, and nowhere else")
  func encodedControls() throws {
    let token: JSONValue = ["k": "a\tb\u{0}\n"]
    let get = try makeEngine(Pagination(next: .body("/next"), send: .query("t")))
    #expect(try get.builder.request(at: Position(["token": "a\n\u{0}"])).url.hasSuffix("t=a%0A%00"))
    for send in [Pagination.Placement.jsonBody("/after"), .form("after")] {
      let post = try makeEngine(Pagination(next: .body("/next"), send: send), method: .post)
      let continuation = post.finder.continuation(
        after: try answer(post, "{\"next\":\(token)}"), itemCount: 1)
      let position = try #require(continuation.next)
      #expect(try post.builder.request(at: position).body != .none)
    }
    for send in [
      Pagination.Placement.query("t", encoding: .verbatim), .header("X-T"), .queryMerge, .url,
    ] {
      let engine = try makeEngine(Pagination(next: .body("/next"), send: send))
      let continuation = engine.finder.continuation(
        after: try answer(engine, "{\"next\":\"https://a.test/x?\\u0001=1\"}"), itemCount: 1)
      #expect(continuation.next == nil)
      #expect(continuation.nextFailure?.code == .invalidCursor)
    }
  }

  @Test("A cursor of 8 KiB can be sent")
  func longestCursor() throws {
    let engine = try makeEngine(Pagination(next: .body("/next"), send: .query("t")))
    let token = String(repeating: "a", count: 8192)
    #expect(
      try engine.builder.request(at: Position(["token": .string(token)])).url.hasSuffix(token))
  }

  @Test(
    "A cursor that goes into a body may be longer, such as the state of a search, and has an end")
  func longCursorInBody() throws {
    for send in [Pagination.Placement.jsonBody("/cursor"), .form("cursor")] {
      let engine = try makeEngine(Pagination(next: .body("/next"), send: send), method: .post)
      let token = String(repeating: "a", count: 100_000)
      let request = try engine.builder.request(at: Position(["token": .string(token)]))
      #expect("\(request.body)".contains(token))
      let error = #expect(throws: PageError.self) {
        try engine.builder.request(at: Position(["token": .string(token + token + token)]))
      }
      #expect(error?.code == .invalidCursor)
    }
  }

  @Test("T11: a stored link is judged by the policy again")
  func storedLink() throws {
    let engine = try makeEngine(.linkHeader)
    for link in ["https://evil.test/", "http://a.test/", "file:///etc/passwd", "//b.test/"] {
      #expect(throws: PageError.self, "\(link)") {
        try engine.builder.request(at: Position(["url": .string(link)]))
      }
    }
    #expect(
      try engine.builder.request(at: Position(["url": "https://a.test/x#y"])).url == url.dropLast()
        + "x")
  }

  @Test(
    "Hostile numbers in positions and pages end in an error or an end, never in a trap",
    arguments: [Int.max, Int.min, Int.max - 1, -1, 0])
  func hostileNumbers(_ number: Int) throws {
    let value = JSONValue.number(String(number))
    let descriptions = [
      "offset": Pagination(
        next: .offset(first: 1, step: .body("/n")), send: .query("o"),
        end: [.total("/t"), .emptyPage], total: "/t"),
      "page": Pagination(
        next: .pageNumber(first: 0, from: "/n"), send: .query("o"),
        end: [.total("/t"), .pages("/t")],
        size: Pagination.PageSize(.query("s"), default: Int.max)),
    ]
    for (count, pagination) in descriptions {
      let engine = try makeEngine(pagination)
      for name in [count, "token"] {
        let position = Position([name: value, "seen": value])
        let answer = try answer(engine, "{\"n\":\(number),\"t\":\(number)}", at: position)
        _ = engine.finder.continuation(after: answer, itemCount: Int.max)
      }
    }
  }

  @Test("Links are seen from where the answer came from, after redirects")
  func finalURL() throws {
    let engine = try makeEngine(Pagination(next: .body("/next")))
    var answer = try answer(engine, #"{"next":"?p=2"}"#)
    answer.url = "https://a.test/moved/here?p=1"
    let next = engine.finder.continuation(after: answer, itemCount: 1).next
    #expect(next == Position(["url": "https://a.test/moved/here?p=2"]))
  }

  @Test(
    "A link that is none is an error after its page", arguments: ["12", #"["/a"]"#, "{\"a\":1}"])
  func noLink(_ value: String) throws {
    let engine = try makeEngine(Pagination(next: .body("/next")))
    let answer = try answer(engine, "{\"next\":\(value)}")
    #expect(
      engine.finder.continuation(after: answer, itemCount: 1).nextFailure?.code == .refusedLink)
  }

  @Test(
    "A link's object that has no link ends a walk as none does, and so does false",
    arguments: [
      #"{"href":null}"#, #"{"href":""}"#, #"{"href":false}"#, #"{"href":" ","templated":true}"#,
      #"[{"href":null}]"#, "false", "[]", "{}",
    ])
  func emptyLink(_ value: String) throws {
    for send in [Pagination.Placement.url, .request] {
      let engine = try makeEngine(Pagination(next: .body("/next"), send: send))
      let end = engine.finder.continuation(
        after: try answer(engine, "{\"next\":\(value)}"), itemCount: 1)
      #expect(end.next == nil && end.nextFailure == nil, "\(send)")
    }
  }

  @Test("HAL: the only link object of a list is the link")
  func listOfLinks() throws {
    let engine = try makeEngine(.hal.items(at: "/_embedded/things"))
    let page = #"{"_embedded":{"things":[1]},"_links":{"next":[{"href":"/l?page=2"}]}}"#
    let next = engine.finder.continuation(after: try answer(engine, page), itemCount: 1).next
    #expect(next == Position(["url": "https://a.test/l?page=2"]))
    let two = page.replacing("}]}}", with: #"},{"href":"/l?page=3"}]}}"#)
    let both = engine.finder.continuation(after: try answer(engine, two), itemCount: 1)
    #expect(both.nextFailure?.code == .refusedLink)
  }

  @Test("A link that describes a request has nothing deleted", arguments: ["DELETE", "put"])
  func methods(_ method: String) throws {
    let engine = try makeEngine(.ogcFeatures)
    let link = #"{"rel":"next","href":"/l?page=2","method":"\#(method)"}"#
    let answer = try answer(engine, #"{"features":[1],"links":[\#(link)]}"#)
    let continuation = engine.finder.continuation(after: answer, itemCount: 1)
    let next = try #require(continuation.next)
    let error = #expect(throws: PageError.self) { try engine.builder.request(at: next) }
    #expect(error?.code == .refusedLink)
  }

  @Test("G4: an offset that would stand still is an error behind its page, but where a rule ends")
  func standstill() throws {
    var description = Pagination.offsetLimit.total(at: "/total")
    description.end = [.total(.init("/total"))]
    let page = #"{"total": 5}"#
    let engine = try makeEngine(description)
    let error = engine.finder.continuation(after: try answer(engine, page), itemCount: 0)
      .nextFailure
    #expect(error?.code == .noProgress)
    #expect(error?.message.contains("begin at 0 again") == true)
    #expect(error?.description.contains("add the end rule .emptyPage") == true)
    for rule in [Pagination.End.emptyPage, .notAdvancing] {
      description.end = [rule, .total(.init("/total"))]
      let engine = try makeEngine(description)
      let end = engine.finder.continuation(after: try answer(engine, page), itemCount: 0)
      #expect(end.next == nil && end.nextFailure == nil)
    }
  }

  @Test("H15: 204 is an empty page or the end where a rule says so")
  func noContent() throws {
    var lenient = Pagination.pages
    lenient.policy.failure = [Pagination.FailureRule(when: .status(204), .empty)]
    let plain = try makeEngine(lenient)
    func answer(at position: Position) throws -> PageAnswer {
      PageAnswer(
        request: try plain.builder.request(at: nil), url: url, status: 204, headerFields: [:],
        document: EmptyDocument(), position: position)
    }
    guard case .emptyPage = try plain.reader.classify(answer(at: Position(["page": 2]))) else {
      Issue.record("204 is not an empty page")
      return
    }
    var description = Pagination.pages
    description.end = [.status([204])]
    let ending = try makeEngine(description)
    guard case .end = try ending.reader.classify(answer(at: .start)) else {
      Issue.record("204 is not the end")
      return
    }
  }
}
