import QuireJSON

/// What a program reads of an issue: half of its members.
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
    state = try json.string("state")
    user = try json.value("user")
    labels = try json.list("labels")
    comments = try json.integer("comments")
    created = try json.string("created_at")
    body = try json.stringIfPresent("body")
  }

  /// What all racers add up.
  var sum: Int { number + title.utf8.count + user.login.utf8.count }
}
