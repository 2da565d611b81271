import AsyncHTTPClient
import Foundation

struct Issue: Decodable {
  struct User: Decodable {
    let login: String
    let id: Int
  }

  struct Label: Decodable {
    let name: String
    let color: String
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
}

/// The race by AsyncHTTPClient and Foundation: `ClientRacer bytes|untyped|typed|lines URL PAGES`, along Link headers.
@main
struct ClientRacer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let mode = arguments[1]
    var url: String? = arguments[2] + "1"
    var pages = Int(arguments[3]) ?? 0
    let decoder = JSONDecoder()
    var sum = 0
    while let address = url, pages > 0 {
      let response = try await HTTPClient.shared.execute(
        HTTPClientRequest(url: address), timeout: .seconds(30))
      guard response.status == .ok else { throw Failure() }
      url = response.headers.first(name: "Link").flatMap(next)
      let page = Data((try await response.body.collect(upTo: 1 << 24)).readableBytesView)
      pages -= 1
      switch mode {
      case "bytes": sum += page.count
      case "untyped":
        for issue in try issues(page) {
          guard let number = issue["number"] as? Int, let title = issue["title"] as? String,
            let user = issue["user"] as? [String: Any], let login = user["login"] as? String
          else { throw Failure() }
          sum += number + title.utf8.count + login.utf8.count
        }
      case "typed":
        for issue in try decoder.decode([Issue].self, from: page) {
          sum += issue.number + issue.title.utf8.count + issue.user.login.utf8.count
        }
      default:
        var lines: [UInt8] = []
        for issue in try issues(page) {
          lines.append(
            contentsOf: try JSONSerialization.data(
              withJSONObject: issue, options: .withoutEscapingSlashes))
          lines.append(0x0A)
        }
        try FileHandle.standardOutput.write(contentsOf: lines)
      }
    }
    if mode != "lines" { print(sum) }
  }

  private static func next(_ link: String) -> String? {
    link.firstMatch(of: /<([^>]*)>; *rel="next"/).map { String($0.1) }
  }

  private static func issues(_ page: Data) throws -> [[String: Any]] {
    guard let issues = try JSONSerialization.jsonObject(with: page) as? [[String: Any]] else {
      throw Failure()
    }
    return issues
  }

  private struct Failure: Error {}
}
