import ArgumentParser
import Foundation
import Quire
import QuireExport
import QuireHTTP
import QuirePagination
import QuirePostgres
import QuireSQLite

/// What the options say of a destination.
struct DestinationRequest: Sendable {
  /// What stands behind `-o`.
  var path: String
  var columns: [TableColumn]?
  var mode: SinkMode?
  var key: TableKey?
  /// The table of a database.
  var table: String?
  var guardsFormulas = false
  /// Whether options of a command line say it, and not members of a sync file.
  var isOfOptions = true

  /// What says it, for messages.
  fileprivate func name(_ option: String, or member: String) -> String {
    isOfOptions ? option : member
  }

  fileprivate var place: String { name("-o \(path)", or: "to: \(path)") }

  /// A path or the server of an address, which may hold secrets, and the table.
  static func shown(_ path: String, table: String?) -> String {
    let shown = path.contains("://") ? (try? Origin(url: path)).map { "\($0)" } ?? "postgres" : path
    return table.map { "\(shown) \($0)" } ?? shown
  }
}

/// A kind of destination that `-o` can lead to.
struct DestinationKind: Sendable {
  /// The endings of its paths, such as `.csv`, or what its addresses begin with, such as `postgres://`.
  let names: [String]
  /// The sink that a request asks for; throws a usage error where it cannot be had.
  let sink: @Sendable (DestinationRequest) throws -> any Sink

  /// Whether a path leads to a destination of this kind.
  func matches(_ path: String) -> Bool {
    let path = path.lowercased()
    return names.contains { $0.hasSuffix("://") ? path.hasPrefix($0) : path.hasSuffix($0) }
  }
}

/// The destinations that `-o` knows by their names.
enum Destination {
  /// Each kind, the more usual ones first.
  static let kinds: [DestinationKind] = [files, sqlite, postgres]

  private static let files = DestinationKind(
    names: FileFormat.endings.flatMap { [$0.ending, $0.ending + ".gz"] }
  ) { request in
    try file(request, FileFormat(path: request.path))
  }

  private static let sqlite = DestinationKind(names: [".db", ".sqlite", ".sqlite3"]) { request in
    SQLiteSink(
      request.path, table: try table(request), key: request.key, mode: try mode(request),
      columns: request.columns)
  }

  private static let postgres = DestinationKind(names: ["postgres://", "postgresql://"]) {
    request in
    PostgresSink(
      request.path, table: try table(request), key: request.key, mode: try mode(request),
      columns: request.columns)
  }

  /// Whether a path leads to a database, whose tables take a listing each.
  static func isDatabase(_ path: String) -> Bool {
    [sqlite, postgres].contains { $0.matches(path) }
  }

  private static func table(_ request: DestinationRequest) throws -> String {
    guard !request.guardsFormulas else {
      throw ValidationError("--guard-formulas is for .csv and .tsv, and -o is a database.")
    }
    guard let table = request.table else {
      throw ValidationError("-o is a database: say by --table which table gets the items.")
    }
    return table
  }

  private static func mode(_ request: DestinationRequest) throws -> SinkMode? {
    guard request.mode != .upsert || request.key != nil else {
      throw ValidationError(
        request.isOfOptions
          ? "--mode upsert: say by --key where an item has its key, such as --key /id."
          : "mode: upsert needs a key: say where an item has it, such as key: id.")
    }
    return request.mode
  }

  /// The sink for `-o`. A path without any ending is a file of JSON Lines; one with an ending that is not
  /// known is a usage error, for it would get something else than its name says.
  static func sink(_ request: DestinationRequest) throws -> any Sink {
    if let kind = kinds.first(where: { $0.matches(request.path) }) {
      return try kind.sink(request)
    }
    let name = request.path.split(separator: "/").last ?? ""
    guard !request.path.hasSuffix("/") else {
      throw ValidationError("\(request.place) is a directory. Name a file in it.")
    }
    guard !name.dropFirst().contains(".") else {
      throw ValidationError(
        "\(request.place): nothing is known by that ending. Known are "
          + "\(kinds.flatMap(\.names).joined(separator: " ")), and names without an ending, which are "
          + "JSON Lines.")
    }
    return try file(request, .jsonLines)
  }

  private static func file(_ request: DestinationRequest, _ format: FileFormat?) throws -> FileSink
  {
    guard request.table == nil else {
      throw ValidationError(
        "\(request.place): \(request.name("--table", or: "table")) is for databases.")
    }
    guard request.key == nil, request.mode != .upsert else {
      throw ValidationError(
        "\(request.place): a file cannot replace single items by their key "
          + "(\(request.name("--key, --mode upsert", or: "key, mode: upsert"))). A database can.")
    }
    guard format?.isTable == true || request.columns == nil && !request.guardsFormulas else {
      throw ValidationError(
        "\(request.place): \(request.name("--columns and --guard-formulas", or: "columns")) are for tables, "
          + ".csv and .tsv.")
    }
    return FileSink(
      request.path, format: format, columns: request.columns,
      guardsFormulas: request.guardsFormulas, mode: request.mode ?? .once)
  }
}
