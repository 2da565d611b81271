import Foundation
import QuireCore

/// A way of paging the demo records: a path of the demo API, and the options by which `quire
/// export` reads it.
///
/// `all` is the only list of styles: the server routes by it, `make demo` runs through it, and the
/// tests check every row.
struct DemoStyle: Sendable {
  /// The name, which is also the path.
  let name: String
  /// The style's peculiarity, in half a sentence.
  let summary: String
  /// The options of `quire export` besides the URL.
  let options: [String]
  /// Returns the record with a number as the pages of this style write it.
  var text: @Sendable (Int) -> String = DemoRecords.text
  /// Returns the exported line of the record with a number.
  var line: @Sendable (Int) -> String = DemoRecords.line
  /// Returns the answer to a request. Throws `DemoFailure` if the request is not valid.
  let answer: @Sendable (DemoRequest) throws -> DemoAnswer

  var path: String { "/" + name }

  /// All styles, in the order of the table.
  static let all: [DemoStyle] = links + counters + tokens + bodies + markup

  /// Returns the arguments of the `quire` command that exports this style.
  func command(origin: String) -> [String] { ["export", origin + path] + options }
}

/// Styles that read the cursor from a JSON body sent by POST.
extension DemoStyle {
  static let bodies: [DemoStyle] = [
    DemoStyle(
      name: "notion", summary: "POST with start_cursor in the body, as in Notion",
      options: ["--preset", "notion", "--data", "{\"page_size\": 100}"]
    ) { request in
      let asked = try decode(NotionBody.self, from: request)
      let slice = try DemoSlice(token: asked.startCursor, size: size(asked.pageSize))
      return DemoAnswer(
        body: """
          {"object": "list", "results": \(slice.list), "has_more": \(slice.hasMore), \
          "next_cursor": \(slice.nextTokenText)}
          """)
    },
    DemoStyle(
      name: "graphql", summary: "POST of a GraphQL query for a Relay connection",
      options: [
        "--preset", "relay", "--items", "/data/connection", "--data",
        """
        {"query": "query($first: Int, $after: String) { connection: records(first: $first, \
        after: $after) { nodes { id name price } pageInfo { endCursor hasNextPage } } }"}
        """,
      ]
    ) { request in
      let asked = try decode(GraphQLBody.self, from: request).variables
      let slice = try DemoSlice(token: asked?.after, size: size(asked?.first))
      return DemoAnswer(
        body: """
          {"data": {"connection": {"nodes": \(slice.list), "totalCount": \(DemoRecords.count), \
          "pageInfo": {"endCursor": \(slice.nextTokenText), "hasNextPage": \(slice.hasMore)}}}}
          """)
    },
  ]

  private struct NotionBody: Decodable {
    var startCursor: String?
    var pageSize: Int?

    private enum CodingKeys: String, CodingKey {
      case startCursor = "start_cursor"
      case pageSize = "page_size"
    }
  }

  private struct GraphQLBody: Decodable {
    var variables: Variables?
    struct Variables: Decodable {
      var first: Int?
      var after: String?
    }
  }

  private static func decode<Body: Decodable>(
    _ type: Body.Type, from request: DemoRequest
  ) throws -> Body {
    guard !request.body.isEmpty, let body = try? JSONDecoder().decode(type, from: request.body)
    else { throw DemoFailure("POST a JSON object.") }
    return body
  }

  private static func size(_ asked: Int?) -> Int {
    min(max(asked ?? DemoSlice.defaultSize, 1), DemoSlice.largestSize)
  }
}

