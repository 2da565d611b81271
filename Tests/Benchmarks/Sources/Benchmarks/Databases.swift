import Foundation
import Quire
import QuireExport
import QuireJSON
import QuirePagination
import QuireSQLite

/// A million items of 1 KB into SQLite, with a column for each member and a checkpoint for each 50,000,
/// against the `sqlite3` shell's `.import` of the same lines into one column of text.
enum Databases {
  static func measure() async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let lines = folder.appending(path: "lines.jsonl")
    let count = 1_000_000
    try write(count, to: lines)
    let bytes = try lines.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0
    let rounds = try await Measurement.rounds(
      of: { try importLines(lines, to: folder.appending(path: "shell.db")) },
      { try await export(lines, to: folder.appending(path: "quire.db").path) },
      count: 3)
    return [
      Figure(
        "SQLiteSink's speed by that of `.import`, 10⁶ × 1 KB", rounds.ratio(0, to: 1), "×",
        .atLeast(0.8)),
      Figure("  `.import`", rounds.seconds(0), "s"),
      Figure("  SQLiteSink", rounds.seconds(1), "s"),
      Figure("  bytes of an item", Double(bytes) / Double(count), "B"),
    ]
  }

  private static func write(_ count: Int, to file: URL) throws {
    _ = FileManager.default.createFile(atPath: file.path, contents: nil)
    let handle = try FileHandle(forWritingTo: file)
    let body = String(repeating: "The quick brown fox jumps over the lazy dog. ", count: 14)
    for start in stride(from: 0, to: count, by: 1_000) {
      var text = ""
      for id in start..<start + 1_000 {
        text += """
          {"id":\(1_000_000_000 + id),"number":\(id),"title":"Item \(id) fails","state":"open",\
          "url":"https://api.example.com/repos/example/project/issues/\(id)","score":\(id % 100).25,\
          "locked":false,"comments":\(id % 17),"user":{"login":"user-\(id % 1_000)","id":\(id * 7)},\
          "labels":[{"id":\(id % 9),"name":"bug"}],"milestone":null,\
          "created_at":"2026-01-01T00:00:00Z","updated_at":"2026-02-01T00:00:00Z","body":"\(body)"}\n
          """
      }
      try handle.write(contentsOf: Data(text.utf8))
    }
    try handle.close()
  }

  private static func importLines(_ lines: URL, to file: URL) throws {
    try? FileManager.default.removeItem(at: file)
    let shell = Process()
    shell.executableURL = URL(filePath: "/usr/bin/sqlite3")
    shell.arguments = [
      file.path, "CREATE TABLE lines (line TEXT)", ".mode ascii", ".separator \"\\037\" \"\\n\"",
      ".import \(lines.path) lines",
    ]
    try shell.run()
    shell.waitUntilExit()
    guard shell.terminationStatus == 0 else { fatalError("sqlite3 failed") }
  }

  /// Pages of a thousand lines, decoded as pages of an API are.
  private static func export(_ lines: URL, to path: String) async throws {
    for end in ["", "-journal"] { try? FileManager.default.removeItem(atPath: path + end) }
    let source = FileSource(try FileHandle(forReadingFrom: lines))
    var export = Export(Cursor(source), to: SQLiteSink(path, table: "issues"))
    // A commit has sixteen of these pages: as many are decoded while it is written.
    export.lookAhead = 16
    let report = try await export.run()
    guard report.items == 1_000_000 else { fatalError("\(report)") }
  }

  private struct FileSource: PageSource {
    let handle: FileHandle

    init(_ handle: FileHandle) { self.handle = handle }

    func page(at position: Position?) async throws -> Page<RawItem>? {
      let offset = position?.value?.integer ?? 0
      try handle.seek(toOffset: UInt64(offset))
      guard var bytes = try handle.read(upToCount: 1 << 20).map(Array.init),
        let last = bytes.lastIndex(of: UInt8(ascii: "\n"))
      else { return nil }
      bytes.removeSubrange(last...)
      for index in bytes.indices where bytes[index] == UInt8(ascii: "\n") {
        bytes[index] = UInt8(ascii: ",")
      }
      var decoding = JSONRawPageDecoder().begin(DecodingContext())
      try decoding.receive([UInt8(ascii: "[")] + bytes + [UInt8(ascii: "]")])
      _ = try decoding.finish()
      return Page(
        try decoding.items().items, next: Position(integerLiteral: offset + last + 1))
    }
  }
}
