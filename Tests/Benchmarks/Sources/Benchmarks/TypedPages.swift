import Floor
import Foundation
import Quire
import QuirePagination
import QuireJSON

/// Typed items of pages of 1.1 MB, against Foundation's decoder.
enum TypedPages {
  static func measure() async throws -> [Figure] {
    let page = IssuePage.page(of: 210)
    let data = Data(page)
    let repetitions = 5
    let rounds = try await Measurement.rounds(
      of: { for _ in 0..<repetitions { try read(JSONPageDecoder<Issue>(), page, 210) } },
      { for _ in 0..<repetitions { try read(JSONReadablePageDecoder<Issue>(), page, 210) } },
      {
        let issues = try JSONDecoder().decode([Issue].self, from: data)
        precondition(issues.count == 210)
      })
    let times = Double(repetitions)
    return [
      Figure(
        "JSONDecoder to Decodable items, 1.1 MB page", rounds.ratio(2, to: 0) * times, "×",
        .atLeast(8)),
      Figure(
        "JSONDecoder to items that read themselves", rounds.ratio(2, to: 1) * times, "×",
        .atLeast(8)),
      Figure("  Decodable", rounds.seconds(0) / times * 1e6, "µs"),
      Figure("  reading themselves", rounds.seconds(1) / times * 1e6, "µs"),
      try allocations(),
    ]
  }

  /// Items of five fields, two of them long strings.
  private static func allocations() throws -> Figure {
    let few = try allocations(of: 1_000)
    let more = try allocations(of: 3_000)
    return Figure(
      "allocations of a Decodable item of five fields", Double(more - few) / 2_000, "", .atMost(4))
  }

  private static func allocations(of count: Int) throws -> Int64 {
    let items = (0..<count).map {
      "{\"id\":\($0),\"name\":\"a name of more than fifteen letters\",\"isOpen\":true,"
        + "\"text\":\"a text of more than fifteen letters\",\"score\":0.5}"
    }
    let page = Array("[\(items.joined(separator: ","))]".utf8)
    let before = floor_allocations()
    try read(JSONPageDecoder<FiveFields>(), page, count)
    return floor_allocations() - before
  }

  private struct FiveFields: Decodable, Sendable {
    let id: Int
    let name: String
    let isOpen: Bool
    let text: String
    let score: Double
  }

  private static func read<Item>(
    _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ count: Int
  ) throws {
    var session = try decoder.begin(DecodingContext())
    try session.receive(page)
    _ = try session.finish()
    let items = try session.items()
    precondition(items.count == count)
  }
}

/// What a program reads of an issue: a third of its members.
struct Issue: Decodable, JSONReadable {
  struct User: Decodable, JSONReadable {
    let login: String
    let id: Int

    init(from json: inout JSONReader) throws {
      login = try json.string("login")
      id = try json.integer("id")
    }
  }

  struct Label: Decodable, JSONReadable {
    let name: String
    let color: String

    init(from json: inout JSONReader) throws {
      name = try json.string("name")
      color = try json.string("color")
    }
  }

  let id: Int
  let number: Int
  let title: String
  let user: User
  let labels: [Label]
  let state: String
  let comments: Int
  let created: String
  let body: String?

  private enum CodingKeys: String, CodingKey {
    case id, number, title, user, labels, state, comments, body
    case created = "created_at"
  }

  init(from json: inout JSONReader) throws {
    id = try json.integer("id")
    number = try json.integer("number")
    title = try json.string("title")
    user = try json.value("user")
    labels = try json.list("labels")
    state = try json.string("state")
    comments = try json.integer("comments")
    created = try json.string("created_at")
    body = try json.stringIfPresent("body")
  }
}

/// Issues as a large code host writes them: 5 KB each, most of it addresses that nobody reads.
enum IssuePage {
  static func page(of count: Int) -> [UInt8] {
    Array("[\((1...count).map(issue).joined(separator: ","))]".utf8)
  }

  private static func issue(_ number: Int) -> String {
    let links = [
      "url", "repository_url", "labels_url", "comments_url", "events_url", "html_url",
    ].map { "\"\($0)\":\"https://api.example.com/repos/one/two/issues/\(number)/\($0)\"" }
    let labels = (0..<3).map {
      """
      {"id":\(number + $0),"node_id":"MDU6TGFiZWwz","url":"https://api.example.com/repos/one/two/labels/bug",\
      "name":"label \($0)","color":"d73a4a","default":false,"description":"Something does not work"}
      """
    }
    let body = String(
      repeating: "Some words of an issue that is told at length.\\r\\nAnd \\\"more\\\" of them. ",
      count: 16)
    let person = user("user-\(number)", number)
    return """
      {\(links.joined(separator: ",")),"id":\(1_000_000_000 + number),"node_id":"I_kwDO\(number)",\
      "number":\(number),"title":"Something fails on the \(number)th attempt","user":\(person),\
      "labels":[\(labels.joined(separator: ","))],"state":"open","locked":false,"assignee":\(person),\
      "assignees":[\(person)],"milestone":null,"comments":\(number % 17),\
      "created_at":"2024-03-10T12:10:00Z","updated_at":"2024-03-11T12:10:00Z","closed_at":null,\
      "author_association":"CONTRIBUTOR","active_lock_reason":null,"body":"\(body)",\
      "reactions":{"total_count":0,"+1":0,"-1":0,"laugh":0},"state_reason":null}
      """
  }

  private static func user(_ login: String, _ id: Int) -> String {
    let links = [
      "avatar_url", "html_url", "followers_url", "following_url", "gists_url", "starred_url",
      "subscriptions_url", "organizations_url", "repos_url", "events_url", "received_events_url",
    ].map { "\"\($0)\":\"https://api.example.com/users/\(login)/\($0)\"" }
    return """
      {"login":"\(login)","id":\(id),"node_id":"MDQ6VXNlcjE=",\(links.joined(separator: ",")),\
      "type":"User","site_admin":false}
      """
  }
}
