/// Styles in which the server hands out an opaque token that goes back as a parameter.
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
