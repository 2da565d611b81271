import Foundation
import GRDB
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination
import QuireSQLite
import TestSupport
import Testing

/// A database in a folder of its own, which goes with it.
final class Tables {
  let folder: URL
  let path: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    path = folder.appending(path: "x.db").path
  }

  deinit { try? FileManager.default.removeItem(at: folder) }

  func sink(
    _ table: String = "t", key: TableKey? = nil, mode: SinkMode? = nil,
    columns: [TableColumn]? = nil,
    item: String? = nil
  ) -> SQLiteSink {
    SQLiteSink(path, table: table, key: key, mode: mode, columns: columns, item: item)
  }

  /// Commits pages of lines in one session each; the last one completes the run.
  func write(
    _ sink: SQLiteSink, _ pages: [String]..., restarts: Bool = false, completes: Bool = true
  ) async throws {
    try await sink.write(pages, restarts: restarts, completes: completes)
  }

  /// The rows of a query, each as `a|b`, with the storage class of what is no text.
  func rows(_ sql: String) throws -> [String] {
    try DatabaseQueue(path: path).read { database in
      try Row.fetchAll(database, sql: sql).map { row in
        row.map { _, value in
          switch value.storage {
          case .null: "null"
          case .int64(let value): "i\(value)"
          case .double(let value): "d\(value)"
          case .string(let text): text
          case .blob: "blob"
          }
        }.joined(separator: "|")
      }
    }
  }

  /// `name TYPE` of each column.
  func columns(_ table: String = "t") throws -> [String] {
    try rows("SELECT name || ' ' || type FROM pragma_table_info('\(table)')")
  }

  func execute(_ sql: String) throws {
    try DatabaseQueue(path: path).writeWithoutTransaction { try $0.execute(sql: sql) }
  }
}
