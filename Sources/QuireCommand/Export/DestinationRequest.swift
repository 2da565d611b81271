import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireExport
import QuireHTTP
import QuirePagination
import QuirePostgres
import QuireSQLite

/// A destination as options or a sync file describe it.
struct DestinationRequest: Sendable {
  /// The value of `-o`, or of `to` in a sync file.
  var path: String
  var columns: [TableColumn]?
  var mode: SinkMode?
  var key: TableKey?
  /// The table; nil for a file.
  var table: String?
  var guardsFormulas = false
  /// Whether the request comes from options of a command line, not from a sync file.
  var comesFromOptions = true

  /// Returns the name that messages give to an option or to the member in its place.
  private func name(_ option: String, or member: String) -> String {
    comesFromOptions ? option : member
  }

  private var place: String { name("-o \(path)", or: "to: \(path)") }

  /// Returns a path, or only the server of an address, which may hold secrets, with the table.
  static func shown(_ path: String, table: String?) -> String {
    let shown = path.contains("://") ? (try? Origin(url: path)).map { "\($0)" } ?? "postgres" : path
    return table.map { "\(shown) \($0)" } ?? shown
  }
}

/// A kind of destination, recognised by the ending or the scheme of its path.
struct DestinationKind: Sendable {
  /// The endings of paths, such as `.csv`, or the schemes of addresses, such as `postgres://`.
  let names: [String]
  /// Returns the sink for a request. Throws a usage error if the kind does not support the request.
  let sink: @Sendable (DestinationRequest) throws -> any Sink

  /// All kinds, the more usual ones first.
  static let all: [DestinationKind] = [files, sqlite, postgres]

  private static let files = DestinationKind(
    names: FileFormat.endings.flatMap { [$0.ending, $0.ending + ".gz"] }
  ) { try $0.file(FileFormat(path: $0.path)) }

  private static let sqlite = DestinationKind(names: [".db", ".sqlite", ".sqlite3"]) {
    SQLiteSink(
      $0.path, table: try $0.databaseTable, key: $0.key, mode: try $0.databaseMode,
      columns: $0.columns)
  }

  private static let postgres = DestinationKind(names: ["postgres://", "postgresql://"]) {
    PostgresSink(
      $0.path, table: try $0.databaseTable, key: $0.key, mode: try $0.databaseMode,
      columns: $0.columns)
  }

  /// Whether a path is a destination of this kind.
  func matches(_ path: String) -> Bool {
    let path = path.lowercased()
    return names.contains { $0.hasSuffix("://") ? path.hasPrefix($0) : path.hasSuffix($0) }
  }

  /// Whether a path is an address of a PostgreSQL database.
  static func isPostgres(_ path: String) -> Bool { postgres.matches(path) }

  /// Whether a path leads to a database, which has a table for each listing.
  static func isDatabase(_ path: String) -> Bool {
    [sqlite, postgres].contains { $0.matches(path) }
  }
}

extension DestinationRequest {
  /// Returns the sink of the request. A path without an ending is a file of JSON Lines. An unknown
  /// ending is a usage error, because the file's content would contradict its name.
  func sink() throws -> any Sink {
    if let kind = DestinationKind.all.first(where: { $0.matches(path) }) {
      return try kind.sink(self)
    }
    guard !path.isEmpty else {
      throw ValidationError("\(name("-o", or: "to")): the name is empty.")
    }
    guard !path.hasSuffix("/") else {
      throw ValidationError("\(place) is a directory. Name a file in it.")
    }
    guard path.split(separator: "/").last?.dropFirst().contains(".") != true else {
      let known = DestinationKind.all.flatMap(\.names).joined(separator: " ")
      throw ValidationError(
        "\(place): nothing is known by that ending. Known are \(known), and names without an ending, which "
          + "are JSON Lines.")
    }
    return try file(.jsonLines)
  }

