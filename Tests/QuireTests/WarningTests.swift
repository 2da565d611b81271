import HTTPTypes
import Quire
import Testing

/// What a walk's report says besides how it ended.
@Suite("What a program is warned of", .timeLimit(.minutes(15)))
struct WarningTests {
  /// A listing of one page, what speaks against its description, and how to mend that.
  struct Doubt: Sendable, CustomTestStringConvertible {
    var code: WalkReport.Warning.Code
    var page: String
    var pagination: Pagination
    var remedy: Remedy
    var testDescription: String { "\(code)" }
  }

  static let doubts = [
    Doubt(
      code: .placeNotFound, page: #"{"data":[1],"next_cursor":null}"#,
      pagination: Pagination(next: .body("/nextcursor"), send: .query("cursor"), items: "/data"),
      remedy: Remedy(.next)),
    Doubt(
      code: .placeNotFound, page: #"{"data":[1],"next":null,"total":1}"#,
      pagination: Pagination(next: .body("/next"), items: "/data", total: "/totl"),
      remedy: Remedy(.total, ["/total"])),
    Doubt(
      code: .placeNotFound, page: #"{"data":[],"has_more":false}"#,
      pagination: Pagination(
        next: .offset, send: .query("offset"), end: [.flag("/hasmore"), .emptyPage],
        items: "/data"), remedy: Remedy(.end)),
    Doubt(
      code: .itemsNotFound, page: #"{"records":[1],"next":null}"#,
      pagination: Pagination(next: .body("/next"), items: .optional("/items")),
      remedy: Remedy(.items, ["/records"])),
    Doubt(
      code: .itemsNotFound, page: "<r xmlns='urn:d'><next/><i>4</i><i>5</i></r>",
      pagination: Pagination(
        next: .body("/r/next"), send: .query("p"), items: "/r/{urn:other}i"),
      remedy: Remedy(.items, ["/r/i"])),
    Doubt(
      code: .linkSentAsValue, page: #"{"data":[1],"next":"https://l.test/?page=2"}"#,
      pagination: Pagination(next: .body("/next"), send: .query("page"), items: "/data"),
      remedy: Remedy(.send, ["url"])),
  ]

  private func report(_ page: String, _ pagination: Pagination) async throws -> WalkReport {
    let client = PageClient(transport: Answers([Answers.Answer(stringLiteral: page)]))
    let walk = client.cursor(of: Int.self, at: "https://l.test/", pagination: pagination)
      .limited(to: Limits(pages: 1)).walk()
    for try await _ in walk {}
    let raw = client.cursor(of: RawItem.self, at: "https://l.test/", pagination: pagination)
      .limited(to: Limits(pages: 1)).walk()
    for try await _ in raw {}
    #expect(raw.report.warnings == walk.report.warnings)
    return walk.report
  }

