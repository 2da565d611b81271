import ArgumentParser
import Foundation
import GRDB
import Quire
import QuireExport

/// Exports every style of the demo API by the code of `quire export`, compares the items with the
/// records, and prints a table. Then fills a database and queries it.
enum DemoTour {
  /// One row of the table.
  private struct Line {
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

    var rows: [Line] = []
    var isRight = true
    for style in DemoStyle.all {
      let file = folder.appendingPathComponent(style.name + ".jsonl").path
      let outcome = try await export(style.command(origin: origin), to: ["-o", file])
      let matches = try wasDelivered(style, in: file)
      isRight = isRight && matches
      rows.append(
        Line(
          style: style.name, pages: outcome.written.pages, items: outcome.written.items,
          seconds: outcome.elapsed / .seconds(1),
          end: outcome.endName(signal: nil) + (matches ? "" : ", WRONG RECORDS")))
    }
    print("\n" + table(rows) + "\n")
    if !isRight { throw ExitStatus.failed }
    let database = folder.appendingPathComponent("demo.db").path
    try await fill(database, origin: origin)
    print(try answer(of: database))
  }

  private static func export(
    _ arguments: [String], to destination: [String], shown: [String] = []
  ) async throws -> ExportOutcome {
    Diagnostics.write("$ quire \(CommandLineText.quoted(arguments + shown))")
    guard let command = try QuireCommand.parseAsRoot(arguments + destination) as? ExportCommand
    else { throw ExitStatus.usage }
    let outcome = try await ExportPlan(command).run()
    try Task.checkCancellation()
    Diagnostics.write(outcome.line(signal: nil))
    return outcome
  }

  // MARK: A database

  private static let query =
    "SELECT colour, count(*) AS records, round(avg(price), 2) AS price FROM records GROUP BY 1"

  /// Exports a style into a table: stopped in the middle, then continued.
  private static func fill(_ database: String, origin: String) async throws {
    guard let style = DemoStyle.all.first(where: { $0.name == "link-header" }) else { return }
    let options = ["--table", "records", "--key", "/id"]
    for limit in [["--max-pages", "40"], []] {
      _ = try await export(
        style.command(origin: origin) + limit, to: ["-o", database] + options,
        shown: ["-o", "demo.db"] + options)
    }
  }

  /// Returns the database's answer as the shell `sqlite3` would print it.
  private static func answer(of database: String) throws -> String {
    let rows = try DatabaseQueue(path: database).read { database in
      try Row.fetchAll(database, sql: query).map { row in
        Array(row.databaseValues.map { $0.isNull ? "" : "\($0.storage.value ?? "")" })
      }
    }
    return "$ sqlite3 -column demo.db \"\(query)\"\n"
      + TextTable.text([["colour", "records", "price"]] + rows, numbers: 1..<3)
  }

  /// Whether the file holds every record once, in order, byte for byte.
  private static func wasDelivered(_ style: DemoStyle, in file: String) throws -> Bool {
    let expected = (1...DemoRecords.count).map { style.line($0) + "\n" }.joined()
    return try Data(contentsOf: URL(fileURLWithPath: file)) == Data(expected.utf8)
  }

  private static func table(_ rows: [Line]) -> String {
    let cells = rows.map {
      [$0.style, "\($0.pages)", "\($0.items)", "\(ExportOutcome.rounded($0.seconds)) s", $0.end]
    }
    return TextTable.text([["style", "pages", "items", "time", "end"]] + cells, numbers: 1..<4)
  }
}
