import Foundation
import HTTPTypes
@testable import QuireCore
import QuireTesting
import QuireXML
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What a client finds out about a listing, and what it asks for.
@Suite("Detection", .timeLimit(.minutes(15)))
struct DetectionTests {
  private let url = "https://api.test/things"

  /// A client that is answered as the script says, and nothing else.
  private func client(
    _ script: String, headers: HTTPFields = [:]
  ) throws -> (PageClient, ScriptedTransport) {
    let transport = ScriptedTransport(try ScriptedExchange.script(script))
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    return (
      PageClient(transport: transport, headers: headers, configuration: configuration), transport
    )
  }

  private func detect(
    _ script: String, at url: String? = nil, headers: HTTPFields = [:],
    request: PageClient.RequestOptions = .init(), links: LinkPolicy? = nil, checks: Int = 3
  ) async throws -> (Detection, unplayed: Int) {
    let (client, transport) = try client(script, headers: headers)
    let detection = try await client.detect(
      at: url ?? self.url, request: request, links: links, checks: checks,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
    return (detection, transport.unplayed.count)
  }

  private func get(_ url: String, _ body: String, head: String = "< 200") -> String {
    "> GET \(url)\n\(head)\n\(body)\n"
  }

  @Test("A part that was not asked for is not searched for parameters: a walk refuses it")
  func unaskedPart() async throws {
    let list = (0..<20).map { "{\"id\":\($0)}" }.joined(separator: ",")
    let server = CannedServer { _, _ in
      .status(
        206, ["Content-Type": "application/json", "Content-Range": "items 0-19/65"], "[\(list)]")
    }
    let detection = try await PageClient(transport: server).detect(
      at: url, decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
    #expect(detection.best == nil)
    // A search sends two dozen names at once.
    #expect(server.requests.allSatisfy { $0.url.count { $0 == "&" } < 4 })
  }

  @Test(
    "XML whose root has items and a total is not taken for the World Bank's, which counts pages")
  func anyXML() async throws {
    let books = (0..<10).map { "<book id=\"\($0)\"/>" }.joined()
    for (attributes, isNamed) in [
      ("total=\"57\"", false), ("page=\"1\" pages=\"6\" per_page=\"10\" total=\"57\"", true),
    ] {
      let body = "<books \(attributes)>\(books)</books>"
      let detection = try await detect(
        get(url, body, head: "< 200\n< Content-Type: application/xml"), checks: 0
      ).0
      let names = detection.candidates.flatMap { [$0.preset].compactMap(\.self) + $0.alternatives }
      #expect(names.contains("worldBank") == isNamed, "\(names)")
    }
  }

  @Test("Links that leave out the page size, and count pages of another size, are not verified")
  func droppedPageSize() async throws {
    let server = CannedServer { request, _ in
      let query = QueryString(try URLReference(request.url).query)
      let size = query["limit"].flatMap { Int($0) } ?? 20
      let page = query["page"].flatMap { Int($0) } ?? 1
      let items = ((page - 1) * size..<page * size).map { "{\"id\":\($0)}" }.joined(separator: ",")
      return .status(
        200,
        [
          "Content-Type": "application/json",
          "Link": "<https://api.test/things?page=\(page + 1)>; rel=\"next\"",
        ], "[\(items)]")
    }
    let detection = try await PageClient(transport: server).detect(
      at: url + "?limit=5",
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
    let byLink = detection.candidates.first { $0.pagination.next == .linkHeader }
    #expect(byLink?.check?.result == .undecided)
    #expect(
      detection.best?.pagination.next != .linkHeader || detection.best?.confidence == .possible)
  }

  @Test("A name that a preset looks for is expected before any preset is read")
  func expectedNames() {
    let vocabulary = PaginationVocabulary.shared
    let names =
      Array(vocabulary.next.keys) + vocabulary.flags.keys + vocabulary.totals.keys
    #expect(names.count > 50)
    for name in names { #expect(PaginationVocabulary.mayKnow(name), "\(name)") }
    #expect(!PaginationVocabulary.mayKnow("title"))
    for name in vocabulary.nextFields.keys {
      #expect(PaginationVocabulary.mayKnow(field: name), "\(name)")
    }
    for name in ["contenttype", "contentlength", "date", "etag", "lastmodified", "server"] {
      #expect(!PaginationVocabulary.mayKnow(field: name))
    }
  }

  // MARK: Confirmed

  @Test("A preset is named, and its second page confirms it")
  func confirmed() async throws {
    let (detection, unplayed) = try await detect(
      get(
        url,
        #"{"count":3,"next":"https://api.test/things?page=2","results":[{"id":1},{"id":2}]}"#)
        + get("\(url)?page=2", #"{"count":3,"next":null,"previous":null,"results":[{"id":3}]}"#))
    let best = try #require(detection.best)
    #expect(best.preset == "drf" && best.confidence == .verified && best.swift == ".drf")
    #expect(best.check?.explanation.contains("1 item, none of the first page's") == true)
    #expect(best.check?.request == "GET https://api.test/things?page=2")
    #expect(best.evidence.contains("\"/count\" says 3"))
    #expect(unplayed == 0)
  }

  @Test(
    "A relative link to the next page is followed as one, however it is written",
    arguments: ["things?page=2", "./things?page=2", "//api.test/things?page=2", "?page=2#top"])
  func relativeLink(link: String) async throws {
    let (detection, unplayed) = try await detect(
      get(url, #"{"count":3,"next":"\#(link)","results":[{"id":1},{"id":2}]}"#)
        + get("\(url)?page=2", #"{"count":3,"next":null,"previous":null,"results":[{"id":3}]}"#))
    #expect(detection.best?.preset == "drf" && detection.best?.confidence == .verified)
    #expect(unplayed == 0)
  }

  @Test("XML is detected as JSON is: a bucket by its root, its token and its flag")
  func xml() async throws {
    let (detection, _) = try await detect(
      get(
        url,
        "<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a</Key></Contents>"
          + "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>")
        + get(
          "\(url)?list-type=2&continuation-token=t",
          "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>b</Key></Contents>"
            + "</ListBucketResult>"))
    #expect(detection.best?.preset == "s3" && detection.best?.confidence == .verified)
  }

  @Test("A listing behind a POST is detected, and its second page asked for by POST")
  func post() async throws {
    let (detection, unplayed) = try await detect(
      """
      > POST \(url)
      > {"page_size":1}
      < 200
      {"object":"list","results":[{"id":"a"}],"next_cursor":"b-1","has_more":true}
      > POST \(url)
      > {"page_size":1,"start_cursor":"b-1"}
      < 200
      {"object":"list","results":[{"id":"b"}],"next_cursor":null,"has_more":false}

      """, request: .init(method: .post, body: .json(["page_size": 1])))
    #expect(detection.best?.preset == "notion" && detection.best?.confidence == .verified)
    #expect(unplayed == 0)
  }

  @Test("A preset that takes the path to its items is given it, and one at a path of its own too")
  func places() async throws {
    let (slack, _) = try await detect(
      get(url, #"{"ok":true,"channels":[{"id":1}],"response_metadata":{"next_cursor":"x"}}"#),
      checks: 0)
    #expect(slack.best?.preset == "slack" && slack.best?.items == "/channels")
    #expect(slack.best?.swift == #".slack.items(at: "/channels")"#)
    let (relay, _) = try await detect(
      """
      > POST \(url)
      > {"query":"q"}
      < 200
      {"data":{"a":{"b":{"pageInfo":{"hasNextPage":true,"endCursor":"x"},"nodes":[{"id":1}]}}}}

      """, request: .init(method: .post, body: .json(["query": "q"])), checks: 0)
    #expect(relay.best?.swift == #".relay.items(at: "/data/a/b")"#)
  }

  @Test("A preset that counts for want of a continuation is tried before what is put together")
  func countsOn() async throws {
    func page(_ records: String) -> String {
      "<searchRetrieveResponse><numberOfRecords>3</numberOfRecords><records>\(records)</records>"
        + "</searchRetrieveResponse>"
    }
    let records = (1...3).map { "<record><id>\($0)</id></record>" }
    let head = "< 200\n< Content-Type: application/xml"
    let (detection, unplayed) = try await detect(
      get("\(url)?query=x", page(records[0] + records[1]), head: head)
        + get("\(url)?query=x&startRecord=3", page(records[2]), head: head),
      at: "\(url)?query=x")
    #expect(detection.best?.preset == "sru" && detection.best?.confidence == .verified)
    #expect(unplayed == 0)
  }

  @Test("Of two connections, each is composed with its own cursor and flag")
  func twoConnections() async throws {
    let body =
      #"{"data":{"a":{"pageInfo":{"hasNextPage":true,"endCursor":"c"},"nodes":[{"id":1},{"id":2}]},"#
      + #""b":{"pageInfo":{"hasNextPage":true,"endCursor":"d"},"nodes":[{"id":3}]}}}"#
    let document = try JSONDocument(Array(body.utf8))
    let request = PageRequest(method: .post, url: url, body: .json(["query": "q"]))
    let detector = try PaginationDetector(
      PageAnswer(
        request: request, url: url, status: 200, headerFields: [:], document: document,
        position: .start))
    let composed = detector.compositions()
    #expect(!composed.isEmpty)
    for pagination in composed {
      let connection = pagination.items == "/data/a/nodes" ? "/data/a" : "/data/b"
      #expect(pagination.json.contains("\"\(connection)/pageInfo/endCursor\""))
      #expect(pagination.json.contains("\"\(connection)/pageInfo/hasNextPage\""))
    }
  }

  @Test("A page of OData is not taken for one of changes without saying so")
  func plainOData() async throws {
    let (detection, _) = try await detect(
      get(
        url,
        #"{"@odata.context":"https://api.test/$metadata#things","value":[{"id":1}],"#
          + #""@odata.nextLink":"https://api.test/things?$skiptoken=2"}"#), checks: 0)
    let best = try #require(detection.best, "\(detection)")
    #expect(best.preset == "odata" && best.alternatives.contains("graphDelta"))
  }

  @Test("What no preset has is put together, and tried under the names that presets send it by")
  func composed() async throws {
    let (detection, unplayed) = try await detect(
      get(
        url,
        #"{"rocks":[{"id":1}],"paging_info":{"more":{"next_page_token":"x"}},"is_last":false}"#)
        + get("\(url)?page_token=x", #"{"rocks":[{"id":1}],"paging_info":{}}"#)
        + get("\(url)?next_page_token=x", #"{"rocks":[{"id":2}],"paging_info":{}}"#))
    let best = try #require(detection.best)
    #expect(best.preset == nil && best.confidence == .verified, "\(detection)")
    #expect(best.swift.hasPrefix(#"Pagination(next: .body("/paging_info/more/next_page_token")"#))
    #expect(detection.candidates.contains { $0.check?.result == .refuted })
    #expect(unplayed == 0)
  }

  @Test("A token that presets send in a body is tried in the query, by the same name")
  func elsewhere() async throws {
    let (detection, unplayed) = try await detect(
      get(
        url,
        #"{"edges":[{"node":{"id":1}}],"pageInfo":{"hasNextPage":true,"endCursor":"x"}}"#)
        + get(
          "\(url)?after=x",
          #"{"edges":[{"node":{"id":2}}],"pageInfo":{"hasNextPage":false,"endCursor":"y"}}"#))
    let best = try #require(detection.best, "\(detection)")
    #expect(best.confidence == .verified && best.swift.contains("/edges"), "\(best.swift)")
    #expect(best.check?.request == "GET \(url)?after=…")
    #expect(unplayed == 0)
  }

  @Test("A preset whose pages come in another format than the answer is not proposed")
  func presetOfAnotherFormat() async throws {
    let (detection, _) = try await detect(
      get(
        url, #"{"orders":[{"id":1},{"id":2}]}"#,
        head: "< 200\n< Link: <https://api.test/things?since_id=2>; rel=\"next\""), checks: 0)
    let best = try #require(detection.best, "\(detection)")
    #expect(best.swift.contains("/orders"), "\(best.swift)")
    #expect(!detection.candidates.contains { $0.preset == "recurlyV2" })
  }

  @Test("JSON Lines are called so, and read to their end by what is found: by no preset of JSON")
  func jsonLines() async throws {
    let server = CannedServer { [url = self.url] request, _ in
      let type = ["Content-Type": "application/x-ndjson"]
      if request.url.contains("page=2") { return .status(200, type, "{\"id\":3}\n") }
      let link = "<\(url)?page=2>; rel=\"next\", <\(url)?page=2>; rel=\"last\""
      return .status(
        200, type.merging(["Link": link]) { $1 }, "{\"id\":1}\n{\"id\":2}\n")
    }
    let client = PageClient(transport: server)
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    let detection = try await client.detect(at: url, decoder: decoder)
    #expect(detection.observations.contains("The page is JSON Lines, a list of 2."))
    let best = try #require(detection.best, "\(detection)")
    #expect(best.confidence == .verified && !best.pagination.formats.contains(.json))
    var count = 0
    for try await page in client.cursor(
      at: url, pagination: best.pagination, decoder: decoder)
    {
      count += page.items.count
    }
    #expect(count == 3)
  }

  @Test("A bare list is a guess until the second page says otherwise")
  func bareList() async throws {
    let (unchecked, _) = try await detect(get(url, #"[{"name":1},{"name":2}]"#), checks: 0)
    #expect(unchecked.best == nil && unchecked.candidates.first?.confidence == .guess)
    let (numbered, _) = try await detect(
      get("\(url)?page=1", #"[{"name":1},{"name":2}]"#)
        + get("\(url)?page=2", #"[{"name":3},{"name":4}]"#) + get("\(url)?page=3", "[]"),
      at: "\(url)?page=1")
    #expect(numbered.best?.confidence == .verified)
    #expect(numbered.best?.preset == "pages", "\(numbered.candidates.map(\.preset))")
  }

  // MARK: Not confirmed

  @Test("A second page that repeats the first refutes, and no more is asked than was allowed")
  func repeating() async throws {
    let page = #"{"results":[{"id":1},{"id":2}],"next":"https://api.test/things?page=2","count":9}"#
    let (detection, unplayed) = try await detect(
      get(url, page) + get("\(url)?page=2", page), checks: 1)
    #expect(detection.best == nil && unplayed == 0)
    let refuted = try #require(detection.candidates.first { $0.preset == "drf" })
    #expect(refuted.confidence == .guess && refuted.check?.result == .refuted)
    #expect(refuted.check?.explanation.contains("repeats the first") == true)
  }

  @Test("A second page that leads to itself, or shares items with the first, refutes")
  func looping() async throws {
    let first = get(url, #"{"results":[{"id":1},{"id":2}],"next":"/things?page=2","count":9}"#)
    let (loop, _) = try await detect(
      first + get("\(url)?page=2", #"{"results":[{"id":3}],"next":"/things?page=2","count":9}"#),
      checks: 1)
    let (overlap, _) = try await detect(
      first + get("\(url)?page=2", #"{"results":[{"id":2},{"id":3}],"next":null,"count":9}"#),
      checks: 1)
    for (detection, words) in [(loop, "leads to itself"), (overlap, "1 of the 2 items")] {
      let check = detection.candidates.compactMap(\.check).first
      #expect(check?.result == .refuted && check?.explanation.contains(words) == true)
      #expect(detection.best == nil)
    }
  }

  @Test(
    "12-L23: A second page that is empty, or cannot be had, leaves a description possible at most")
  func undecided() async throws {
    let first = get(url, #"{"results":[{"id":1}],"next":"/things?page=2","count":9}"#)
    for second in [
      get("\(url)?page=2", #"{"results":[],"next":null,"count":9}"#),
      get("\(url)?page=2", "busy", head: "< 503"),
      get("\(url)?page=2", "too fast", head: "< 403\n< Retry-After: 60"),
    ] {
      let (detection, unplayed) = try await detect(first + second)
      #expect(detection.best?.preset == "drf" && detection.best?.confidence == .possible)
      #expect(detection.best?.check?.result == .undecided && unplayed == 0)
    }
  }

  @Test("Numbers that no sum of theirs fits are tokens like others, and end no process")
  func greatestNumbers() async throws {
    let server = CannedServer { request, _ in
      if request.url.hasSuffix("=5") { return .json(#"{"items":[{"id":4}],"next_cursor":null}"#) }
      return request.url.hasSuffix("=\(Int.max)")
        ? .json(#"{"items":[{"id":3}],"next_cursor":5}"#)
        : .json(#"{"items":[{"id":1},{"id":2}],"next_cursor":\#(Int.max)}"#)
    }
    let detection = try await PageClient(transport: server).detect(
      at: url,
      decoder: AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder()))
    #expect(detection.best?.confidence == .verified, "\(detection)")
  }

  @Test("A link to another host is not followed: the detector says so, and obeys another policy")
  func links() async throws {
    let first = get(
      url, #"{"results":[{"id":1}],"next":"https://inner.test/things?page=2","count":2}"#)
    let (refused, _) = try await detect(first)
    #expect(refused.best?.preset == "drf" && refused.best?.check == nil)
    #expect(refused.best?.doubts.contains { $0.contains("https://inner.test") } == true)
    #expect(refused.best?.remedies.contains { $0.setting == .links } == true)
    let (followed, unplayed) = try await detect(
      first + get("\(url)?page=2", #"{"results":[{"id":2}],"next":null,"count":2}"#),
      links: .rebase)
    #expect(followed.best?.confidence == .verified && unplayed == 0)
    #expect(followed.best?.pagination.policy.links == .rebase)
  }

  @Test("The last page of a listing is known by what it says, and no second page is asked for")
  func lastPage() async throws {
    let (detection, _) = try await detect(
      get(url, #"{"count":1,"next":null,"previous":null,"results":[{"id":1}]}"#))
    #expect(detection.best?.preset == "drf" && detection.best?.check == nil)
    #expect(detection.best?.leadsOn == false)
  }

  // MARK: Nothing found

  @Test("Where nothing fits, the detector says what it saw")
  func nothing() async throws {
    let (detection, _) = try await detect(
      get(
        url, #"{"hello":"world","colour":"blue"}"#,
        head: "< 200\n< Content-Type: application/json"))
    #expect(detection.best == nil)
    #expect(detection.observations.first == "The server answered 200 with application/json.")
    #expect(
      detection.observations.contains("The page is an object with \"hello\", \"colour\"."),
      "\(detection.observations)")
  }

  @Test("HTML is no listing: nothing is named, and the reason is given")
  func html() async throws {
    let (detection, _) = try await detect(
      get(
        url, "<!DOCTYPE html><html><body>Sign in</body></html>",
        head: "< 200\n< Content-Type: text/html"))
    #expect(detection.best == nil)
    #expect(detection.observations.contains { $0.contains("HTML") }, "\(detection.observations)")
  }

  @Test("A page of another format is told by its header fields")
  func otherFormat() async throws {
    let (detection, _) = try await detect(
      get(url, "\"Id\"\n\"1\"", head: "< 200\n< Content-Type: text/csv\n< Sforce-Locator: MTAw"),
      checks: 0)
    #expect(detection.best?.preset == "salesforceBulk")
  }

  @Test("An error status is thrown as a walk throws it")
  func errorStatus() async throws {
    await #expect { try await detect(get(url, #"{"error":"no"}"#, head: "< 403")) } throws: {
      ($0 as? PageError)?.code == .status
    }
  }

  // MARK: Secrets and hostility

  @Test("H-8: No secret is in what a detection says, even where the page repeats it")
  func secrets() async throws {
    let secret = "s3cr3t-value"
    let next = "https://api.test/things?access_token=\(secret)&page=2"
    let (detection, _) = try await detect(
      """
      > GET \(url)?access_token=\(secret)
      > Authorization: Bearer \(secret)
      < 200
      {"\(secret)":1,"results":[{"id":1}],"next":"\(next)","count":9,"\(secret)list":[1]}
      > GET \(next)
      < 200
      {"ok":"\(secret)"}

      """, at: "\(url)?access_token=\(secret)", headers: [.authorization: "Bearer \(secret)"],
      checks: 1)
    let check = try #require(detection.candidates.compactMap(\.check).first)
    let candidates = detection.candidates.map {
      "\($0.evidence) \($0.doubts) \($0.swift) \($0.check?.explanation ?? "")"
    }
    for text in detection.observations + candidates + [check.request ?? ""] {
      #expect(!text.contains(secret), "\(text)")
    }
    #expect(check.request?.contains("access_token=…") == true)
  }

  @Test(
    "A page of any size costs an outline of bounded size, and no name of it a control character")
  func hostile() throws {
    let members = (0..<1_500).map { "\"next\($0)\u{1B}\":{\"a\":[{\"b\":\($0)}]}" }
    let wide = "{" + members.joined(separator: ",") + "}"
    let deep =
      String(repeating: "{\"next\":", count: 100) + "1" + String(repeating: "}", count: 100)
    let xml = "<a>" + (0..<1_500).map { "<n\($0) next=\"x\"/>" }.joined() + "</a>"
    let (escaped, plain) = (
      wide.replacing("\u{1B}", with: "\\u001b"), wide.replacing("\u{1B}", with: "")
    )
    for text in [escaped, plain, deep, xml] {
      let document = try #require(DetectorSample.document(Array(text.utf8)))
      let outline = try #require((document as? any OutlinedDocument)?.outline)
      #expect(outline.nodes.count <= PageOutline.mostNodes)
      #expect(outline.nodes.allSatisfy { $0.depth <= PageOutline.greatestDepth })
      #expect(outline.nodes.dropFirst().allSatisfy { PageOutline.keeps(name: $0.name) })
      let answer = PageAnswer(
        request: PageRequest(url: url), url: url, status: 200, headerFields: [:],
        document: document, position: .start)
      let detection = try PaginationDetector(answer).detection()
      #expect(detection.candidates.count <= 5 && detection.observations.count < 30)
    }
  }

  @Test("A variant that leaves the place of its items open is proposed with the place of the page")
  func placedVariant() throws {
    let document = try JSONDocument(Array(#"{"incidents":[{"id":1}],"next_cursor":"x"}"#.utf8))
    let detector = try PaginationDetector(
      PageAnswer(
        request: PageRequest(url: url), url: url, status: 200, headerFields: [:],
        document: document, position: .start))
    let fit = try #require(detector.fits().first { $0.variant == "pagerDutyCursor" })
    #expect(fit.place == "/incidents")
    #expect(fit.swift == #"try .preset(named: "pagerDutyCursor").items(at: "/incidents")"#)
  }

  @Test("A page that arrives in many slices is not copied for each of them")
  func slices() throws {
    struct Session: PageDecoding {
      final class Page {}
      var page = Page()
      mutating func receive(_ slice: [UInt8]) {
        let isUnique = isKnownUniquelyReferenced(&page)
        #expect(isUnique)
      }
      mutating func finish() -> any PageDocument { EmptyDocument() }
      mutating func items() -> DecodedItems<Int> { DecodedItems([]) }
    }
    struct Pages: PageDecoder {
      func begin(_ context: DecodingContext) -> any PageDecoding<Int> { Session() }
    }
    var session = try LenientPageDecoder<Int>(decoder: Pages()).begin(DecodingContext())
    for _ in 0..<3 { try session.receive([0x20]) }
  }

  // MARK: Swift

  @Test("A preset is written with the place of its items where that is not its own")
  func swiftOfPresets() throws {
    for preset in Pagination.presets {
      #expect(preset.swift(at: nil) == "." + preset.name)
      #expect(preset.swift(at: "/a\"b") == ".\(preset.name).items(at: \"/a\\\"b\")")
    }
  }

  @Test("A description that was put together is written as a program has it, with all its parts")
  func swiftOfCompositions() {
    let counted = Pagination(
      next: .offset, send: .query("_start"),
      request: Pagination.RequestRule(
        keep: .except(["_end"]),
        then: Pagination.RequestChange(set: Pagination.RequestConstants(query: ["_limit": "10"])),
        isQuery: true),
      end: [.emptyPage], total: Pagination.TotalSource("/n", .estimate))
    #expect(
      counted.swift == """
        Pagination(next: .offset, send: .query("_start"), \
        request: Pagination.RequestRule(keep: .except(["_end"]), \
        then: Pagination.RequestChange(set: \
        Pagination.RequestConstants(query: ["_limit": "10"])), isQuery: true), \
        end: [.emptyPage], total: Pagination.TotalSource("/n", .estimate))
        """)
    let filled = Pagination(
      next: .body("/next"), send: .placeholder("{cursor}"),
      request: Pagination.RequestRule(first: ""))
    #expect(
      filled.swift == """
        Pagination(next: .body("/next"), send: .placeholder("{cursor}"), \
        request: Pagination.RequestRule(first: ""))
        """)
    let element = Pagination(next: .pageNumber, send: .xmlBody("/q/page"), end: [.emptyPage])
    #expect(
      element.swift
        == #"Pagination(next: .pageNumber, send: .xmlBody("/q/page"), end: [.emptyPage])"#)
  }

  @Test("A preset at the path of its own example is the example")
  func ownPlaces() throws {
    var count = 0
    for preset in Pagination.presets {
      guard let path = preset.pagination.items.unspecifiedPath else { continue }
      count += 1
      #expect(
        preset.pagination.items(at: .path(path)) == preset.pagination.example, "\(preset.name)")
    }
    #expect(count > 30)
  }
}
