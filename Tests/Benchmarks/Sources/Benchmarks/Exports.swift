import Foundation
import Quire
import QuireExport

/// Exports into JSON Lines from pages of a megabyte, as they come from a server, and what of that the checkpoint
/// costs: the same walk into a file whose end alone is confirmed on disk.
enum Exports {
  static func measure(_ server: Server) async throws -> [Figure] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let client = PageClient()
    let pages = 300
    let rounds = try await Measurement.rounds(
      of: {
        try await plain(server, client, pages, to: folder.appending(path: "plain.jsonl").path)
      },
      { try await export(server, client, pages, to: folder.appending(path: "whole.jsonl").path) },
      count: 15)
    let bytes = try folder.appending(path: "whole.jsonl")
      .resourceValues(forKeys: [.fileSizeKey])
    return [
      Figure(
        "what the checkpoint costs, JSON Lines", (rounds.ratio(1, to: 0) - 1) * 100, "%", .atMost(3)
      ),
      Figure(
        "  JSON Lines from 1 MB pages", Double(bytes.fileSize ?? 0) / 1e6 / rounds.fastest(1),
        "MB/s"),
    ]
  }

  private static func cursor(_ server: Server, _ client: PageClient, _ pages: Int) -> Cursor<
    RawItem
  > {
    var cursor = client.cursor(
      of: RawItem.self, at: server.largePagePrefix + "1", pagination: .linkHeader)
    cursor.limits.pages = pages
    return cursor
  }

  @concurrent private static func plain(
    _ server: Server, _ client: PageClient, _ pages: Int, to path: String
  ) async throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    var lines: [UInt8] = []
    func flush() {
      let count = lines.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      precondition(count == lines.count)
      lines.removeAll(keepingCapacity: true)
    }
    for try await page in Paginator(cursor(server, client, pages)) {
      for item in page.items {
        item.appendCompact(to: &lines)
        lines.append(0x0A)
      }
      if lines.count >= 1 << 20 { flush() }
    }
    flush()
    precondition(fsync(descriptor) == 0)
  }

  @concurrent private static func export(
    _ server: Server, _ client: PageClient, _ pages: Int, to path: String
  ) async throws {
    for end in ["", ".checkpoint"] { try? FileManager.default.removeItem(atPath: path + end) }
    let report = try await Export(cursor(server, client, pages), to: FileSink(path)).run()
    precondition(report.pages == pages)
  }
}
