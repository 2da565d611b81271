import Foundation
import Quire
import QuireJSON
import QuirePagination

/// What is done with a page that is there, in one thread: the same in every run.
enum Pages {
  /// What a program reads of an item: half of its members.
  private struct Issue: Decodable, Sendable {
    struct User: Decodable, Sendable {
      let login: String
      let id: Int
    }

    let number: Int
    let title: String
    let user: User
    let labels: [String]
    let comments: Int
    let body: String?
  }

  static func decode(_ times: Int) throws {
    for _ in 0..<times { _ = try items(by: JSONPageDecoder<Issue>()) }
  }

  static func export(_ times: Int) throws {
    for _ in 0..<times {
      var lines: [UInt8] = []
      for item in try items(by: JSONRawPageDecoder()) {
        item.appendCompact(to: &lines)
        lines.append(0x0A)
      }
      precondition(lines.count > 50_000)
    }
  }

  static func index(_ times: Int) throws {
    for _ in 0..<times { _ = try JSONDocument(sample) }
  }

  /// A hundred items.
  private static let sample = page(of: 100, from: 1)

  private static func items<Item>(by decoder: some PageDecoder<Item>) throws -> [Item] {
    var session = try decoder.begin(DecodingContext())
    try session.receive(sample)
    _ = try session.finish()
    let items = try session.items().items
    precondition(items.count == 100)
    return items
  }

  /// A hundred pages of 22 KB, `0.json` to `99.json`.
  static func write(to folder: String) throws {
    for number in 0..<100 {
      try Data(page(of: 22, from: number * 22))
        .write(to: URL(fileURLWithPath: "\(folder)/\(number).json"))
    }
  }

  /// Items of 1 KB, written by rule, so that every run counts the same bytes.
  private static func page(of count: Int, from first: Int) -> [UInt8] {
    Array("[\((first..<first + count).map(item).joined(separator: ", "))]".utf8)
  }

  private static func item(_ number: Int) -> String {
    let text = "Some words of an issue, told at length.\\r\\nAnd \\\"more\\\" of them. "
    return """
      {"id": \(1_000_000 + number), "number": \(number), "title": "Something fails on the \(number)th attempt", \
      "url": "https://api.example.com/repos/one/two/issues/\(number)", "state": "open", "locked": false, \
      "user": {"login": "user-\(number)", "id": \(number * 7919), "type": "User", \
      "url": "https://api.example.com/users/user-\(number)"}, "labels": ["bug", "export"], "milestone": null, \
      "comments": \(number % 17), "score": \(number).25, "created_at": "2024-03-10T12:10:00Z", \
      "body": "\(String(repeating: text, count: 8))"}
      """
  }
}
