import HTTPTypes
import QuireCore
import QuireXML
import Testing

@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// What presets make of answers that are no pages, as the services document them.
@Suite("Failures of presets")
struct PresetFailureTests {
  private let url = "https://l.test/l"

  struct Row: Sendable, CustomTestStringConvertible {
    var preset: String
    var body: String
    /// The class of the failure; nil for a page, or an answer of which the status says everything.
    var kind: Pagination.FailureRule.Class?
    var status = 200
    var isLater = false
    var delay: Duration?

    init(
      _ preset: String, _ body: String, _ kind: Pagination.FailureRule.Class?, status: Int = 200,
      isLater: Bool = false, delay: Duration? = nil
    ) {
      (self.preset, self.body, self.kind) = (preset, body, kind)
      (self.status, self.isLater, self.delay) = (status, isLater, delay)
    }

    var testDescription: String { "\(preset) \(status): \(body.prefix(60))" }
  }

  /// The description for the first of these requests that it can page.
  private func engine(_ pagination: Pagination) throws -> PaginationEngine {
    let bodies: [PageRequest.Body] = [
      .json([]), .xml("<a><param><value><int>0</int></value></param></a>"),
    ]
    for body in bodies {
      let request = PageRequest(method: .post, url: url, body: body)
      if let engine = try? PaginationEngine(pagination, first: request, home: Origin(url: url)) {
        return engine
      }
    }
    return try PaginationEngine(pagination, first: PageRequest(url: url), home: Origin(url: url))
  }

  private func classify(_ row: Row) throws -> Classification {
    let bytes = Array(row.body.utf8)
    let document: any PageDocument =
      try row.body.hasPrefix("<") ? XMLDocument(bytes) : JSONDocument(bytes)
    return try engine(Pagination.preset(named: row.preset).example).reader.classify(
      PageAnswer(
        request: PageRequest(url: url), url: url, status: row.status, headerFields: [:],
        document: document, position: row.isLater ? Position(["token": "t"]) : .start))
  }

