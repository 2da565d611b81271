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

  /// A row of `_quire` that cannot be read.
  package static func damagedRow(_ table: String) -> SinkError {
    SinkError(
      .damaged,
      "The row of \(table) in the table _quire is damaged. Begin anew, or restore the database from a "
        + "copy.")
  }
}

/// What rows of `_quire` hold besides checkpoints: JSON.
package enum LedgerText {
  /// The same text for the same value.
  package static func encoded(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  /// Reads what `encoded` wrote.
  package static func decoded<Value: Decodable>(_ text: String) throws -> Value {
    try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }
}