  fileprivate func file(_ format: FileFormat?) throws -> FileSink {
    guard table == nil else {
      throw ValidationError("\(place): \(name("--table", or: "table")) is for databases.")
    }
    guard key == nil, mode != .upsert else {
      throw ValidationError(
        "\(place): a file cannot replace single items by their key "
          + "(\(name("--key, --mode upsert", or: "key, mode: upsert"))). A database can.")
    }
    guard format?.isTable == true || columns == nil && !guardsFormulas else {
      throw ValidationError(
        "\(place): \(name("--columns and --guard-formulas", or: "columns")) are for tables, .csv "
          + "and .tsv.")
    }
    return FileSink(
      path, format: format, columns: columns, guardsFormulas: guardsFormulas, mode: mode ?? .once)
  }

  fileprivate var databaseTable: String {
    get throws {
      guard !guardsFormulas else {
        throw ValidationError("--guard-formulas is for .csv and .tsv, and -o is a database.")
      }
      guard let table else {
        throw ValidationError("-o is a database: say by --table which table gets the items.")
      }
      guard !table.isEmpty else {
        throw ValidationError(
          "\(name("--table", or: "table")) is empty: say which table gets the items.")
      }
      return table
    }
  }

  fileprivate var databaseMode: SinkMode? {
    get throws {
      guard mode != .upsert || key != nil else {
        throw ValidationError(
          comesFromOptions
            ? "--mode upsert: say by --key where an item has its key, such as --key /id."
            : "mode: upsert needs a key: say where an item has it, such as key: id.")
      }
      return mode
    }
  }
}

extension DestinationRequest {
  /// Throws if the database of `sink` does not allow the table's name, or if columns or parts of the
  /// key coincide. Called before the first listing runs.
  ///
  /// `place` is the place of the members in a sync file; nil for options.
  func check(_ sink: any Sink, at place: String? = nil) throws(SyncFileError) {
    func at(_ member: String) -> String { place.map { "\($0).\(member)" } ?? "--\(member)" }
    do throws(SinkError) {
      try (sink as? SQLiteSink)?.checkName()
      try (sink as? PostgresSink)?.checkName()
    } catch {
      guard let place else { throw SyncFileError(at("table"), error.message) }
      throw SyncFileError(place, error.message, member: "table")
    }
    if let twice = (key?.paths.map(\.text) ?? []).firstRepeated {
      throw SyncFileError(at("key"), "\(ServerText(twice)) is there twice. Keep one.")
    }
    let columns = columns ?? []
    if let twice = columns.map({ folded($0.name) }).firstRepeated {
      let names = columns.map(\.name).filter { folded($0) == twice }
      let path = columns.last { folded($0.name) == twice }?.path.text ?? ""
      throw SyncFileError(
        at("columns"),
        "\(names.map { "\(ServerText($0))" }.joined(separator: " and ")) are one column. Keep one, or give it another "
          + "name, such as \(ServerText(twice))_2=\(ServerText(path)).")
    }
    for path in key?.paths ?? [] where !columns.contains(where: { $0.path == path }) {
      let name = String(path.text.drop { $0 == "/" })
      guard let column = columns.first(where: { folded($0.name) == folded(name) }) else { continue }
      throw SyncFileError(
        at("columns"),
        "\(ServerText(column.name)) is the column of the key at \(ServerText(path.text)), and not of "
          + "\(ServerText(column.path.text)). Give it another name, such as \(ServerText(name))_2=\(ServerText(column.path.text))."
      )
    }
  }

  /// Returns a column's name as the destination compares names.
  private func folded(_ name: String) -> String {
    guard table != nil, !DestinationKind.isPostgres(path) else { return name }
    return String(decoding: TableDialect.sqlite.folded(name.utf8), as: UTF8.self)
  }
}

extension Sequence where Element: Hashable {
  /// The first element that equals an earlier one; nil if all differ.
  var firstRepeated: Element? {
    var known: Set<Element> = []
    return first { !known.insert($0).inserted }
  }
}

extension TableKey {
  /// Creates a key of paths, whose slash may be left out. Throws `PageError` for an invalid path.
  init(texts: [String]) throws {
    self.init(try texts.map { try PagePath($0.isEmpty || $0.hasPrefix("/") ? $0 : "/\($0)") })
  }
}
