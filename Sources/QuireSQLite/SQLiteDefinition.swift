import GRDB
import QuireExport

/// The definition of a table, for reading those of its columns and changing their types, for which
/// SQLite has no statement.
///
/// Source: "Making Other Kinds Of Table Schema Changes" in SQLite's description of `ALTER TABLE`.
struct SQLiteDefinition {
  let table: String

  /// Returns the definitions of the columns as written, in order, followed by those of the table's
  /// constraints.
  func columns(_ database: Database) throws -> [String] {
    let sql = Array((try text(database) ?? "").utf8)
    return Self.definitions(in: sql).map { String(decoding: sql[$0], as: UTF8.self) }
  }

  private func text(_ database: Database) throws -> String? {
    try String.fetchOne(
      database,
      sql: "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = ? COLLATE NOCASE",
      arguments: [table])
  }

  /// Widens the types of columns, and converts the values in those that become `TEXT`.
  func widen(
    _ changes: [(old: TableColumns.Column, new: TableColumns.Column)], _ database: Database
  ) throws {
    let converted = changes.filter { $0.new.type.declaration == "TEXT" && $0.old.type != .none }
    let indexes = converted.isEmpty ? [] : try setIndexesAside(database)
    try declare(changes.map { ($0.new.name, $0.old.type, $0.new.type) }, database)
    for (old, new) in converted {
      let name = new.name.quotedName
      // All values have the old type: a column becomes text with the first value of another type,
      // unless both are numbers.
      let text =
        old.type == .boolean
        ? "CASE \(name) WHEN 0 THEN 'false' WHEN 1 THEN 'true' ELSE \(name) END"
        : "_quire_text(\(name))"
      try database.execute(
        sql: "UPDATE \(table.quotedName) SET \(name) = \(text) WHERE \(name) IS NOT NULL")
    }
    for index in indexes { try database.execute(sql: index) }
  }

  /// Drops the indexes, which would be in the wrong order after the conversion, and returns the
  /// statements that create them.
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
    guard var sql = try text(database) else { return }
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

  /// Returns the definition of a table with another type for one column.
  ///
  /// Throws `SinkError` if the column is not declared as `old`, because others have changed it.
  static func declaring(
    _ column: String, _ old: String, as new: String, in sql: String
  ) throws(SinkError) -> String {
    let bytes = Array(sql.utf8)
    let dialect = TableDialect.sqlite
    let (name, type) = (dialect.folded(column.quotedName.utf8), dialect.folded(old.utf8))
    for place in definitions(in: bytes) {
      let words = bytes[place].drop { $0 <= 0x20 }
      let behind = words.dropFirst(name.count)
      guard dialect.folded(words.prefix(name.count)) == name, behind.first ?? 0x20 <= 0x20 else {
        continue
      }
      let rest = behind.drop { $0 <= 0x20 }
      guard dialect.folded(rest.prefix(type.count)) == type else { break }
      let kept = rest.dropFirst(type.count)
      return String(decoding: bytes[..<words.startIndex], as: UTF8.self)
        + "\(column.quotedName) \(new)\(type.isEmpty && !kept.isEmpty ? " " : "")"
        + String(decoding: bytes[kept.startIndex...], as: UTF8.self)
    }
    throw SinkError(
      .unsupported,
      "The column \(column) of the table is not declared as \(old.isEmpty ? "it was" : old) any more, "
        + "and has to hold what is wider: others have changed the table. Declare it as \(old), or begin "
        + "anew.")
  }

  /// Returns the ranges of the definitions of a table's columns, in order, followed by those of its
  /// constraints.
  private static func definitions(in sql: [UInt8]) -> [Range<Int>] {
    // The table's name may have a bracket, in its quotes.
    var index = skipped(sql, upTo: UInt8(ascii: "("), from: 0)
    var places: [Range<Int>] = []
    while index < sql.count, places.isEmpty || sql[index] == UInt8(ascii: ",") {
      let start = index + 1
      index = skipped(sql, upTo: UInt8(ascii: ","), from: start)
      places.append(start..<index)
    }
    return places
  }

  /// Returns the index of the next `byte` outside quotes, brackets and comments, or of the bracket
  /// that closes those around `start`, if it comes first.
  private static func skipped(_ bytes: [UInt8], upTo byte: UInt8, from start: Int) -> Int {
    var index = start
    var depth = 0
    while index < bytes.count {
      let current = bytes[index]
      if current == byte, depth == 0 { return index }
      switch current {
      case UInt8(ascii: "\""), UInt8(ascii: "'"), UInt8(ascii: "`"), UInt8(ascii: "["):
        let end = current == UInt8(ascii: "[") ? UInt8(ascii: "]") : current
        index += 1
        while index < bytes.count, bytes[index] != end { index += 1 }
      case UInt8(ascii: "-") where bytes[index...].starts(with: "--".utf8):
        while index < bytes.count, bytes[index] != UInt8(ascii: "\n") { index += 1 }
      case UInt8(ascii: "/") where bytes[index...].starts(with: "/*".utf8):
        index += 2
        while index < bytes.count, !bytes[index...].starts(with: "*/".utf8) { index += 1 }
        index += 1
      case UInt8(ascii: ")") where depth == 0: return index
      case UInt8(ascii: "("): depth += 1
      case UInt8(ascii: ")"): depth -= 1
      default: break
      }
      index += 1
    }
    return bytes.count
  }
}
