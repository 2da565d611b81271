import ArgumentParser
import Foundation
import Quire

/// Exports every style of the demo API through the same code as `quire export`, compares what came
/// with what was served, and prints a table.
enum DemoTour {
  /// One row of the table.
  private struct Row {
    var style: String
    var pages: Int
    var items: Int
    var seconds: Double
    var end: String
  }

  static func run(origin: String) async throws {
    let folder = FileManager.default.temporaryDirectory
      .appendingPathComponent("quire-demo-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }

    var rows: [Row] = []
    var isRight = true
    for style in DemoStyle.all {
      let file = folder.appendingPathComponent(style.name + ".jsonl").path
      let arguments = style.command(origin: origin)
      Diagnostics.write("$ quire \(CommandLineText.quoted(arguments))")
      guard let command = try QuireCommand.parseAsRoot(arguments + ["-o", file]) as? ExportCommand
      else { throw ExitStatus.usage }
      let outcome = try await ExportPlan(command).run()
      try Task.checkCancellation()
      Diagnostics.write(outcome.line(signal: nil))
      let matches = try wasDelivered(style, in: file)
      isRight = isRight && matches
      rows.append(
        Row(
          style: style.name, pages: outcome.pages, items: outcome.items,
          seconds: outcome.elapsed / .seconds(1),
          end: outcome.endName(signal: nil) + (matches ? "" : ", WRONG RECORDS")))
    }
    print("\n" + table(rows))
    if !isRight { throw ExitStatus.failed }
  }

  /// Whether the file holds every record once, in order, byte for byte.
  private static func wasDelivered(_ style: DemoStyle, in file: String) throws -> Bool {
    let expected = (1...DemoRecords.count).map { style.line($0) + "\n" }.joined()
    return try Data(contentsOf: URL(fileURLWithPath: file)) == Data(expected.utf8)
  }

  private static func table(_ rows: [Row]) -> String {
    let cells =
      [["style", "pages", "items", "time", "end"]]
      + rows.map {
        [
          $0.style, "\($0.pages)", "\($0.items)", ExportOutcome.rounded($0.seconds) + " s", $0.end,
        ]
      }
    let widths = (0..<5).map { column in cells.map { $0[column].count }.max() ?? 0 }
    return cells.map { row in
      row.enumerated().map { column, cell in
        let gap = String(repeating: " ", count: widths[column] - cell.count)
        return (1...3).contains(column) ? gap + cell : cell + gap
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}
