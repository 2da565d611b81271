import Foundation
import GRDB
import QuireCore
import QuireExport
public import QuireListModel

/// A store of a list's pages in an SQLite file, with one row of JSON for each page.
///
/// ```swift
/// let model = ListModel(issues, store: SQLiteListStore("lists.sqlite", list: "issues"))
/// ```
/// The file is opened at the first call, or created, readable only by its owner; other tables in it
/// are not touched. Each page is written in one transaction, so that a killed process leaves a page
/// either old or new.
///
/// A list that cannot be read throws `SinkError`: `.damaged`, or `.notOurs` if a later version
/// wrote it, or it has items of another type. A list of other items stays until a page is kept in
/// its place; the list of a later version is never changed.
public actor SQLiteListStore<Item: Codable & Sendable>: ListStore {
  private let path: String
  private let list: String
  private var database: SQLiteDatabase?

  /// Creates a store of one list in a file.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - list: The name of the list in the file. Default: `list`.
  public init(_ path: String, list: String = "list") {
    self.path = path
    self.list = list
  }

  /// Returns the pages of the list, in order.
  public func pages() async throws -> [StoredPage<Item>] {
    let bodies = try await run { [list, path] database -> [String] in
      guard try database.tableExists("quire_list") else { return [] }
      try ListTable.check(list, path, database)
      let rows = try Row.fetchAll(
        database, sql: "SELECT number, body FROM quire_list WHERE list = ? ORDER BY number",
        arguments: [list])
      // Pages after a gap are of another listing.
      return zip(0..., rows).prefix { $1["number"] as Int? == $0 }.map { $1["body"] ?? "" }
    }
    do {
      return try bodies.map { try JSONDecoder().decode(StoredPage<Item>.self, from: Data($0.utf8)) }
    } catch {
      throw SinkError(
        .notOurs,
        "\(path): the list \(list) has items of another kind, or is damaged (\(error)). It is replaced when "
          + "the list is loaded.")
    }
  }

  /// Stores a page; if `isLast`, removes the pages after it.
  public func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) async throws {
    let body = String(decoding: try JSONEncoder().encode(page), as: UTF8.self)
    try await run { [list, path] database in
      // The table is created within the transaction: two processes that create it at the same time
      // would lock each other out.
      try database.inTransaction(.immediate) {
        try ListTable.create(database)
        try ListTable.check(list, path, database)
        if isLast {
          try database.execute(
            sql: "DELETE FROM quire_list WHERE list = ? AND number > ?", arguments: [list, index])
        }
        try database.execute(
          sql: "INSERT OR REPLACE INTO quire_list (list, number, form, body) VALUES (?, ?, ?, ?)",
          arguments: [list, index, ListTable.form, body])
        return .commit
      }
    }
  }

  private func run<Value: Sendable>(
    _ work: @escaping @Sendable (Database) throws -> Value
  ) async throws -> Value {
    let opened = try database ?? SQLiteDatabase(path)
    database = opened
    return try await opened.run(work)
  }
}

private enum ListTable {
  /// The version of the rows' format.
  static let form = 1

  static func create(_ database: Database) throws {
    try database.execute(
      sql: """
        CREATE TABLE IF NOT EXISTS quire_list (list TEXT NOT NULL, number INTEGER NOT NULL, \
        form INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (list, number)) WITHOUT ROWID
        """)
  }

  /// Throws `.notOurs` if a later version wrote the list.
  static func check(_ list: String, _ path: String, _ database: Database) throws {
    let found = try Int.fetchOne(
      database, sql: "SELECT max(form) FROM quire_list WHERE list = ?", arguments: [list])
    guard let found, found > form else { return }
    throw SinkError(
      .notOurs,
      "\(path): a later version has kept the list \(list), in the form \(found); this one reads \(form). "
        + "Name another list or another file.")
  }
}