  @Test(
    "12-A2: what a description looks for in vain is in the report of a walk, with what to change",
    arguments: doubts)
  func warned(_ doubt: Doubt) async throws {
    let report = try await report(doubt.page, doubt.pagination)
    let warning = try #require(
      report.warnings.first { $0.code == doubt.code }, "\(report.warnings)")
    #expect(warning.remedy == doubt.remedy)
    #expect(report.description.contains("warning"))
  }

  @Test("12-A2: a walk whose pages are as described is warned of nothing")
  func quiet() async throws {
    let pagination = Pagination(next: .body("/next"), items: "/data", total: "/total")
    let report = try await report(#"{"data":[1],"next":null,"total":1}"#, pagination)
    #expect(report.warnings.isEmpty, "\(report.warnings)")
  }

  @Test(
    "12-A2: a filter that keeps the continuation out of the only page is in the report, whatever the description",
    arguments: [
      (#"?fields=files(id)"#, "nextPageToken"), ("?$fields=files/id,kind", "nextPageToken"),
      ("?fields=files&fields=kind", "nextPageToken"),
      ("?fields=files(id),nextPageToken", nil), ("?fields=nextPageToken&fields=files", nil),
      ("?fields=*,files(id)", nil), ("?fields=-files.name", nil), ("?fields=id,name", nil),
      ("?fields%5Bfiles%5D=name", nil), ("?q=files", nil),
    ] as [(String, String?)])
  func filteredContinuation(query: String, missing: String?) async throws {
    let own = Pagination(
      next: .body("/nextPageToken"), send: .query("pageToken"), items: "/files")
    for pagination in [Pagination.google.items(at: "/files"), own] {
      let walk = PageClient(transport: Answers([#"{"files":[{"id":"1"}]}"#])).cursor(
        of: JSONValue.self, at: "https://l.test/\(query)", pagination: pagination
      ).walk()
      for try await _ in walk {}
      let filtered = walk.report.warnings.filter { $0.code == .filteredContinuation }
      #expect(filtered.isEmpty == (missing == nil), "\(walk.report.warnings)")
      if let missing {
        #expect(walk.report.warnings.count == 1, "\(walk.report.warnings)")
        #expect(filtered.first?.message.hasSuffix("Add \(missing) to it.") == true)
      }
    }
  }

  @Test("12-A2: so is a query of GraphQL that asks for no pageInfo, and no end that a page has")
  func filteredQuery() async throws {
    let pagination = Pagination(
      next: .body("/data/items/pageInfo/endCursor"), send: .jsonBody("/variables/after"),
      items: "/data/items/nodes")
    let pages = [
      (#"{"data":{"items":{"nodes":[1]}}}"#, 1),
      (#"{"data":{"items":{"nodes":[1],"pageInfo":{"endCursor":null}}}}"#, 0),
    ]
    for (page, count) in pages {
      let walk = PageClient(transport: Answers([Answers.Answer(stringLiteral: page)])).cursor(
        of: Int.self, at: "https://l.test/", pagination: pagination,
        request: PageClient.RequestOptions(
          method: .post, body: .json(["query": "{ items { nodes { id } } }"]))
      ).walk()
      for try await _ in walk {}
      let warnings = walk.report.warnings
      #expect(warnings.count { $0.code == .filteredContinuation } == count, "\(warnings)")
    }
  }

  @Test(
    "12-A2: so is a selector of XML that leaves out the flag which ends a counted listing",
    arguments: [("", 1), ("<OutputSelector>HasMoreItems</OutputSelector>", 0)])
  func filteredFlag(selector: String, count: Int) async throws {
    let page =
      "<GetSellerListResponse><ItemArray><Item><ItemID>1</ItemID></Item></ItemArray></GetSellerListResponse>"
    let request = """
      <GetSellerListRequest><OutputSelector>ItemArray.Item.ItemID</OutputSelector>\(selector)\
      <Pagination><PageNumber>1</PageNumber></Pagination></GetSellerListRequest>
      """
    let walk = PageClient(transport: Answers([Answers.Answer(stringLiteral: page)])).cursor(
      of: RawItem.self, at: "https://l.test/",
      pagination: Pagination.ebayTrading.items(at: "/GetSellerListResponse/ItemArray/Item"),
      request: PageClient.RequestOptions(method: .post, body: .xml(request))
    ).walk()
    for try await _ in walk {}
    let warnings = walk.report.warnings
    #expect(warnings.count { $0.code == .filteredContinuation } == count, "\(warnings)")
  }

  @Test("12-A2: a first page that is shorter than was asked for is in the report as a doubt")
  func shortFirstPage() async throws {
    let pagination = Pagination(
      next: .offset, send: .query("offset"), end: [.shortPage], items: "/data",
      size: Pagination.PageSize(.query("limit")))
    let client = PageClient(transport: Answers([#"{"data":[1,2]}"#]))
    let walk = client.cursor(
      of: Int.self, at: "https://l.test/", pagination: pagination, pageSize: 10
    ).walk()
    for try await _ in walk {}
    #expect(walk.report.isComplete)
    #expect(walk.report.warnings.map(\.code) == [.shortFirstPage])
    #expect(walk.report.warnings.first?.remedy?.values == ["2"])
  }

  @Test(
    "12-A2: so is one that is shorter than the size in its own URL, by a preset too",
    arguments: [
      (Pagination.socrata, "?$limit=100"), (.discord, "?limit=100"),
    ])
  func shortFirstPageByItsURL(preset: Pagination, query: String) async throws {
    let walk = PageClient(transport: Answers([#"[{"id":"1"},{"id":"2"}]"#])).cursor(
      of: JSONValue.self, at: "https://l.test/\(query)", pagination: preset
    ).walk()
    for try await _ in walk {}
    let sizes = walk.report.warnings.filter { $0.code == .shortFirstPage }
    #expect(sizes.first?.remedy?.values == ["2"], "\(walk.report.warnings)")
  }

  @Test(
    "12-A2: a short first page is in the report wherever nothing else ended the listing, whatever leads on",
    arguments: [
      (
        Pagination(
          next: .lastItem("/id"), send: .query("after"), end: [.shortPage, .emptyPage],
          size: Pagination.PageSize(.query("limit"))), #"[{"id":1}]"#
      ),
      (.couchFind, #"{"docs":[{"_id":"a"}],"bookmark":"b"}"#),
    ])
  func shortFirstPageOfAny(preset: Pagination, page: String) async throws {
    let client = PageClient(transport: Answers([Answers.Answer(stringLiteral: page)]))
    let request =
      preset == .couchFind
      ? PageClient.RequestOptions(method: .post, body: .json(.object([])))
      : PageClient.RequestOptions()
    let walk = client.cursor(
      of: JSONValue.self, at: "https://l.test/", pagination: preset, pageSize: 100, request: request
    ).walk()
    for try await _ in walk {}
    #expect(walk.report.warnings.map(\.code) == [.shortFirstPage], "\(walk.report.warnings)")
  }

  @Test(
    "12-A2: a total that changes while pages are counted is a doubt, and none while a cursor leads on",
    arguments: [true, false])
  func changedTotal(isCounted: Bool) async throws {
    let pages = [#"{"data":[1,2],"next":"a","total":4}"#, #"{"data":[4],"total":3}"#]
    let pagination = Pagination(
      next: isCounted ? .offset : .body("/next"), send: .query("from"),
      end: isCounted ? [.total("/total"), .emptyPage] : [], items: "/data", total: "/total")
    let walk = PageClient(transport: Answers(pages.map { Answers.Answer(stringLiteral: $0) }))
      .cursor(
        of: Int.self, at: "https://l.test/", pagination: pagination
      ).walk()
    for try await _ in walk {}
    #expect(walk.report.warnings.map(\.code) == (isCounted ? [.changedTotal] : []))
  }

  @Test("12-A2: so is a total that changes between two walks, or during one that goes on")
  func changedTotalAcrossWalks() async throws {
    for totals in [[6, 6, 5], [6, 5, 5], [5, 5, 5]] {
      let pages = zip(["[1,2]", "[3,4]", "[5]"], totals).map { items, total in
        Answers.Answer(stringLiteral: "{\"data\":\(items),\"total\":\(total)}")
      }
      let cursor = PageClient(transport: Answers(pages)).cursor(
        of: Int.self, at: "https://l.test/",
        pagination: Pagination(
          next: .offset, send: .query("from"), end: [.total("/total"), .emptyPage], items: "/data",
          total: "/total"))
      let first = cursor.limited(to: Limits(pages: 1)).walk()
      for try await _ in first {}
      #expect(first.report.warnings.isEmpty, "\(first.report.warnings)")
      let rest = cursor.resuming(from: try #require(first.report.checkpoint)).walk()
      for try await _ in rest {}
      let isSame = totals.allSatisfy { $0 == 5 }
      #expect(rest.report.warnings.map(\.code) == (isSame ? [] : [.changedTotal]), "\(totals)")
    }
  }

  @Test("12-A2: a walk and its copy are each warned of their own pages")
  func copies() async throws {
    let pages = [
      #"{"data":[1,2],"total":4}"#, #"{"data":[3,4],"total":4}"#, #"{"data":[4],"total":3}"#,
    ]
    let pagination = Pagination(
      next: .offset, send: .query("from"), end: [.total("/total"), .emptyPage], items: "/data",
      total: "/total")
    let walk = PageClient(transport: Answers(pages.map { Answers.Answer(stringLiteral: $0) }))
      .cursor(of: Int.self, at: "https://l.test/", pagination: pagination).walk()
    _ = try await walk.next()
    let copy = walk.copy()
    for try await _ in walk {}
    for try await _ in copy {}
    #expect(walk.report.warnings.isEmpty, "\(walk.report.warnings)")
    #expect(copy.report.warnings.map(\.code) == [.changedTotal])
  }

  @Test(
    "12-A2: a number of pages that falls, or a range's total that changes, is a doubt like a total of items"
  )
  func changedCount() async throws {
    func codes(_ answers: [Answers.Answer], _ pagination: Pagination) async throws
      -> [WalkReport.Warning.Code]
    {
      let walk = PageClient(transport: Answers(answers))
        .cursor(of: Int.self, at: "https://l.test/", pagination: pagination).walk()
      for try await _ in walk {}
      return walk.report.warnings.map(\.code)
    }
    let numbered = Pagination(
      next: .pageNumber, send: .query("page"), end: [.pages("/pages")], items: "/data")
    func pages(_ counts: [Int]) -> [Answers.Answer] {
      counts.enumerated().map { "{\"data\":[\($0)],\"pages\":\($1)}" }
    }
    #expect(try await codes(pages([4, 2]), numbered) == [.changedTotal])
    // Listings that grow at their end lose nothing.
    #expect(try await codes(pages([2, 3, 4, 4]), numbered) == [])
    var ranged: [Answers.Answer] = ["[1,2]", "[3,4]"]
    ranged[0].fields[.contentRange] = "0-1/6"
    ranged[1].fields[.contentRange] = "2-3/4"
    #expect(try await codes(ranged, .postgrest) == [.changedTotal])
  }

  @Test("12-A2: a full page without flag, continuation and total is a doubt about its end")
  func unmarkedEnd() async throws {
    func codes(_ page: Answers.Answer, size: Int?) async throws -> [WalkReport.Warning.Code] {
      let walk = PageClient(transport: Answers([page])).cursor(
        of: JSONValue.self, at: "https://l.test/", pagination: .disqus, pageSize: size
      ).walk()
      for try await _ in walk {}
      return walk.report.warnings.map(\.code)
    }
    #expect(try await codes(#"{"code":0,"response":[1,2]}"#, size: 2) == [.unmarkedEnd])
    #expect(try await codes(#"{"code":0,"response":[1]}"#, size: 2) == [])
    let last: Answers.Answer = #"{"code":0,"cursor":{"hasNext":false},"response":[1,2]}"#
    #expect(try await codes(last, size: 2) == [])
  }

  @Test("12-A2: a feed's link to the next page without an address is a doubt about its end")
  func linkWithoutTarget() async throws {
    func report(_ link: String) async throws -> WalkReport {
      let pages = [("a", link), ("b", "")].map { id, link in
        Answers.Answer(200, "<feed><entry><id>\(id)</id></entry>\(link)</feed>")
      }
      let walk = PageClient(transport: Answers(pages))
        .cursor(of: RawItem.self, at: "https://l.test/", pagination: .atom).walk()
      for try await _ in walk {}
      return walk.report
    }
    let broken = try await report("<link rel='next'/>")
    #expect(broken.pages == 1 && broken.warnings.map(\.code).contains(.linkWithoutTarget))
    for link in ["", "<link rel='self'/>", "<link rel='next' href='?p=2'/>"] {
      #expect(try await !report(link).warnings.map(\.code).contains(.linkWithoutTarget), "\(link)")
    }
    // Registered relations are compared without case (RFC 8288, section 2.1.1).
    #expect(try await report("<link rel='NEXT' href='?p=2'/>").pages == 2)
    let json = PageClient(
      transport: Answers([
        #"{"entry":[1],"link":[{"rel":"next","@href":"?p=2"}]}"#,
        #"{"entry":[2],"link":[{"rel":"self"}]}"#,
      ])
    ).cursor(
      of: JSONValue.self, at: "https://l.test/",
      pagination: Pagination(
        next: .body("/link[rel=next]/@href"), send: .url, items: "/entry")
    ).walk()
    for try await _ in json {}
    #expect(json.report.pages == 2)
  }

  /// Pages whose items shift by one that is inserted while they are read, in each format.
  struct Shifted: Sendable, CustomTestStringConvertible {
    var pages: [String]
    var type = "application/json"
    var items = Pagination.Items.root
    var testDescription: String { pages[0] }
  }

  static let shifted = [
    Shifted(pages: [#"[{"id":1,"n":1},{"id":2,"n":1}]"#, #"[{"id":2,"n":1},{"id":3,"n":1}]"#, "[]"]
    ),
    Shifted(pages: [#"[{"n":1},{"n":2},{"n":3}]"#, #"[{"n":2},{"n":3},{"n":4}]"#, "[]"]),
    Shifted(
      pages: [#"<l><i id="1"/><i id="2"/></l>"#, #"<l><i id="2"/><i id="3"/></l>"#, "<l/>"],
      type: "application/xml", items: "/l/i"),
    Shifted(pages: ["id,n\n1,a\n2,a", "id,n\n2,a\n3,a", "id,n"], type: "text/csv"),
  ]

  private func codes(
    of listing: Shifted, overlap: Int = 0
  ) async throws -> [WalkReport.Warning.Code] {
    var pagination = Pagination(
      next: .offset, send: .query("offset"), end: [.emptyPage], items: listing.items)
    pagination.policy.overlap = overlap
    let answers = listing.pages.map { page in
      var answer = Answers.Answer(200, page)
      answer.fields[.contentType] = listing.type
      return answer
    }
    let walk = PageClient(transport: Answers(answers)).cursor(
      of: RawItem.self, at: "https://l.test/", pagination: pagination
    ).walk()
    for try await _ in walk {}
    return walk.report.warnings.map(\.code)
  }

  @Test(
    "12-A2: items that the page before ended with are a doubt where pages are counted",
    arguments: shifted)
  func overlappingPages(listing: Shifted) async throws {
    #expect(try await codes(of: listing) == [.overlappingPages])
    #expect(try await codes(of: listing, overlap: 1) == [])
  }

  @Test(
    "12-A2: equal items at the border of two pages are no doubt where they may be meant",
    arguments: [
      ["[1,2]", "[2,3]", "[]"], [#"[{"n":"a"},{"n":"b"}]"#, #"[{"n":"b"},{"n":"c"}]"#, "[]"],
      [#"[{"id":1},{"id":2}]"#, #"[{"id":2,"n":1},{"id":3}]"#, "[]"],
      [#"["on","off","on","off"]"#, #"["on","off","on","on"]"#, "[]"],
      ["[{},{}]", "[{},{},{}]", "[]"],
    ])
  func equalItems(pages: [String]) async throws {
    #expect(try await codes(of: Shifted(pages: pages)) == [])
  }

  @Test(
    "12-A2: a last page without the empty token of OAI-PMH is a doubt where less than its size came",
    arguments: [
      ("", 6, true), ("", 3, false), ("<resumptionToken/>", 6, false),
      ("<resumptionToken completeListSize='6'/>", 6, false),
    ] as [(String, Int, Bool)])
  func missingEmptyToken(token: String, size: Int, isDoubt: Bool) async throws {
    let pages = ["<resumptionToken completeListSize='\(size)'>t</resumptionToken>", token]
    let answers = pages.enumerated().map { index, token in
      Answers.Answer(
        200,
        "<OAI-PMH><ListRecords><record><n>\(index)</n></record><record><n>\(index)a</n></record>"
          + "\(token)</ListRecords></OAI-PMH>")
    }
    let walk = PageClient(transport: Answers(answers)).cursor(
      of: RawItem.self, at: "https://l.test/?verb=ListRecords", pagination: .oaiPMH
    ).walk()
    for try await _ in walk {}
    #expect(walk.report.pages == 2)
    #expect(walk.report.warnings.map(\.code) == (isDoubt ? [.endBeforeTotal] : []))
  }

  @Test(
    "12-A2: repeated elements in the place of a preset's are a doubt, and an empty listing is none",
    arguments: [
      (Pagination.rss, "<rss><channel><entry>1</entry><entry>2</entry></channel></rss>", true),
      (.sitemap, "<urlset><entry><loc>a</loc></entry><entry><loc>b</loc></entry></urlset>", true),
      (.s3, "<ListBucketResult><Object><K>a</K></Object><Object/></ListBucketResult>", true),
      (.atom, "<feed><link rel='self'/><link rel='hub'/><title>t</title></feed>", false),
      (.rss, "<rss><channel><category>a</category><category>b</category></channel></rss>", false),
      (.wfs, "<FeatureCollection><boundedBy><Null/></boundedBy></FeatureCollection>", false),
    ] as [(Pagination, String, Bool)])
  func otherElements(preset: Pagination, page: String, isDoubt: Bool) async throws {
    let walk = PageClient(transport: Answers([Answers.Answer(200, page)]))
      .cursor(of: RawItem.self, at: "https://l.test/", pagination: preset).walk()
    for try await _ in walk {}
    #expect(walk.report.warnings.map(\.code) == (isDoubt ? [.itemsNotFound] : []))
  }

  @Test("12-A2: an empty listing that says so gets no advice where its items may be")
  func emptyByItsTotal() async throws {
    let bundle = #"{"resourceType":"Bundle","total":0,"link":[{"relation":"self","url":"x"}]}"#
    let walk = PageClient(transport: Answers([Answers.Answer(stringLiteral: bundle)])).cursor(
      of: JSONValue.self, at: "https://l.test/", pagination: .fhir
    ).walk()
    for try await _ in walk {}
    #expect(walk.report.warnings.isEmpty, "\(walk.report.warnings)")
  }

  @Test("12-A2: the links that a description goes on by are never advised as its items")
  func linksAreNoItems() async throws {
    let page = #"{"links":[{"rel":"self","href":"/x"}],"total":2}"#
    let pagination = Pagination(
      next: .body("/links[rel=next]/href"), items: .optional("/plans"), total: "/total")
    let client = PageClient(transport: Answers([Answers.Answer(stringLiteral: page)]))
    let walk = client.cursor(of: JSONValue.self, at: "https://l.test/", pagination: pagination)
      .walk()
    for try await _ in walk {}
    #expect(!walk.report.warnings.contains { $0.code == .itemsNotFound })
    let error = await #expect(throws: PageError.self) {
      _ = try await client.cursor(
        of: JSONValue.self, at: "https://l.test/", pagination: .payPal
      ).items.collect()
    }
    #expect(error?.description.contains("/links") == false, "\(error?.description ?? "")")
  }

  @Test(
    "12-A2: a page size that was not said is no placeholder in a request",
    arguments: [
      (Pagination.sparql, "?query=LIMIT%20{{limit}}%20OFFSET%20{{offset}}"),
      (
        .quickBooks.items(at: "/QueryResponse/Customer"),
        "?query=startposition%20{{start}}%20maxresults%20{{size}}"
      ),
    ])
  func unsaidPageSize(preset: Pagination, query: String) async throws {
    let items = PageClient(transport: Answers([])).cursor(
      of: JSONValue.self, at: "https://l.test/" + query, pagination: preset
    ).items
    await #expect {
      _ = try await items.collect()
    } throws: { error in
      let error = error as? PageError
      return error?.code == .invalidArgument && error?.remedies.first?.setting == .pageSize
    }
  }
}
