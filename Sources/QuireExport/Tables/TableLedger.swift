extension TableShape.Settings {
  /// Throws if the table at `place` was made with these settings and an export has other ones.
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
  /// Returns the error for a table that no export wrote.
  package static func notOurs(_ table: String, of database: String) -> SinkError {
    SinkError(
      .notOurs,
      "\(database) has a table \(table) that no export wrote. Write to another table; to begin anew takes "
        + "this one away. Nothing was requested.")
  }

  /// Returns the error for a table that has a checkpoint but does not exist.
  package static func missing(_ table: String, of database: String) -> SinkError {
    SinkError(
      .damaged,
      "\(database) has a checkpoint of the table \(table), but the table is gone. Begin anew, or restore "
        + "the database from a copy. Nothing was requested.")
  }

  /// Returns the error for a table that others have changed so that no export can write to it.
  /// `reason` is what the database says, as a sentence.
  package static func altered(
    _ table: String, of database: String, _ reason: String
  ) -> SinkError {
    SinkError(
      .damaged,
      "\(database) has a table \(table) that is not as an export left it. \(reason) Change it back, or "
        + "begin anew. Nothing was requested.")
  }
}

/// A row of `_quire`, the table that has a row for each table of a database that exports write: its
/// checkpoint, settings and columns.
package struct LedgerRow {
  package let checkpoint: Checkpoint
  package let settings: TableShape.Settings
  package let columns: [TableColumns.Column]
  /// The columns of the staged table, which replaces the table when its run is complete; nil if
  /// there is none.
  package let staged: [TableColumns.Column]?

  /// Decodes the cells of a row. Throws `SinkError` with the code `.damaged` or `.unsupported` if
  /// one cannot be read.
  package init(
    of table: String, _ checkpoint: String?, _ settings: String?, _ columns: String?,
    _ staged: String?
  ) throws {
    self.checkpoint = try Checkpoint(bytes: (checkpoint ?? "").utf8)
    do {
      self.settings = try TableShape.Settings(storedJSON: settings ?? "")
      self.columns = try [TableColumns.Column](storedJSON: columns ?? "")
      self.staged = try staged.map { try [TableColumns.Column](storedJSON: $0) }
    } catch {
      throw SinkError(
        .damaged,
        "The row of \(table) in the table _quire is damaged. Begin anew, or restore the database from a "
          + "copy.")
    }
  }
}
