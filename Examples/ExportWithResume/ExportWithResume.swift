import Foundation
import Quire

/// Exports a listing to a file and survives being stopped: run it again, and it goes on with the
/// next page.
@main
struct ExportWithResume {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: ExportWithResume URL FILE") }
    let file = URL(fileURLWithPath: CommandLine.arguments[2])
    let bookmark = file.appendingPathExtension("position")

    let client = PageClient()
    let cursor = client.cursor(
      at: CommandLine.arguments[1], pagination: .linkHeader, decoder: JSONRawPageDecoder())

    // Look-ahead: the next page loads while this one is written.
    for try await page in Paginator(cursor.resuming(from: try load(bookmark))) {
      let lines = page.items.map { $0.description + "\n" }.joined()
      try append(lines, to: file)
      // After the lines, so that a crash in between repeats a page rather than losing it.
      try save(page.next, to: bookmark)
    }
    print("complete")
  }

  static func load(_ bookmark: URL) throws -> Position {
    guard let data = try? Data(contentsOf: bookmark) else { return .start }
    return try JSONDecoder().decode(Position.self, from: data)
  }

  static func save(_ position: Position?, to bookmark: URL) throws {
    guard let position else { return try FileManager.default.removeItem(at: bookmark) }
    try JSONEncoder().encode(position).write(to: bookmark, options: .atomic)
  }

  static func append(_ text: String, to file: URL) throws {
    if !FileManager.default.fileExists(atPath: file.path) {
      try Data().write(to: file)
    }
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    try handle.seekToEnd()
    try handle.write(contentsOf: Data(text.utf8))
  }
}
