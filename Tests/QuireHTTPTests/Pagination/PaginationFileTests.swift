import QuireCore
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("Descriptions in files")
struct PaginationFileTests {
  @Test("Every preset survives a file", arguments: Pagination.presets.map(\.name))
  func presetRoundTrip(_ name: String) throws {
    let preset = try Pagination.preset(named: name)
    #expect(try Pagination(json: preset.json.utf8) == preset)
  }

  @Test("Every part of a description survives a file")
  func wholeRoundTrip() throws {
    let whole = Pagination(
      next: .firstOf([
        Pagination.Route(.linkHeader(rel: "next", where: ["results": "true"]), send: .url),
        Pagination.Route(.header("X-Next"), send: .header("X-After")),
        Pagination.Route(.lastItem("/id"), send: .query("after", encoding: .allowing("="))),
        Pagination.Route(.body("/a"), send: .query("a", encoding: .verbatim)),
        Pagination.Route(.offset(first: 1, step: .body("/n")), send: .query("offset")),
        Pagination.Route(.offset(step: .pageSize), send: .path("{offset}", encoding: .verbatim)),
        Pagination.Route(.pageNumber(first: 0, from: "/page"), send: .jsonBody("/page")),
        Pagination.Route(.contentRange(first: 1), send: .itemRange),
        Pagination.Route(.queryItem("c", of: .body("/next")), send: .query("c")),
        Pagination.Route(.all(["a": .body("/a"), "b": .header("B")]), send: .queryMerge),
        Pagination.Route(.all(["/a": .json(.header("A"))]), send: .bodyMerge),
        Pagination.Route(.formDecoded(.firstItem("/id")), send: .form("marker")),
        Pagination.Route(.adding(1, to: .maxItem("/id")), send: .xmlBody("//A/@b")),
        Pagination.Route(.template("[{}, {size}]", of: .offset), send: .placeholder("{{o}}")),
        Pagination.Route(
          .jsonText(.body("/key")), send: .placeholder("{{k}}", encoding: .allowing("="))),
      ]),
      request: Pagination.RequestRule(
        keep: .except(["page"]), first: 1,
        then: Pagination.RequestChange(
          url: "list/continue?x=1",
          set: Pagination.RequestConstants(query: ["a": "b"], header: ["C": "d"], body: ["/e": 1])),
        method: .get,
        always: Pagination.RequestConstants(
          query: ["a": "b"], header: ["C": "d"], body: ["/e": ["x", true]]),
        carry: [
          "pit": Pagination.CarriedValue(
            from: .firstOf(["/id", .count("/a")]), send: .query("pit"))
        ],
        isQuery: true),
      end: [
        .noNext(sentinels: ["null", "0"]), .emptyPage, .shortPage, .sameCursor, .noNext(),
        .flag("/more"), .flag(.header("X-More"), continuesWhile: false, ifAbsent: .end),
        .flag(.linkParameter("results", rel: "next")), .flag(.lastItem("/more")),
        .total("/total"), .pages(.firstOf(["/pages", .linkQueryItem("page", rel: "last")])),
        .status([404, 416]), .notAdvancing, .noNewItems(), .noNewItems(by: "/guid"),
        .requires(["/more", "/next"]),
        .bodyHas("/sync"), .bodyLacks("/more"),
        .status([400], matching: .value("/code", .isOneOf(["a", 2]), statuses: [400])),
      ],
      items: .optional(.all(["/a", "/b"])),
      size: Pagination.PageSize(
        .header("Prefer"), default: 10, max: 100, echo: "/size", format: "maxpagesize={n}"),
      total: Pagination.TotalSource(.contentRangeTotal, .estimate, scope: .firstPage),
      policy: Pagination.Policy(
        failure: [
          Pagination.FailureRule(when: .status(403, 429), .throttled, after: "/wait"),
          Pagination.FailureRule(when: .value("/ok", .equals(false)), message: "/error"),
          Pagination.FailureRule(
            when: .value("/ok", .notEquals("yes")), .window, advice: "Ask less."),
          Pagination.FailureRule(when: .value("/error", .contains("expired")), .expired),
          Pagination.FailureRule(when: .value("/errors"), .notReady),
        ], links: .allow(["a.test"]), handle: true,
        open: Pagination.SideRequest("POST", url: "/_pit", keep: .only(["a"])),
        close: Pagination.SideRequest(
          "DELETE", url: "/_pit", set: Pagination.RequestConstants(body: ["/a": 1]),
          send: ["pit": .jsonBody("/id"), "cursor": .query("c")]),
        overlap: 1, reversesItems: true))
    #expect(try Pagination(json: whole.json.utf8) == whole)
  }