/// Styles in which the client counts: offsets, page numbers, or the last ID.
extension DemoStyle {
  static let counters: [DemoStyle] = [
    DemoStyle(
      name: "offset-limit", summary: "offset and limit, with a total",
      options: [
        "--next", "offset", "--send", "query:offset", "--end", "total:/total", "--items", "/items",
      ]
    ) { request in
      let slice = DemoSlice(
        offset: try request.number("offset", or: 0), size: try request.size("limit"))
      return DemoAnswer(body: "{\"items\": \(slice.list), \"total\": \(DemoRecords.count)}")
    },
    DemoStyle(
      name: "total-pages", summary: "page numbers, with the number of pages",
      options: ["--preset", "totalPages", "--items", "/data"]
    ) { request in
      let size = try request.size("per_page")
      let slice = DemoSlice(page: try request.number("page", or: 1), size: size)
      let pages = DemoRecords.count.dividedRoundingUp(by: size)
      return DemoAnswer(
        body: "{\"data\": \(slice.list), \"meta\": {\"total_pages\": \(pages)}}")
    },
    DemoStyle(
      name: "pages", summary: "page numbers until a page is empty", options: ["--preset", "pages"]
    ) { request in
      let slice = DemoSlice(
        page: try request.number("page", or: 1), size: try request.size("per_page"))
      return DemoAnswer(body: slice.list)
    },
    DemoStyle(
      name: "spring", summary: "page numbers from 0, with a flag on the last page",
      options: ["--preset", "spring"]
    ) { request in
      let size = try request.size("size")
      let slice = DemoSlice(offset: try request.number("page", or: 0) * size, size: size)
      return DemoAnswer(body: "{\"content\": \(slice.list), \"last\": \(!slice.hasMore)}")
    },
    DemoStyle(
      name: "stripe", summary: "the last id as the cursor, with has_more",
      options: ["--preset", "stripe"]
    ) { request in
      let slice = DemoSlice(
        offset: try request.number("starting_after", or: 0), size: try request.size("limit"))
      return DemoAnswer(
        body: "{\"object\": \"list\", \"data\": \(slice.list), \"has_more\": \(slice.hasMore)}")
    },
  ]
}

/// Styles whose pages contain the URL of the next page.
extension DemoStyle {
  static let links: [DemoStyle] = [
    DemoStyle(
      name: "link-header", summary: "Link: <…>; rel=\"next\" (RFC 8288)",
      options: ["--preset", "linkHeader"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "per_page")
      return DemoAnswer(headers: linkHeader(next), body: slice.list)
    },
    DemoStyle(
      name: "gitlab", summary: "Link header and X-Total", options: ["--preset", "gitlab"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "per_page")
      let total = (name: "X-Total", value: "\(DemoRecords.count)")
      return DemoAnswer(headers: linkHeader(next) + [total], body: slice.list)
    },
    DemoStyle(
      name: "drf", summary: "next URL in the body, as in Django REST framework",
      options: ["--preset", "drf"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "page_size")
      return DemoAnswer(
        body: """
          {"count": \(DemoRecords.count), "next": \(text(next)), "previous": null, \
          "results": \(slice.list)}
          """)
    },
    DemoStyle(
      name: "datasette", summary: "next_url in the body, as in Datasette",
      options: ["--preset", "datasette"]
    ) { request in
      let slice = try DemoSlice(token: request.query["_next"], size: request.size("_size"))
      let next = slice.hasMore ? request.link("_next=a%2Fb%2B\(slice.range.upperBound)%3D%3D") : nil
      return DemoAnswer(
        body: """
          {"rows": \(slice.list), "next": \(slice.nextTokenText), "next_url": \(text(next)), \
          "count": \(DemoRecords.count)}
          """)
    },
    DemoStyle(
      name: "json-api", summary: "links.next in the body (JSON:API)",
      options: ["--preset", "jsonAPI"],
      line: { "{\"type\":\"records\",\"id\":\"\($0)\",\"attributes\":\(DemoRecords.line($0))}" }
    ) { request in
      let (slice, next) = try page(request, number: "page[number]", size: "page[size]")
      let list = DemoRecords.list(slice.range) {
        "{\"type\": \"records\", \"id\": \"\($0)\", \"attributes\": \($1)}"
      }
      return DemoAnswer(body: "{\"data\": \(list), \"links\": {\"next\": \(text(next))}}")
    },
    DemoStyle(
      name: "hal", summary: "_links.next.href in the body, absent on the last page (HAL)",
      options: ["--preset", "hal", "--items", "/_embedded/records"]
    ) { request in
      let (slice, next) = try page(request, number: "page", size: "size")
      let links = next.map { "{\"next\": {\"href\": \"\($0)\"}}" } ?? "{}"
      return DemoAnswer(
        body: """
          {"_embedded": {"records": \(slice.list)}, "_links": \(links), \
          "page": {"totalElements": \(DemoRecords.count)}}
          """)
    },
    DemoStyle(
      name: "odata", summary: "@odata.nextLink in the body (OData 4)",
      options: ["--preset", "odata"]
    ) { request in
      let size = try request.size("$top")
      let slice = DemoSlice(offset: try request.number("$skip", or: 0), size: size)
      let link = request.link("%24skip=\(slice.range.upperBound)&%24top=\(size)")
      let next = slice.hasMore ? ", \"@odata.nextLink\": \"\(link)\"" : ""
      return DemoAnswer(
        body: "{\"@odata.count\": \(DemoRecords.count), \"value\": \(slice.list)\(next)}")
    },
  ]

