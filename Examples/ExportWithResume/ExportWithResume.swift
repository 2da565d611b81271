import QuireJSON
import Foundation
import Quire

/// Exports a listing to a file, and can be stopped at any moment: the next run continues with the
/// next page, without losing or repeating an item.
///
/// `ExportWithResume URL FILE` writes one item as JSON on each line of `FILE`, and its progress to
/// `FILE.position`.
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
    // If an earlier run was stopped after writing a page's lines, but before saving the bookmark,
    // the page is read again: remove its lines.
    try output.truncate(atOffset: bookmark.length)

    if let start = bookmark.next {
      let cursor = PageClient().cursor(
        at: CommandLine.arguments[1], pagination: .linkHeader, decoder: JSONRawPageDecoder())
      // A paginator looks ahead: the next page loads while this one is written.
      let pages = Paginator(cursor.resuming(from: start))
      for try await page in pages {
        try output.write(contentsOf: Data(page.items.map { $0.description + "\n" }.joined().utf8))
        // Write the lines to disk before the bookmark counts them.
        try output.synchronize()
        bookmark = Bookmark(next: page.checkpoint, length: try output.offset())
        try save(bookmark, to: bookmarkFile)
      }
      // Sometimes only an empty answer after the last page shows that it was the last. The report
      // includes that, and the page's checkpoint does not.
      bookmark.next = pages.report.checkpoint
      try save(bookmark, to: bookmarkFile)
    }
    print(bookmark.next == nil ? "complete" : "stopped early")
  }

  /// The progress of the export. It is saved after the lines that it counts.
  struct Bookmark: Codable {
    /// The position to continue from; nil when the listing has been read to its end.
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