  @Test("A description is printed for people: short things on a line, the answers in their order")
  func layout() {
    var slack = Pagination.slack.items(at: "/members")
    slack.send = .query("cursor")
    slack.size?.send = .query("limit")
    slack.request = Pagination.RequestRule()
    #expect(
      slack.json == """
        {
          "next": {"body": "/response_metadata/next_cursor"},
          "send": {"query": "cursor"},
          "items": "/members",
          "size": {"send": {"query": "limit"}, "default": 100, "max": 1000},
          "total": "/paging/total",
          "policy": {
            "failure": [
              {
                "when": {"value": "/error", "equals": "invalid_cursor"},
                "class": "expired",
                "message": "/error"
              },
              {
                "when": {"value": "/error", "isOneOf": ["ratelimited", "rate_limited"]},
                "class": "throttled",
                "message": "/error"
              },
              {
                "when": {
                  "value": "/error",
                  "isOneOf": ["internal_error", "service_unavailable", "request_timeout"]
                },
                "class": "transient",
                "message": "/error"
              },
              {"when": {"value": "/ok", "equals": false}, "class": "fatal", "message": "/error"}
            ]
          },
          "formats": ["json"]
        }
        """)
  }

  @Test("Short forms read as what they stand for")
  func shortForms() throws {
    let text = """
      {"next": "linkHeader", "end": ["emptyPage", {"flag": "/more"}, {"total": "/total"}],
       "size": {"send": {"query": "limit"}}, "total": {"header": "X-Total"}}
      """
    let expected = Pagination(
      next: .linkHeader, end: [.emptyPage, .flag("/more"), .total("/total")],
      size: Pagination.PageSize(.query("limit")), total: Pagination.TotalSource(.header("X-Total")))
    #expect(try Pagination(json: text.utf8) == expected)
  }

  @Test(
    "A wrong key is named, with where it is and what was expected",
    arguments: [
      (#"{"next": "linkHeader", "ends": []}"#, [#"has no "ends""#, #"Did you mean "end"?"#]),
      (#"{"send": "url"}"#, [#"needs "next""#]),
      (#"{"next": "linkHeader", "items": "/a", "items": "/b"}"#, [#"has "items" twice"#]),
      (#"{"next": {"body": "/a", "body": "/b"}}"#, ["At next:", #"has "body" twice"#]),
      (
        #"{"next": {"linkHeader": {"where": {"a": "b", "a": "c"}}}}"#,
        ["At next.linkHeader.where:", #""a" is there twice"#]
      ),
      (#"{"next": "linkHeadr"}"#, ["At next:", #""linkHeadr" is no next source"#]),
      (#"{"next": {"body": "next"}}"#, ["At next.body:", #"does not start with "/""#]),
      (#"{"next": {"body": "/a", "header": "b"}}"#, ["At next:", "exactly one of"]),
      (#"{"next": {"body": 1}}"#, [#""body""#]),
      (#"{"next": {"offset": {"frist": 1}}}"#, ["At next.offset:", #"Did you mean "first"?"#]),
      (#"{"next": {"offset": {"first": "1"}}}"#, [#""first" is not a whole number"#]),
      (#"{"next": "offset", "send": {"qeury": "a"}}"#, ["At send:", #"Did you mean "query"?"#]),
      (#"{"next": "offset", "send": "body"}"#, ["At send:", #""body" is no placement"#]),
      (
        #"{"next": "offset", "send": {"query": "a", "encoding": "none"}}"#,
        ["At send.encoding:", #"expected "strict""#]
      ),
      (
        #"{"next": "offset", "end": ["emptyPage", "shortpages"]}"#,
        ["At end[1]:", #"Did you mean "shortPage"?"#]
      ),
      (
        #"{"next": "offset", "end": [{"flag": {"source": "/a", "ifAbsent": "stop"}}]}"#,
        ["At end[0].flag:", #"not "stop""#]
      ),
      (#"{"next": "offset", "request": {"keep": "some"}}"#, ["At request.keep:", "no keep rule"]),
      (#"{"next": "offset", "request": {"method": "put"}}"#, [#""same" or "get""#]),
      (
        #"{"next": "offset", "total": {"source": "/a", "kind": "sum"}}"#,
        ["At total:", #""kind" is "items""#, #"not "sum""#]
      ),
      (
        #"{"next": "offset", "total": {"source": "/a", "kind": "itms"}}"#,
        [#"not "itms". Did you mean "items"?"#]
      ),
      (
        #"{"next": "offset", "policy": {"failure": [{"when": {"value": "/a"}, "class": "bad"}]}}"#,
        ["At policy.failure[0]:", #"not "bad""#]
      ),
      (
        #"{"next": "offset", "policy": {"failure": [{"when": {}, "class": "fatal"}]}}"#,
        ["At policy.failure[0].when:", #"A condition has "status""#]
      ),
      (#"{"next": "offset", "policy": {"links": "any"}}"#, ["policy.links", "no link policy"]),
      (#"["next"]"#, ["is an object"]),
      ("next: offset", ["cannot be read"]),
    ])
  func wrongKey(_ text: String, _ parts: [String]) throws {
    let error = #expect(throws: PageError.self) { try Pagination(json: text.utf8) }
    #expect(error?.code == .invalidArgument)
    for part in parts {
      #expect(error?.message.contains(part) == true, "\(error?.message ?? "")")
    }
  }

  @Test("An unknown preset suggests the nearest one, where one is near")
  func unknownPreset() {
    let near = #expect(throws: PageError.self) { try Pagination.preset(named: "gihtub") }
    #expect(near?.message.contains(#"Did you mean "github"?"#) == true)
    let style = #expect(throws: PageError.self) { try Pagination.preset(named: "pageNumber") }
    #expect(style?.message.contains(#"Did you mean "pages" or "totalPages"?"#) == true)
    let far = #expect(throws: PageError.self) { try Pagination.preset(named: "wombat") }
    #expect(far?.message.contains("quire presets") == true)
  }
}
