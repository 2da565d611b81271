import QuirePagination
import CPostgreSQL
import Foundation
import QuireCore
import QuireExport
import QuireJSON
import QuirePostgres
import TestSupport
import Testing

/// A schema of its own in the server that the tests share.
struct Schema {
  /// Why tests of a database are skipped.
  static let missing: Comment = "no PostgreSQL server is installed (Debian package postgresql)"
  static let isMissing = PostgresServer.programs == nil

  let url: String

  init(url: String) { self.url = url }

  init() throws {
    let name = "s\(UUID())".replacing("-", with: "").lowercased()
    url = try PostgresServer.shared.get().url(schema: name)
  }

  func sink(
    _ table: String = "t", key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil,
    item: String? = nil
  ) -> PostgresSink {
    PostgresSink(url, table: table, key: key, mode: mode, columns: columns, item: item)
  }

  /// Commits pages of lines in one session each; the last one completes the run.
  func write(
    _ sink: PostgresSink, _ pages: [String]..., restarts: Bool = false, completes: Bool = true
  ) async throws {
    try await sink.write(pages, restarts: restarts, completes: completes)
  }

  /// Runs `body` while another connection keeps a table locked.
  func locking(_ table: String, _ body: () async throws -> Void) async throws {
    let connection = PQconnectdb(url)
    defer { PQfinish(connection) }
    PQclear(PQexec(connection, "BEGIN; LOCK TABLE \(table)"))
    try await body()
  }

  /// The rows of a query, each as `a|b`.
  @discardableResult
  func rows(_ sql: String) throws -> [String] {
    let connection = PQconnectdb(url)
    defer { PQfinish(connection) }
    PQsetNoticeProcessor(connection, { _, _ in }, nil)
    let result = PQexec(connection, sql)
    defer { PQclear(result) }
    guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
      throw Refused(message: String(cString: PQerrorMessage(connection)))
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) == 1
          ? "null" : String(cString: PQgetvalue(result, row, column))
      }.joined(separator: "|")
    }
  }

  /// `name type` of each column.
  func columns(_ table: String = "t") throws -> [String] {
    try rows(
      """
      SELECT column_name || ' ' || data_type FROM information_schema.columns WHERE table_name = \
      '\(table)' AND table_schema = current_schema() ORDER BY ordinal_position
      """)
  }
}

/// What the server said instead of rows.
private struct Refused: Error {
  let message: String
}
