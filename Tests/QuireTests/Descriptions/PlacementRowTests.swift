import QuireHTTP
import Quire
import Testing

/// Presets of which the container, or the place that a value goes to, varies.
@Suite("Presets that vary", .timeLimit(.minutes(15)))
struct PlacementRowTests {
  private func client(_ server: Answers) -> PageClient {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    return PageClient(transport: server, configuration: configuration)
  }

  @Test("12-L22: the preset awsQuery goes by the query, or by the form of a POST")
  func awsQuery() async throws {
    let pages: [Answers.Answer] = [
      "<R><X><IsTruncated>true</IsTruncated><Marker>m/1</Marker><U><member/></U></X></R>",
      "<R><X><NextToken>n</NextToken><U><member/></U></X></R>", "<R><X><U><member/></U></X></R>",
    ]
    let pagination = Pagination.awsQuery.items(at: "/R/X/U/member")
    let get = Answers(pages)
    _ = try await client(get).drain(
      pagination, at: "https://l.test/?Action=ListUsers", pageSize: 5)
    #expect(
      get.targets == [
        "/?Action=ListUsers&MaxItems=5", "/?Action=ListUsers&MaxItems=5&Marker=m%2F1",
        "/?Action=ListUsers&MaxItems=5&NextToken=n",
      ])
    let post = Answers(pages)
    _ = try await client(post).drain(
      pagination, pageSize: 5, request: .init(method: .post, body: .form("Action=ListUsers")))
    #expect(
      post.asked.map(\.body) == [
        "Action=ListUsers&MaxItems=5", "Action=ListUsers&MaxItems=5&Marker=m%2F1",
        "Action=ListUsers&MaxItems=5&NextToken=n",
      ])
    #expect(Set(post.targets) == ["/"])
  }

  @Test("12-L22: the preset csw goes by GET, by a form, and by XML in an envelope or not")
  func csw() async throws {
    func page(_ next: Int, _ count: Int) -> Answers.Answer {
      let records = String(repeating: "<Record/>", count: count)
      return Answers.Answer(
        stringLiteral: """
          <GetRecordsResponse><SearchResults nextRecord="\(next)" numberOfRecordsMatched="3">\
          \(records)</SearchResults></GetRecordsResponse>
          """)
    }
    let pages = [page(3, 2), page(0, 1)]
    let get = Answers(pages)
    #expect(
      try await client(get).drain(.csw, at: "https://l.test/?request=GetRecords").count == 3)
    #expect(get.targets.last == "/?request=GetRecords&startPosition=3")
    let form = Answers(pages)
    _ = try await client(form).drain(
      .csw, request: .init(method: .post, body: .form("request=GetRecords")))
    #expect(form.asked.last?.body == "request=GetRecords&startPosition=3")
    for envelope in [("", ""), ("<soap:Envelope><soap:Body>", "</soap:Body></soap:Envelope>")] {
      let xml = Answers(pages)
      let body =
        "\(envelope.0)<csw:GetRecords maxRecords=\"10\"><Query/></csw:GetRecords>\(envelope.1)"
      let items = try await client(xml).drain(
        .csw, pageSize: 2, request: .init(method: .post, body: .xml(body)))
      #expect(items.count == 3)
      #expect(
        xml.asked.map(\.body) == [
          "\(envelope.0)<csw:GetRecords maxRecords=\"2\"><Query/></csw:GetRecords>\(envelope.1)",
          envelope.0 + "<csw:GetRecords maxRecords=\"2\" startPosition=\"3\"><Query/>"
            + "</csw:GetRecords>" + envelope.1,
        ])
    }
  }

  struct Dual: CustomTestStringConvertible, Sendable {
    var name: String
    var pagination: Pagination
    var body: PageRequest.Body
    var pages: [String]
    /// What the second request has by GET, and by POST.
    var get: String
    var post: String
    var testDescription: String { name }
  }

  static let duals = [
    Dual(
      name: "oaiPMH", pagination: .oaiPMH, body: .form("verb=ListRecords&set=a"),
      pages: [
        "<OAI-PMH><ListRecords><record/><resumptionToken>t</resumptionToken></ListRecords></OAI-PMH>",
        "<OAI-PMH><ListRecords><record/></ListRecords></OAI-PMH>",
      ], get: "?resumptionToken=t", post: "verb=ListRecords&resumptionToken=t"),
    Dual(
      name: "solr", pagination: .solr, body: .form("q=a"),
      pages: [
        #"{"response":{"docs":[1]},"nextCursorMark":"n"}"#,
        #"{"response":{"docs":[]},"nextCursorMark":"n"}"#,
      ], get: "cursorMark=n", post: "q=a&cursorMark=n"),
    Dual(
      name: "slack by form", pagination: .slack.items(at: "/members"), body: .form("team=a"),
      pages: [#"{"members":[1],"response_metadata":{"next_cursor":"n"}}"#, #"{"members":[2]}"#],
      get: "cursor=n", post: "team=a&cursor=n"),
    Dual(
      name: "slack by JSON", pagination: .slack.items(at: "/members"), body: .json(["team": "a"]),
      pages: [#"{"members":[1],"response_metadata":{"next_cursor":"n"}}"#, #"{"members":[2]}"#],
      get: "cursor=n", post: #"{"team":"a","cursor":"n"}"#),
    Dual(
      name: "google", pagination: .google.items(at: "/places"), body: .json(["q": "a"]),
      pages: [#"{"places":[1],"nextPageToken":"n"}"#, #"{"places":[2]}"#],
      get: "pageToken=n", post: #"{"q":"a","pageToken":"n"}"#),
    Dual(
      name: "square", pagination: .square.items(at: "/orders"), body: .json(["q": "a"]),
      pages: [#"{"orders":[1],"cursor":"n"}"#, "{}"],
      get: "cursor=n", post: #"{"q":"a","cursor":"n"}"#),
    Dual(
      name: "scim", pagination: .scim, body: .json(["filter": "a"]),
      pages: [#"{"totalResults":2,"Resources":[1]}"#, #"{"totalResults":2,"Resources":[2]}"#],
      get: "startIndex=2", post: #"{"filter":"a","startIndex":2}"#),
    Dual(
      name: "ckanDatastore", pagination: .ckanDatastore, body: .json(["resource_id": "a"]),
      pages: [
        #"{"success":true,"result":{"total":2,"records":[1]}}"#,
        #"{"success":true,"result":{"total":2,"records":[2]}}"#,
      ], get: "offset=1", post: #"{"resource_id":"a","offset":1}"#),
    Dual(
      name: "arcgis", pagination: .arcgis, body: .form("where=a"),
      pages: [#"{"features":[1],"exceededTransferLimit":true}"#, #"{"features":[2]}"#],
      get: "resultOffset=1", post: "where=a&resultOffset=1"),
    Dual(
      name: "elasticOffset", pagination: .elasticOffset, body: .json(["query": "a"]),
      pages: [
        #"{"hits":{"hits":[1,2,3,4,5,6,7,8,9,10]}}"#, #"{"hits":{"hits":[11]}}"#,
      ], get: "from=10", post: #"{"query":"a","from":10}"#),
  ]

  @Test(
    "12-L22: a service that takes the same by GET and by POST is paged by what the request is",
    arguments: duals)
  func getAndPost(_ dual: Dual) async throws {
    let pages = dual.pages.map { Answers.Answer(stringLiteral: $0) }
    let get = Answers(pages)
    _ = try await client(get).drain(dual.pagination)
    #expect(get.asked.count == 2)
    #expect(get.targets.last?.contains(dual.get) == true, "\(get.targets)")
    let post = Answers(pages)
    _ = try await client(post).drain(
      dual.pagination, request: .init(method: .post, body: dual.body))
    #expect(post.asked.last?.body == dual.post)
    #expect(post.asked.allSatisfy { $0.method == "POST" })
  }

  @Test("12-L22: a description of one's own says where a value may go, and a file does")
  func placement() async throws {
    let json = """
      {"next": {"body": "/n"}, "items": "/i",
       "send": {"firstOf": [{"placeholder": "{{at}}"}, {"jsonBody": "/at"}, {"query": "at"}]}}
      """
    let pagination = try Pagination(json: json)
    #expect(try Pagination(json: pagination.json) == pagination)
    let pages: [Answers.Answer] = [#"{"i":[1],"n":"x"}"#, #"{"i":[2]}"#]
    let get = Answers(pages)
    _ = try await client(get).drain(pagination)
    #expect(get.targets == ["/", "/?at=x"])
    let post = Answers(pages)
    _ = try await client(post).drain(pagination, request: .init(method: .post))
    #expect(post.asked.map(\.body) == ["", #"{"at":"x"}"#])
    let filled = Answers(pages)
    _ = try await client(filled).drain(
      Pagination(
        next: .body("/n"), send: pagination.send, request: Pagination.RequestRule(first: ""),
        items: "/i"),
      at: "https://l.test/?q={{at}}")
    #expect(filled.targets == ["/?q=", "/?q=x"])
    #expect(throws: PageError.self) {
      try Pagination(json: #"{"next": {"body": "/n"}, "send": {"firstOf": []}}"#)
    }
  }

  @Test(
    "12-L22: a GraphQL connection may be given by its nodes or edges",
    arguments: [
      ("/data/books", "nodes"), ("/data/books", "edges"), ("/data/books/edges", "edges"),
      ("/data/books/nodes", "nodes"), ("/data/books/edges", "nested"),
    ] as [(PagePath, String)])
  func relay(_ connection: PagePath, _ list: String) async throws {
    func page(_ item: Int, _ hasNext: Bool) -> Answers.Answer {
      let inner = """
        {"pageInfo":{"hasNextPage":\(hasNext),"endCursor":"c\(item)"},"totalCount":2,
        "\(list == "nested" ? "nodes" : list)":[\(item)]}
        """
      let books = list == "nested" ? "{\"edges\":\(inner)}" : inner
      return Answers.Answer(stringLiteral: "{\"data\":{\"books\":\(books)}}")
    }
    let server = Answers([page(1, true), page(2, false)])
    let items = try await client(server).drain(
      .relay.items(at: .path(connection)),
      request: .init(method: .post, body: .json(["query": "q"])))
    #expect(items == ["1", "2"])
    #expect(server.asked.last?.body == #"{"query":"q","variables":{"after":"c1"}}"#)
  }

  @Test("12-L22: WebDAV's 507 says that more follows, and is no item")
  func webdavSync() async throws {
    let server = Answers([
      """
      <multistatus><response><href>/a</href><propstat/></response>\
      <response><href>/b</href><status>HTTP/1.1 404 Not Found</status></response>\
      <response><href>/</href><status>HTTP/1.1 507 Insufficient Space</status><error/></response>\
      <sync-token>t1</sync-token></multistatus>
      """,
      """
      <multistatus><response><href>/c507</href><propstat><status>HTTP/1.1 200 OK</status></propstat>\
      </response><sync-token>t2</sync-token></multistatus>
      """,
    ])
    let items = try await client(server).drain(
      .webdavSync,
      request: .init(method: .init("REPORT") ?? .get, body: .xml("<s><sync-token/></s>")))
    #expect(items.count == 3)
    #expect(!items.joined().contains("Insufficient"))
    #expect(server.asked.map(\.body).last == "<s><sync-token>t1</sync-token></s>")
  }

  @Test("12-L22: WordPress's feed is read as RSS, as Atom and as RSS 1.0")
  func wordpressFeed() async throws {
    let feeds = [
      ["<rss><channel><item><guid>1</guid></item></channel></rss>", "<rss><channel/></rss>"],
      ["<feed><entry><id>1</id></entry></feed>", "<feed/>"],
      ["<rdf:RDF xmlns:rdf='r'><channel/><item><link>1</link></item></rdf:RDF>"],
      ["<feed><entry><id>1</id></entry></feed>"],
    ]
    for pages in feeds {
      let server = Answers(pages.map { Answers.Answer(stringLiteral: $0) })
      #expect(try await client(server).drain(.wordpressFeed).count == 1, "\(pages)")
      #expect(server.targets == ["/", "/?paged=2"])
    }
  }
}
