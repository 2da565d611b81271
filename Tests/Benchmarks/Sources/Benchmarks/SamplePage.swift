import Foundation

/// Records like those of a public API for issues: nested, with text of some length, links, numbers
/// and nulls. Written by rule, so that every run measures the same bytes.
struct Record: Codable, Sendable {
  struct Author: Codable, Sendable {
    let login: String
    let id: Int
    let avatarURL: String
    let isStaff: Bool
  }

  struct Label: Codable, Sendable {
    let id: Int
    let name: String
    let color: String
  }

  let id: Int
  let number: Int
  let title: String
  let state: String
  let url: String
  let author: Author
  let labels: [Label]
  let milestone: String?
  let comments: Int
  let score: Double
  let createdAt: String
  let body: String
}

enum SamplePage {
  /// Writes the pages that the server serves, `0.json` to `99.json`: about 23 KB each, and with `large-` in
  /// front a megabyte each, of the same records.
  static func write(to folder: String) throws {
    for number in 0..<100 {
      try Data(page(of: 37, from: 1000 + number * 37))
        .write(to: URL(fileURLWithPath: "\(folder)/\(number).json"))
    }
    let records = Array(page(of: 1_700).dropFirst().dropLast())
    for number in 0..<100 {
      let first = Array("[{\"page\":\(number)},".utf8)
      try Data(first + records + [UInt8(ascii: "]")])
        .write(to: URL(fileURLWithPath: "\(folder)/large-\(number).json"))
    }
  }

  /// A JSON array of records, as a server would write it.
  static func page(of count: Int, from first: Int = 1) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    // Records are plain values: encoding them cannot fail.
    guard let page = try? encoder.encode((first..<first + count).map(record)) else { return [] }
    return Array(page)
  }

  private static func record(_ number: Int) -> Record {
    let topic = topics[number % topics.count]
    let login = "user-\(number * 7919 % 10_007)"
    return Record(
      id: 1_300_000_000 + number * 104_729, number: number,
      title: "\(topic) fails on the \(number)th attempt",
      state: number % 3 == 0 ? "closed" : "open",
      url: "https://api.example.com/repos/example/project/issues/\(number)",
      author: Record.Author(
        login: login, id: number * 7919, avatarURL: "https://avatars.example.com/\(login)?v=4",
        isStaff: number % 11 == 0),
      labels: (0..<number % 4).map {
        Record.Label(id: 208_045_946 + $0, name: topics[$0], color: "d73a4a")
      },
      milestone: nil, comments: number % 17, score: Double(number) / 7,
      createdAt: "2024-03-\(10 + number % 20)T12:\(10 + number % 50):00Z",
      body:
        "Steps:\n1. Open \"\(topic)\"\n2. Wait\n\nExpected: a page. Got: nothing — «\(topic)» 🧩\n\n"
        + "The same happens with the previous release, on two machines and over another network.")
  }

  private static let topics = ["Scrolling", "Export", "Großschreibung", "検索", "Retry", "Paging"]
}
