import Foundation

/// Styles that are asked by POST, with the cursor inside a JSON body.
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
        "--preset", "relay", "--data",
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
