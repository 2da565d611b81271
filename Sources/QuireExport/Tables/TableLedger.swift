import Foundation

/// What the rows of `_quire` have in common, in any database.
extension TableShape.Settings {
  /// Throws where the table at `place` was made with these settings and an export asks for others.
  package func check(_ asked: TableShape.Settings, of place: String) throws(SinkError) {
    guard self != asked else { return }
    let difference =
      key != asked.key
      ? "the key \(Self.list(key)), and this export has \(Self.list(asked.key))"
      : "other columns than this export asks for"
    throw SinkError(
      .otherRequest,
      "\(place) was written with \(difference). Write to another table, or begin anew. Nothing was "
        + "requested.")
  }

  private static func list(_ paths: [String]) -> String {
    paths.isEmpty ? "none" : paths.joined(separator: ", ")
  }
}

extension SinkError {
  /// A table that no export wrote.
  package static func notOurs(_ table: String, of database: String) -> SinkError {
    SinkError(
      .notOurs,
      "\(database) has a table \(table) that no export wrote. Write to another table; to begin anew takes "
        + "this one away. Nothing was requested.")
  }

  /// A table that is gone, and has a checkpoint.
  package static func missing(_ table: String, of database: String) -> SinkError {
    SinkError(
      .damaged,
      "\(database) has a checkpoint of the table \(table), but the table is gone. Begin anew, or restore "
        + "the database from a copy. Nothing was requested.")
  }

}

/// The row of a table in `_quire`: its checkpoint, its settings, and what its columns mean.
package struct LedgerRow {
  package let checkpoint: Checkpoint
  package let settings: TableShape.Settings
  package let columns: [TableColumns.Column]
  /// The columns of the table that is to take its place; nil where there is none.
  package let staged: [TableColumns.Column]?

  /// Reads the cells; throws `SinkError` for what is damaged.
  package init(
    of table: String, _ checkpoint: String?, _ settings: String?, _ columns: String?,
    _ staged: String?
  ) throws {
    self.checkpoint = try Checkpoint(bytes: (checkpoint ?? "").utf8)
    do {
      self.settings = try LedgerText.decoded(settings ?? "")
      self.columns = try LedgerText.decoded(columns ?? "")
      self.staged = try staged.map { try LedgerText.decoded($0) }
    } catch {
      throw SinkError(
        .damaged,
        "The row of \(table) in the table _quire is damaged. Begin anew, or restore the database from a "
          + "copy.")
    }
  }
}

/// What rows of `_quire` hold besides checkpoints: JSON.
package enum LedgerText {
  /// The same text for the same value.
  package static func encoded(_ value: some Encodable) throws -> String {
    String(decoding: try JSONEncoder.ordered.encode(value), as: UTF8.self)
  }

  /// Reads what `encoded` wrote.
  fileprivate static func decoded<Value: Decodable>(_ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }
}
