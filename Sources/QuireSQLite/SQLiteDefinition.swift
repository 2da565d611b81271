import GRDB
import QuireExport

/// Changes the declared types of a table's columns in place, which SQLite has no statement for.
///
/// Source: "Making Other Kinds Of Table Schema Changes" in SQLite's description of `ALTER TABLE`.
struct SQLiteDefinition {
  let table: String

  /// Widens columns, and makes texts of what those hold that become `TEXT`.
  func widen(
    _ changes: [(old: TableColumns.Column, new: TableColumns.Column)], _ database: Database
  ) throws {
    let converted = changes.filter { $0.new.type.declaration == "TEXT" && $0.old.type != .none }
    let indexes = converted.isEmpty ? [] : try setIndexesAside(database)
    try declare(changes.map { ($0.new.name, $0.old.type, $0.new.type) }, database)
    for (old, new) in converted {
      let name = new.name.quotedName
      // A type that is joined with another only later was text by then.
      let text =
        old.type == .boolean
        ? "CASE \(name) WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE \(name) END"
        : "_quire_text(\(name))"
      try database.execute(
        sql: "UPDATE \(table.quotedName) SET \(name) = \(text) WHERE \(name) IS NOT NULL")
    }
    for index in indexes { try database.execute(sql: index) }
  }

  /// Takes the indexes away, whose order the conversion would change under them; returns what makes them
  /// anew.
  private func setIndexesAside(_ database: Database) throws -> [String] {
    let rows = try Row.fetchAll(
      database,
      sql: """
        SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = ? COLLATE NOCASE \
        AND sql IS NOT NULL
        """, arguments: [table])
    for row in rows {
      try database.execute(sql: "DROP INDEX \((row[0] as String).quotedName)")
    }
    return rows.map { $0[1] }
  }

  private func declare(
    _ changes: [(name: String, old: ColumnType, new: ColumnType)], _ database: Database
  ) throws {
    guard
      var sql = try String.fetchOne(
        database,
        sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
        arguments: [table])
    else { return }
    for change in changes {
      sql = try Self.declaring(
        change.name, change.old.declaration, as: change.new.declaration, in: sql)
    }
    let version = try Int.fetchOne(database, sql: "PRAGMA schema_version") ?? 0
    try database.execute(sql: "PRAGMA writable_schema = ON")
    defer { try? database.execute(sql: "PRAGMA writable_schema = RESET") }
    try database.execute(
      sql: "UPDATE sqlite_master SET sql = ? WHERE type = 'table' AND name = ? COLLATE NOCASE",
      arguments: [sql, table])
    try database.execute(sql: "PRAGMA schema_version = \(version + 1)")
  }

  /// The definition of a table with another type of one column.
  ///
  /// Throws `SinkError` where the column is not declared as it should be: others have changed it.
  static func declaring(
    _ column: String, _ old: String, as new: String, in sql: String
  ) throws(SinkError) -> String {
    let bytes = Array(sql.utf8)
    // The table's name can hold a bracket, in its quotes.
    var index = skipped(bytes, upTo: UInt8(ascii: "("), from: 0)
    while index < bytes.count {
      let start = index + 1
      let end = skipped(bytes, upTo: UInt8(ascii: ","), from: start)
      let definition = String(decoding: bytes[start..<end], as: UTF8.self)
      let words = definition.drop { $0.isWhitespace }
      let name = column.quotedName
      if words.lowercased().hasPrefix(name.lowercased() + " ")
        || words.lowercased().hasPrefix(name.lowercased() + ")")
        || words.lowercased() == name.lowercased()
      {
        let rest = words.dropFirst(name.count)
        let type = rest.drop { $0.isWhitespace }
        guard type.lowercased().hasPrefix(old.lowercased()) else { break }
        let kept = type.dropFirst(old.count)
        let written =
          "\(name) \(new)\(old.isEmpty && !kept.isEmpty && kept.first != ")" ? " " : "")"
        return String(decoding: bytes[..<start], as: UTF8.self)
          + definition.prefix(definition.count - words.count) + written + kept
          + String(decoding: bytes[end...], as: UTF8.self)
      }
      index = end
    }
    throw SinkError(
      .unsupported,
      "The column \(column) of the table is not declared as \(old.isEmpty ? "it was" : old) any more, "
        + "and has to hold what is wider: others have changed the table. Declare it as \(old), or begin "
        + "anew.")
  }

  /// Where a byte comes next that is in no quotes and, behind the first bracket, in no brackets.
  private static func skipped(_ bytes: [UInt8], upTo byte: UInt8, from start: Int) -> Int {
    var index = start
    var depth = 0
    while index < bytes.count {
      let current = bytes[index]
      if current == byte, depth == 0 { return index }
      switch current {
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"):
        index += 1
        while index < bytes.count, bytes[index] != current { index += 1 }
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      default: break
      }
      index += 1
    }
    return bytes.count
  }
}