  /// Returns a numbered page, with the link to the next one.
  private static func page(
    _ request: DemoRequest, number: String, size: String
  ) throws -> (slice: DemoSlice, next: String?) {
    let page = try request.number(number, or: 1)
    let count = try request.size(size)
    let slice = DemoSlice(page: page, size: count)
    guard slice.hasMore else { return (slice, nil) }
    let (pageName, sizeName) = (escaped(number), escaped(size))
    return (slice, request.link("\(pageName)=\(page + 1)&\(sizeName)=\(count)"))
  }

  private static func escaped(_ name: String) -> String {
    name.replacing("[", with: "%5B").replacing("]", with: "%5D")
  }

  private static func linkHeader(_ next: String?) -> [(name: String, value: String)] {
    next.map { [(name: "Link", value: "<\($0)>; rel=\"next\"")] } ?? []
  }

  private static func text(_ link: String?) -> String { link.map { "\"\($0)\"" } ?? "null" }
}

/// Styles in which the server gives an opaque token, to be sent back as a parameter.
extension DemoStyle {
  static let tokens: [DemoStyle] = [
    DemoStyle(
      name: "cursor", summary: "cursor token, with has_more",
      options: [
        "--next", "body:/next_cursor", "--send", "query:cursor", "--end", "flag:/has_more",
        "--items", "/data",
      ]
    ) { request in
      let slice = try DemoSlice(token: request.query["cursor"], size: request.size("limit"))
      return DemoAnswer(
        body: """
          {"data": \(slice.list), "has_more": \(slice.hasMore), \
          "next_cursor": \(slice.nextTokenText)}
          """)
    },
    DemoStyle(
      name: "google", summary: "nextPageToken, absent on the last page (AIP-158)",
      options: ["--preset", "google", "--items", "/records"]
    ) { request in
      let slice = try DemoSlice(token: request.query["pageToken"], size: request.size("pageSize"))
      let next = slice.nextToken.map { ", \"nextPageToken\": \"\($0)\"" } ?? ""
      return DemoAnswer(body: "{\"records\": \(slice.list)\(next)}")
    },
    DemoStyle(
      name: "slack", summary: "next_cursor, empty on the last page, as in Slack",
      options: ["--preset", "slack", "--items", "/records"]
    ) { request in
      let slice = try DemoSlice(token: request.query["cursor"], size: request.size("limit"))
      let next = slice.nextToken ?? ""
      return DemoAnswer(
        body: """
          {"ok": true, "records": \(slice.list), "response_metadata": {"next_cursor": "\(next)"}}
          """)
    },
    DemoStyle(
      name: "header-token", summary: "token in a response header",
      options: ["--next", "header:X-Next-Token", "--send", "query:token"]
    ) { request in
      let slice = try DemoSlice(token: request.query["token"], size: request.size("limit"))
      let headers = slice.nextToken.map { [(name: "X-Next-Token", value: $0)] } ?? []
      return DemoAnswer(headers: headers, body: slice.list)
    },
  ]
}

/// The style whose pages are XML. Its records have no numbers and no null, which XML lacks.
extension DemoStyle {
  static let markup: [DemoStyle] = [
    DemoStyle(
      name: "xml", summary: "XML, with the next URL in an element",
      options: ["--next", "body:/list/next", "--send", "url", "--items", "/list/records/record"],
      text: element,
      line: line
    ) { request in
      let (number, size) = (try request.number("page", or: 1), try request.size("size"))
      let slice = DemoSlice(page: number, size: size)
      let next = slice.hasMore ? request.link("page=\(number + 1)&amp;size=\(size)") : ""
      let records = slice.range.map { element($0 + 1) }.joined(separator: "\n")
      return DemoAnswer(
        mediaType: "application/xml",
        body: """
          <?xml version="1.0"?>
          <list><total>\(DemoRecords.count)</total><next>\(next)</next><records>
          \(records)
          </records></list>
          """)
    }
  ]

  private static func element(_ number: Int) -> String {
    """
    <record id="\(number)"><name>Record \(number)</name>\
    <colour>\(colours[number % colours.count].markup)</colour>\
    <tag>n\(number % 3)</tag><tag>m\(number % 5)</tag></record>
    """
  }

  private static func line(_ number: Int) -> String {
    """
    {"@id":"\(number)","name":"Record \(number)",\
    "colour":"\(colours[number % colours.count].text)",\
    "tag":["n\(number % 3)","m\(number % 5)"]}
    """
  }

  private static let colours: [(markup: String, text: String)] = [
    ("red", "red"), ("gr&#xFC;n", "grün"), ("<![CDATA[bleu]]>", "bleu"), ("синий", "синий"),
    ("黄色 &amp; 白", "黄色 & 白"),
  ]
}
