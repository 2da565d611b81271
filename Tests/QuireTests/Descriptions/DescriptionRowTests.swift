import QuireXML
import HTTPTypes
import Quire
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What the language of descriptions, and the presets in it, can say.
@Suite("Descriptions, row by row", .timeLimit(.minutes(15)))
struct DescriptionRowTests {
  private func client(_ server: Answers, _ retry: RetryPolicy = .never) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry = retry
    return PageClient(transport: server, configuration: configuration)
  }

  // MARK: Links

  @Test(
    "12-L19: the preset odata follows its next link however the version spells it",
    arguments: [
      #""value":[1],"@odata.nextLink""#, #""value":[1],"@nextLink""#,
      #""value":[1],"@iot.nextLink""#, #""value":[1],"odata.nextLink""#,
      #""results":[1],"__next""#,
    ])
  func spellings(_ members: String) async throws {
    let server = Answers([
      Answers.Answer(stringLiteral: "{\(members):\"https://l.test/2\"}"), #"{"value":[2]}"#,
    ])
    #expect(try await client(server).drain(.odata) == ["1", "2"])
    #expect(server.targets == ["/", "/2"])
  }

  @Test("12-L19: the presets of OData read version 2 and 3, too")
  func oldVersions() async throws {
    for pagination in [Pagination.odata, .odataV2] {
      let server = Answers([
        #"{"d":{"results":[1],"__next":"https://l.test/2","__count":"2"}}"#,
        #"{"d":{"results":[2]}}"#,
      ])
      #expect(try await client(server).drain(pagination) == ["1", "2"])
    }
    let server = Answers([
      #"{"odata.metadata":"https://l.test/s/$metadata#T","value":[1],"odata.nextLink":"T?$skip=1"}"#,
      #"{"value":[2]}"#,
    ])
    #expect(try await client(server).drain(.odataV2) == ["1", "2"])
    #expect(server.targets == ["/", "/s/T?$skip=1"])
  }

  @Test("12-L19: a relative link starts at OData's context URL, which may be relative itself")
  func context() async throws {
    for context in ["https://l.test/api/v4/$metadata#Things", "/api/v4/$metadata#Things"] {
      let server = Answers([
        Answers.Answer(
          stringLiteral:
            "{\"@odata.context\":\"\(context)\",\"value\":[1],\"@odata.nextLink\":\"Things?$skip=1\"}"
        ), #"{"value":[2]}"#,
      ])
      let items = try await client(server).drain(.odata, at: "https://l.test/other/deep/Things")
      #expect(items == ["1", "2"])
      #expect(server.targets == ["/other/deep/Things", "/api/v4/Things?$skip=1"])
    }
    let server = Answers([
      #"{"@context":"https://evil.test/$metadata","value":[1],"@nextLink":"Things"}"#
    ])
    let error = await #expect(throws: PageError.self) {
      try await client(server).drain(.odata)
    }
    #expect(error?.code == .crossOriginLink)
  }

  @Test("12-L19: any description can say what its links start from, links to the page before too")
  func linkBase() async throws {
    let pagination = try Pagination(
      json: """
        {"next": {"body": "/next | /l/next"}, "items": "/items | /l/items/i",
         "policy": {"linkBase": {"firstOf": ["/base | /l/@base", {"header": "X-Base"}]}},
         "previous": {"from": {"body": "/prev"}}}
        """)
    #expect(try Pagination(json: pagination.json) == pagination)
    for pages in [
      [#"{"base":"/a/b/","items":[1],"next":"c","prev":"d"}"#, #"{"items":[2]}"#],
      ["<l base='/a/b/'><items><i>1</i></items><next>c</next></l>", "<l><items/></l>"],
    ] {
      let server = Answers(pages.map { Answers.Answer(stringLiteral: $0) })
      _ = try await client(server).drain(pagination)
      #expect(server.targets == ["/", "/a/b/c"])
    }
    let cursor = client(Answers([#"{"base":"/a/b/","items":[1],"prev":"d"}"#])).cursor(
      of: Int.self, at: "https://l.test/", pagination: pagination)
    for try await page in cursor {
      #expect("\(page.previous.map { "\($0)" } ?? "")".contains("/a/b/d"))
    }
  }

  // MARK: Items

  @Test(
    "12-L20: a single value in the place of a list is an item, where the description says so",
    arguments: [
      (#"{"i":{"id":1}}"#, [#"{"id":1}"#]), (#"{"i":"a"}"#, [#""a""#]),
      (#"{"i":[{"id":1},2]}"#, [#"{"id":1}"#, "2"]), (#"{"i":[]}"#, []), (#"{"i":[[1]]}"#, ["[1]"]),
    ])
  func oneOrMany(_ page: String, _ items: [String]) async throws {
    let selectors: [Pagination.Items] = [
      .oneOrMany("/i"), .optional(.oneOrMany("/i")), .oneOrMany(.optional("/i")),
      .oneOrMany(.firstOf(["/none", "/i"])), .oneOrMany(.all(["/i", "/none"])),
    ]
    for selector in selectors {
      let pagination = Pagination(next: .lastItem("/id"), send: .query("at"), items: selector)
      #expect(try Pagination(json: pagination.json) == pagination)
      let server = Answers([Answers.Answer(stringLiteral: page), #"{"i":[]}"#])
      #expect(try await client(server).drain(pagination) == items)
    }
    guard !page.contains("[") else { return }
    let error = await #expect(throws: PageError.self) {
      let strict = Pagination(next: .body("/n"), items: "/i")
      _ = try await client(Answers([Answers.Answer(stringLiteral: page)])).drain(strict)
    }
    #expect(error?.code == .shape)
  }

  @Test("12-L20: a page without the list is still an error, unless it may be left out")
  func oneOrNone() async throws {
    let pagination = Pagination(next: .body("/n"), items: .oneOrMany("/i"))
    let error = await #expect(throws: PageError.self) {
      _ = try await client(Answers([#"{"j":1}"#])).drain(pagination)
    }
    #expect(error?.code == .shape)
    let optional = pagination.items(at: .optional(.oneOrMany("/i")))
    #expect(try await client(Answers([#"{"j":1,"n":null}"#])).drain(optional) == [])
  }

  @Test("12-L20: JSON-LD's single members are items of the presets for it")
  func jsonLD() async throws {
    let pages: [(Pagination, [Answers.Answer])] = [
      (
        .activityStreams,
        [
          #"{"type":"OrderedCollection","first":"https://l.test/1"}"#,
          #"{"orderedItems":{"id":"a"},"next":"https://l.test/2"}"#, #"{"items":"b"}"#,
        ]
      ),
      (
        .hydra,
        [
          #"{"hydra:member":{"id":"a"},"hydra:view":{"hydra:next":"/2"}}"#, #"{"member":["b"]}"#,
        ]
      ),
      (
        .iiifDiscovery,
        [
          #"{"last":{"id":"/1"}}"#, #"{"orderedItems":{"id":"a"},"prev":{"id":"/2"}}"#,
          #"{"orderedItems":"b"}"#,
        ]
      ),
    ]
    for (pagination, answers) in pages {
      let items = try await client(Answers(answers)).drain(pagination)
      #expect(items == [#"{"id":"a"}"#, #""b""#])
    }
  }

  // MARK: Encoding

  @Test(
    "12-L21: keys of S3 are decoded where the answer says that they are encoded, and only there",
    arguments: [true, false])
  func encodingType(_ isEncoded: Bool) async throws {
    let listings: [(Pagination, root: String, marker: String, item: String)] = [
      (.s3Uploads, "ListMultipartUploadsResult", "NextKeyMarker", "Upload"),
      (.s3Versions, "ListVersionsResult", "NextKeyMarker", "Version"),
      (.s3v1, "ListBucketResult", "NextMarker", "Contents"),
    ]
    for (pagination, root, marker, item) in listings {
      let said = isEncoded ? "<EncodingType>url</EncodingType>" : ""
      let server = Answers([
        Answers.Answer(
          stringLiteral: """
            <\(root)>\(said)<IsTruncated>true</IsTruncated><\(marker)>a+b%2Fc</\(marker)>\
            <\(item)><Key>k</Key></\(item)></\(root)>
            """),
        Answers.Answer(
          stringLiteral: """
            <\(root)><IsTruncated>false</IsTruncated><\(item)><Key>z</Key></\(item)></\(root)>
            """),
      ])
      #expect(try await client(server).drain(pagination).count == 2)
      let sent = isEncoded ? "marker=a%20b%2Fc" : "marker=a%2Bb%252Fc"
      #expect(server.targets.last?.contains(sent) == true, "\(server.targets)")
    }
    let server = Answers([
      Answers.Answer(
        stringLiteral: """
          <ListBucketResult>\(isEncoded ? "<EncodingType>url</EncodingType>" : "")<IsTruncated>true\
          </IsTruncated><Contents><Key>a+b</Key></Contents></ListBucketResult>
          """),
      """
      <ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>z</Key></Contents>\
      </ListBucketResult>
      """,
    ])
    _ = try await client(server).drain(.s3v1)
    #expect(server.targets.last?.hasSuffix(isEncoded ? "=a%20b" : "=a%2Bb") == true)
  }

  // MARK: Waiting

  @Test("12-K3: a page that gives no reason to wait is asked for once")
  func noReason() async throws {
    for body in ["<feed/>", "<rss><channel/></rss>", "<feed><title>x</title></feed>"] {
      let server = Answers([Answers.Answer(stringLiteral: body)])
      _ = try? await client(server, RetryPolicy()).drain(.arxiv)
      #expect(server.asked.count == 1, "\(body)")
    }
    let server = Answers([#"{"status":"INVALID_REQUEST"}"#])
    let error = await #expect(throws: PageError.self) {
      try await client(server, RetryPolicy()).drain(.googlePlaces)
    }
    #expect(error?.code == .serverReportedFailure)
    #expect(server.asked.count == 1)
  }

  @Test("12-K3: arXiv's empty page in the middle has a reason, and is asked for again")
  func reason() throws {
    let engine = try PaginationEngine(
      .arxiv, first: PageRequest(url: "https://l.test/"), home: Origin(url: "https://l.test/"))
    func screen(_ body: String) throws -> Bool {
      let answer = PageAnswer(
        request: PageRequest(url: "https://l.test/"), url: "https://l.test/", status: 200,
        headerFields: [:], document: try XMLDocument(Array(body.utf8)), position: .start)
      if case .failure(let failure) = try engine.reader.classify(answer) {
        return failure.kind == .notReady
      }
      return false
    }
    #expect(
      try screen("<feed><totalResults>9</totalResults><startIndex>3</startIndex></feed>"))
    #expect(
      try !screen("<feed><totalResults>9</totalResults><startIndex>9</startIndex></feed>"))
    #expect(
      try !screen(
        "<feed><totalResults>9</totalResults><startIndex>3</startIndex><entry/></feed>"))
    #expect(try screen("<feed><totalResults>9</totalResults></feed>"))
    #expect(try !screen("<feed><title>x</title></feed>"))
  }

  @Test(
    "12-K3: a wait is bounded by the client's retries: none with one attempt, and at most polls",
    arguments: [
      (RetryPolicy.never, 1), (RetryPolicy(maximumPolling: .zero), 1),
      (RetryPolicy(throttledDelay: .zero, polls: 0), 1),
      (RetryPolicy(throttledDelay: .zero, polls: 3), 4),
    ])
  func bounded(_ policy: RetryPolicy, _ requests: Int) async throws {
    let presets: [(Pagination, Answers.Answer)] = [
      (.bigQuery, #"{"jobComplete":false}"#),
      (.databricksSQL, #"{"status":{"state":"RUNNING"}}"#),
    ]
    for (pagination, answer) in presets {
      let server = Answers([answer])
      let error = await #expect(throws: PageError.self) {
        try await client(server, policy).drain(pagination)
      }
      #expect(error?.code == .serverReportedFailure)
      #expect(error?.attempts == requests)
      #expect(server.asked.count == requests)
    }
  }

  // MARK: Closures

  @Test("12-A9 D-1: a closure's next rule reads pages of JSON and of XML by one path")
  func closure() async throws {
    struct Row: Decodable, Sendable, Equatable { var id: Int }
    let server = Answers([
      "<t day='2'><row><id>1</id></row></t>", "<t day='3'><row><id>2</id></row></t>",
      "<t><row><id>3</id></row></t>",
    ])
    @Sendable func next(_ page: AnsweredPage) throws -> NextPage? {
      guard let day = try page.document.value(at: "/day | /t/@day") else { return nil }
      let seen = (page.state.integer ?? 0) + page.itemCount
      return NextPage(
        PageRequest(url: "/?before=\(day.plainText)"), state: .number(String(seen)))
    }
    let cursor = client(server).cursor(
      of: Row.self, at: "https://l.test/", items: "/rows | /t/row", next: next)
    var rows: [Row] = []
    var positions: [Position] = []
    for try await page in cursor {
      rows += page.items
      if let next = page.next { positions.append(next) }
    }
    #expect(rows == [Row(id: 1), Row(id: 2), Row(id: 3)])
    #expect(server.targets == ["/", "/?before=2", "/?before=3"])
    let rest = Answers(["<t><row><id>9</id></row></t>"])
    let resumed = client(rest).cursor(
      of: Row.self, at: "https://l.test/", items: "/rows | /t/row", next: next)
    for try await page in resumed.resuming(from: try #require(positions.last)) {
      #expect(page.items == [Row(id: 9)])
    }
    #expect(rest.targets == ["/?before=3"])
    let json = Answers([#"{"rows":[{"id":1}],"day":2}"#, #"{"rows":[{"id":2}]}"#])
    let raw = client(json).cursor(
      of: RawItem.self, at: "https://l.test/", items: "/rows | /t/row", next: next)
    var texts: [String] = []
    for try await item in raw.items { texts.append(item.description) }
    #expect(texts == [#"{"id":1}"#, #"{"id":2}"#])
    #expect(json.targets == ["/", "/?before=2"])
    let parts = client(Answers(["<t><row><id>1</id></row></t>"])).cursor(
      of: RawItem.self, at: "https://l.test/", items: "/t/row", delivery: .asItArrives, next: next)
    var count = 0
    for try await item in parts.items { count += item.bytes.isEmpty ? 0 : 1 }
    #expect(count == 1)
  }
}
