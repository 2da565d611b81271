import Foundation
import GRDB
import QuireCore
import QuireExport

/// The row of a table in `_quire`: its checkpoint, its settings, and what its columns mean.
struct SQLiteLedger {
  /// What is stored.
  struct Record {
    var checkpoint: Checkpoint
    var settings: TableShape.Settings
    var columns: [TableColumns.Column]
    /// The columns of the table that is to take its place; nil where there is none.
    var staged: [TableColumns.Column]?
  }

  /// Columns that a commit may have changed.
  enum Change {
    case live([TableColumns.Column])
    case staged([TableColumns.Column])
  }

  let table: String

  /// The table in which a run is staged that is to take the other's place.
  var stagedName: String { "_quire_staged_\(table)" }

  func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS _quire ("table" TEXT PRIMARY KEY COLLATE NOCASE, checkpoint TEXT \
        NOT NULL, settings TEXT NOT NULL, columns TEXT NOT NULL, staged TEXT)
        """)
  }

  func read(_ database: Database) throws -> Record? {
    guard try database.tableExists("_quire"),
      let row = try Row.fetchOne(
        database,
        sql: "SELECT checkpoint, settings, columns, staged FROM _quire WHERE \"table\" = ?",
        arguments: [table])
    else { return nil }
    let checkpoint = try Checkpoint(bytes: (row[0] as String? ?? "").utf8)
    do {
      let staged = row[3] as String?
      return Record(
        checkpoint: checkpoint, settings: try Self.decoded(row[1]),
        columns: try Self.decoded(row[2]), staged: try staged.map(Self.decoded))
    } catch {
      throw SinkError(
        .damaged,
        "The row of \(table) in the table _quire is damaged. Begin anew, or restore the database from "
          + "a copy.")
    }
  }

  func write(
    _ checkpoint: Checkpoint, _ sink: SQLiteSink, _ change: Change, _ database: Database
  ) throws {
    let line = String(decoding: checkpoint.bytes, as: UTF8.self)
    switch change {
    case .live(let columns):
      try database.execute(
        sql: """
          INSERT INTO _quire ("table", checkpoint, settings, columns, staged) VALUES (?, ?, ?, ?, NULL) \
          ON CONFLICT DO UPDATE SET checkpoint = excluded.checkpoint, settings = excluded.settings, \
          columns = excluded.columns, staged = NULL
          """,
        arguments: [table, line, try Self.encoded(sink.shape.settings), try Self.encoded(columns)])
    case .staged(let columns):
      try database.execute(
        sql: "UPDATE _quire SET checkpoint = ?, staged = ? WHERE \"table\" = ?",
        arguments: [line, try Self.encoded(columns), table])
    }
  }

  func remove(_ database: Database) throws {
    try database.execute(sql: "DELETE FROM _quire WHERE \"table\" = ?", arguments: [table])
  }

  /// Throws where the table was made with other settings.
  func check(_ record: Record, _ sink: SQLiteSink) throws(SinkError) {
    let difference =
      record.settings.key != sink.shape.settings.key
      ? "the key \(Self.list(record.settings.key)), and this export has \(Self.list(sink.shape.settings.key))"
      : record.settings != sink.shape.settings ? "other columns than this export asks for" : nil
    guard let difference else { return }
    throw SinkError(
      .otherRequest,
      "The table \(table) of \(sink.path) was written with \(difference). Write to another table, or "
        + "begin anew. Nothing was requested.")
  }

  static func notOurs(_ sink: SQLiteSink) -> SinkError {
    SinkError(
      .notOurs,
      "\(sink.path) has a table \(sink.table) that no export wrote. Write to another table; to begin "
        + "anew takes this one away. Nothing was requested.")
  }

  static func missing(_ sink: SQLiteSink) -> SinkError {
    SinkError(
      .damaged,
      "\(sink.path) has a checkpoint of the table \(sink.table), but the table is gone. Begin anew, or "
        + "restore the database from a copy. Nothing was requested.")
  }

  private static func list(_ paths: [String]) -> String {
    paths.isEmpty ? "none" : paths.joined(separator: ", ")
  }

  private static func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  private static func decoded<Value: Decodable>(_ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }
}