  static let rows: [Row] = [
    Row("elastic", #"{"_clusters":{"skipped":1},"hits":{"hits":[]}}"#, .fatal),
    Row("elasticScroll", #"{"_clusters":{"skipped":1},"hits":{"hits":[]}}"#, .fatal),
    Row("openSearchPIT", #"{"_clusters":{"skipped":1},"hits":{"hits":[]}}"#, .fatal),
    Row("elasticOffset", #"{"_clusters":{"skipped":0},"hits":{"hits":[]}}"#, nil),
    Row(
      "monday",
      #"{"errors":[{"extensions":{"code":"COMPLEXITY_BUDGET_EXHAUSTED","retry_in_seconds":15}}]}"#,
      .throttled, delay: .seconds(15)),
    Row(
      "monday", #"{"error_code":"ComplexityException","error_data":{"retry_in_seconds":9}}"#,
      .throttled, delay: .seconds(9)),
    Row("monday", #"{"errors":[{"message":"Field 'x' does not exist"}]}"#, .fatal),
    Row("monday", #"{"errors":[{"message":"Rate limit exceeded"}]}"#, nil, status: 429),
    Row("arcgis", #"{"error":{"code":429}}"#, .throttled),
    Row("arcgis", #"{"error":{"code":504}}"#, .transient),
    Row("arcgis", #"{"error":{"code":400}}"#, .fatal),
    Row("arcgis", #"{"error":{"code":400}}"#, nil, status: 503),
    Row(
      "bigQuery", #"{"error":{"errors":[{"reason":"jobRateLimitExceeded"}]}}"#, .throttled,
      status: 403),
    Row("bigQuery", #"{"error":{"errors":[{"reason":"accessDenied"}]}}"#, nil, status: 403),
    Row(
      "pypiChangelog",
      "<methodResponse><fault><value><struct><member><name>faultString</name><value><string>"
        + "HTTPTooManyRequests: Limit may reset in 1 seconds.</string></value></member></struct>"
        + "</value></fault></methodResponse>", .throttled),
    Row("marketo", #"{"success":false,"errors":[{"code":"713"}]}"#, .transient),
    Row("marketoAssets", #"{"success":false,"errors":[{"code":"608"}]}"#, .transient),
    Row("marketo", #"{"success":false,"errors":[{"code":"610"}]}"#, .fatal),
    Row("slack", #"{"ok":false,"error":"service_unavailable"}"#, .transient),
    Row("slack", #"{"ok":false,"error":"invalid_auth"}"#, .fatal),
    Row("slack", #"{"ok":false,"error":"internal_error_of_another_kind"}"#, nil, status: 503),
    Row("typesense", #"{"found":1,"hits":[],"search_cutoff":true}"#, .transient),
    Row("ckan", #"{"success":false}"#, .fatal),
    Row("ckan", #"{"success":false}"#, nil, status: 503),
    Row("cloudflare", #"{"success":false}"#, nil, status: 429),
    Row("cloudflare", #"{"success":false}"#, .fatal, status: 403),
    Row(
      "fhir", #"{"resourceType":"OperationOutcome","issue":[{"code":"throttled"}]}"#, nil,
      status: 429),
    Row("fhir", #"{"resourceType":"OperationOutcome","issue":[{"code":"invalid"}]}"#, .fatal),
    Row("relay", #"{"errors":[{"type":"RATE_LIMIT"}]}"#, .throttled),
    Row("relay", #"{"errors":[{"message":"x"}]}"#, nil, status: 429),
    Row("telegram", #"{"ok":false,"error_code":502}"#, nil, status: 502),
    Row("mcp", #"{"error":{"code":-32000}}"#, nil, status: 503),
    Row("mediaWiki", #"{"error":{"code":"internal_api_error_DBQueryError"}}"#, nil, status: 500),
    Row("wfs", "<ExceptionReport><Exception/></ExceptionReport>", nil, status: 503),
    Row(
      "wfs", "<FeatureCollection><featureMember><a/></featureMember></FeatureCollection>", .fatal),
    Row(
      "wfs", "<FeatureCollection><featureMembers><a/></featureMembers></FeatureCollection>", .fatal),
    Row("wfs", "<FeatureCollection numberOfFeatures='0'/>", .fatal),
    Row("wfs", "<FeatureCollection><member><a/></member></FeatureCollection>", nil),
    Row("csw", "<ExceptionReport><Exception>x</Exception></ExceptionReport>", nil, status: 503),
    Row("csw", "<ExceptionReport><Exception>x</Exception></ExceptionReport>", .fatal),
    Row("disqus", #"{"code":14,"response":"x"}"#, .throttled),
    Row("disqus", #"{"code":15,"response":"x"}"#, .transient),
    Row("disqus", #"{"code":2,"response":"x"}"#, .fatal),
    Row("stackExchange", #"{"error_id":503}"#, .transient, status: 400),
    Row("stackExchange", #"{"error_id":400}"#, .fatal, status: 400),
    Row("flickr", #"{"stat":"fail","code":105}"#, .transient),
    Row("flickr", #"<rsp stat="fail"><err code="105" msg="away"/></rsp>"#, .transient),
    Row("flickr", #"{"stat":"fail","code":100}"#, .fatal),
    Row("jmap", #"{"methodResponses":[["error",{"type":"serverUnavailable"},"0"]]}"#, .transient),
    Row("jmap", #"{"methodResponses":[["error",{"type":"invalidArguments"},"0"]]}"#, .fatal),
    Row("googlePlaces", #"{"status":"UNKNOWN_ERROR"}"#, .transient),
    Row("googlePlaces", #"{"status":"OVER_DAILY_LIMIT"}"#, .fatal),
    Row("facebook", #"{"error":{"code":341}}"#, .throttled, status: 400),
    Row(
      "googleSync", #"{"error":{"details":[{"reason":"EXPIRED_SYNC_TOKEN"}]}}"#, .expired,
      status: 400,
      isLater: true),
    Row(
      "entrez", #"{"esearchresult":{"ERROR":"'retstart' cannot be larger than 9998"}}"#, .window),
    Row(
      "entrez", #"{"esearchresult":{"ERROR":"Value of retstart is out of acceptable range"}}"#,
      .window),
    Row("entrez", #"{"esearchresult":{"ERROR":"Invalid db name"}}"#, .fatal),
    Row(
      "semanticScholar",
      #"{"error":"Requested data for this limit and/or offset is not available"}"#,
      .window, status: 400, isLater: true),
    Row("gbif", "{}", .window, status: 400, isLater: true),
    Row("gbif", "{}", nil, status: 400),
    Row("pagerDuty", #"{"error":{"errors":["x"]}}"#, .window, status: 400, isLater: true),
    Row("nvd", "{}", .throttled, status: 403),
  ]

  @Test(
    "Presets tell failures that pass, limits and windows from failures for good", arguments: rows)
  func tells(_ row: Row) throws {
    switch try classify(row) {
    case .failure(let failure):
      #expect(failure.kind == row.kind)
      if let delay = row.delay { #expect(failure.delay == delay) }
    case .page: #expect(row.kind == nil)
    case .emptyPage, .end: Issue.record("an answer that is no page is taken for one")
    }
  }

  @Test(
    "A fatal rule holds for a status that passes only where it names the status",
    arguments: [408, 425, 429, 500, 502, 503, 504])
  func outranks(_ status: Int) throws {
    for (statuses, isFailure) in [([], false), ([status], true)] as [([Int], Bool)] {
      for kind in [Pagination.FailureRule.Class.fatal, .window, .transient] {
        var pagination = Pagination(next: .body("/next"))
        pagination.policy.failure = [
          Pagination.FailureRule(when: .value(.body("/error"), statuses: statuses), kind)
        ]
        let classification = try engine(pagination).reader.classify(
          PageAnswer(
            request: PageRequest(url: url), url: url, status: status, headerFields: [:],
            document: JSONDocument(Array(#"{"error":"x"}"#.utf8)), position: .start))
        if case .failure(let failure) = classification {
          #expect(failure.kind == kind)
          #expect(isFailure || kind != .fatal)
        } else {
          #expect(!isFailure && kind == .fatal)
        }
      }
    }
  }
}
