import QuireJSON
import Foundation
import Quire

/// Exports a listing to a file and can be stopped at any moment: run it again, and it continues
/// with the next page, without losing or repeating an item.
@main
struct ExportWithResume {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: ExportWithResume URL FILE") }
    let file = URL(fileURLWithPath: CommandLine.arguments[2])
    let bookmarkFile = file.appendingPathExtension("position")
    let output = try open(file)
    defer { try? output.close() }

    let length = try output.seekToEnd()
    var bookmark = try load(bookmarkFile) ?? Bookmark(next: .start, length: length)
    guard bookmark.length <= length else { fatalError("\(file.path) lost what it held") }
    try save(bookmark, to: bookmarkFile)
    // A run that was stopped between writing a page's lines and its bookmark left lines that will
    // come again.
    try output.truncate(atOffset: bookmark.length)

    if let start = bookmark.next {
      let cursor = PageClient().cursor(
        at: CommandLine.arguments[1], pagination: .linkHeader, decoder: JSONRawPageDecoder())
      // Look-ahead: the next page loads while this one is written.
      let pages = Paginator(cursor.resuming(from: start))
      for try await page in pages {
        try output.write(contentsOf: Data(page.items.map { $0.description + "\n" }.joined().utf8))
        // The lines are on disk before the bookmark counts them.
        try output.synchronize()
        bookmark = Bookmark(next: page.checkpoint, length: try output.offset())
        try save(bookmark, to: bookmarkFile)
      }
      // The end may be an answer after the last page, so the last page may not have been known as
      // the last.
      bookmark.next = pages.report.checkpoint
      try save(bookmark, to: bookmarkFile)
    }
    print(bookmark.next == nil ? "complete" : "stopped early")
  }

  /// The progress of the export: stored beside the file, and written after the lines that it
  /// counts.
  struct Bookmark: Codable {
    /// Where to continue; nil when nothing is left.
    var next: Position?
    /// The length of the file in bytes, up to the last whole page.
    var length: UInt64
  }

  static func load(_ file: URL) throws -> Bookmark? {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return try JSONDecoder().decode(Bookmark.self, from: Data(contentsOf: file))
  }

  static func save(_ bookmark: Bookmark, to file: URL) throws {
    try JSONEncoder().encode(bookmark).write(to: file, options: .atomic)
  }

  /// Opens the file for writing, and creates it if it does not exist.
  static func open(_ file: URL) throws -> FileHandle {
    if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
    return try FileHandle(forWritingTo: file)
  }
}
