import Foundation
import GRDB
import TestSupport

/// A server of organisations, their repositories, the issues of those and their comments, three to a page,
/// led on by `next`; and a folder for what is made of them.
final class Forge: Sendable {
  let server: FaultServer
  let folder: URL

  /// How many there are below each.
  static let (organisations, repositories, issues, comments) = (2, 5, 4, 4)

  /// Answers `failing` paths with their status, until it is told otherwise.
  init(failing: @escaping @Sendable (String) -> Int? = { _ in nil }) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    server = try FaultServer { request in
      if let status = failing(request.path) {
        return [.respond("{\"message\":\"no\"}", status: "\(status) No")]
      }
      return [.respond(Self.answer(request.path, request.target))]
    }
  }

  deinit {
    server.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func answer(_ path: String, _ target: String) -> String {
    let words = path.split(separator: "/").map(String.init)
    func parameter(_ name: String) -> String? {
      target.split(whereSeparator: { "?&".contains($0) })
        .first { $0.hasPrefix("\(name)=") }.map { String($0.dropFirst(name.count + 1)) }
    }
    var items: [String]
    switch words.count {
    case 1: items = (0..<organisations).map { #"{"login":"o\#($0)"}"# }
    case 3:
      items = (0..<repositories).map {
        #"{"id":"\#(words[1])-\#($0)","full":"\#(words[1])/r\#($0)"}"#
      }
    case 4:
      items = (0..<issues).map {
        #"{"id":"\#(words[1])-\#(words[2])-\#($0)","n":\#($0),"t":"2026-01-0\#($0 + 1)T00:00:00Z"}"#
      }
    default:
      items = (0..<comments).map {
        #"{"id":"\#(words[1])-\#(words[2])-\#(words[4])-\#($0)","body":"text"}"#
      }
    }
    if let since = parameter("since")?.removingPercentEncoding {
      items = items.filter { item in
        item.split(separator: "\"t\":\"").dropFirst().first.map { $0.prefix(20) >= since } ?? true
      }
    }
    let start = parameter("page").flatMap(Int.init) ?? 0
    let next = start + 3 < items.count ? ",\"next\":\(start + 3)" : ""
    return "{\"items\":[\(items.dropFirst(start).prefix(3).joined(separator: ","))]\(next)}"
  }

  /// A file with the four listings, into one database, with more lines at its end.
  func file(to: String = "forge.db", named name: String = "forge.yaml", more: String = "") throws
    -> String
  {
    let pagination = #"{"next": {"body": "/next"}, "send": {"query": "page"}, "items": "/items"}"#
    let text = """
      to: \(to)
      listings:
        comments:
          url: \(server.url("/repos/{+repositories:full}/issues/{n}/comments"))
          for: issues
          key: id
          with: {repository: "repositories:full", issue: id}
          pagination: \(pagination)
        organisations:
          url: \(server.url("/organisations"))
          key: login
          pagination: \(pagination)
        repositories:
          url: \(server.url("/orgs/{login}/repos"))
          for: organisations
          key: id
          with: {organisation: login}
          pagination: \(pagination)
        issues:
          url: \(server.url("/repos/{+full}/issues"))
          for: repositories
          key: id
          with: {repository: id}
          pagination: \(pagination)
      \(more)
      """
    let path = folder.appending(path: name).path
    try text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }

  func rows(_ sql: String, in name: String = "forge.db") throws -> [String] {
    try DatabaseQueue(path: folder.appending(path: name).path).read { database in
      try Row.fetchAll(database, sql: sql).map { row in
        row.map { "\($1)".trimmingCharacters(in: ["\""]) }.joined(separator: "|")
      }
    }
  }

  /// All comments, as the database should have them.
  static var allComments: [String] {
    (0..<organisations).flatMap { organisation in
      (0..<repositories).flatMap { repository in
        (0..<issues).flatMap { issue in
          (0..<comments).map { comment in
            "o\(organisation)-r\(repository)-\(issue)-\(comment)|o\(organisation)/r\(repository)"
              + "|o\(organisation)-r\(repository)-\(issue)"
          }
        }
      }
    }
  }
}
