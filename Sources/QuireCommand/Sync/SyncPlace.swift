import Foundation
import Quire
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination

/// A place where a sync stores something: a file or a table. Equal places are the same file or
/// table.
struct SyncPlace: Hashable {
  /// The file's path with all links resolved, or the parts of an address that identify a database.
  let path: String
  /// The table's name as its database compares names; nil for a file.
  let table: String?

  init(_ path: String, table: String? = nil) {
    if DestinationKind.isPostgres(path) {
      (self.path, self.table) = (Self.database(path), table)
    } else {
      (self.path, self.table) = (FileSink.resolved(path), table?.lowercased())
    }
  }

  /// The same place for file systems that ignore case, as most do on macOS and Windows.
  var folded: SyncPlace {
    DestinationKind.isPostgres(path) ? self : SyncPlace(folded: path.lowercased(), table)
  }

  private init(folded path: String, _ table: String?) { (self.path, self.table) = (path, table) }

  /// Returns an address in a form that is the same for all spellings that lead to the same tables:
  /// without a password, and with only those options that select a database.
  private static func database(_ address: String) -> String {
    guard let parts = URLComponents(string: address) else { return address }
    let names = ["host", "hostaddr", "port", "dbname", "user", "service", "options"]
    let query = (parts.queryItems ?? []).filter { names.contains($0.name) }
      .map { "\($0.name)=\($0.value ?? "")" }.sorted()
    return
      "postgres://\(parts.user ?? "")@\((parts.host ?? "").lowercased()):\(parts.port ?? 5432)"
      + "\(parts.path)?\(query.joined(separator: "&"))"
  }
}

extension SyncFile {
  /// Throws if two listings have one destination, which can hold the progress of only one, or if a
  /// listing's destination is a file or table of the sync itself.
  static func checkDistinct(
    _ listings: [SyncListing], path: String, statePath: String
  ) throws(SyncFileError) {
    let isShared = DestinationKind.isPostgres(statePath)
    let own =
      [SyncPlace(path)] + (isShared ? [] : SyncState.files(of: statePath).map { SyncPlace($0) })
    let tables = isShared ? [] : SyncState.tables.map { SyncPlace(statePath, table: $0) }
    var known: [SyncPlace: SyncListing] = [:]
    for listing in listings {
      let request = listing.destination
      let place = SyncPlace(request.path, table: request.table)
      guard !own.contains(place) else {
        throw SyncFileError(
          "listings.\(listing.name)",
          "Its items would take the place of what the sync itself has in \(request.path). Write to another file.",
          member: "to")
      }
      guard !tables.contains(place) else {
        throw SyncFileError(
          "listings.\(listing.name)",
          "The sync keeps a table \(ServerText(request.table ?? "")) of its own in \(request.path). Name another by "
            + "table, or keep what is known elsewhere, by state.")
      }
      if let other = known[place.folded] {
        throw SyncFileError(
          "listings.\(listing.name)",
          place == SyncPlace(other.destination.path, table: other.destination.table)
            ? "Its items go where those of \(ServerText(other.name)) go, and the two would take each other's place. "
              + "Give each \(place.table == nil ? "a file by its own to" : "its own table"); a view can join them."
            : "Its file has the name of that of \(ServerText(other.name)) but for upper and lower case, which many "
              + "file systems do not tell apart. Give it another one.")
      }
      known[place.folded] = listing
    }
  }

  /// Throws if a text is not the path of a file that can be kept. Checked before any request.
  static func checkPath(_ text: String, in folder: String, at place: String) throws(SyncFileError) {
    let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] }
    let path = resolved(text, in: folder)
    var status = stat()
    let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    let reason: String? =
      if DestinationKind.isPostgres(text) {
        nil
      } else if text.isEmpty || text.contains("\0") {
        "\(ServerText(text)) is no name of a file. Name one, or a database."
      } else if text == "-" {
        "Standard output keeps nothing that a later run could go on with. Name a file; one of that name is ./-."
      } else if text == "~" || text.hasPrefix("~/") {
        "\(ServerText(text)) is a shell's word for a folder. Write that one's path; a folder of that name is ./~."
      } else if let scheme {
        "Nothing is known by \(ServerText(scheme)). Name a file, or a database by postgres://…."
      } else if kind == S_IFDIR || text.hasSuffix("/") {
        "\(ServerText(text)) is a directory. Name a file in it."
      } else if kind != S_IFREG {
        "\(ServerText(text)) is no file: it keeps nothing that a later run could go on with. Name a file."
      } else {
        nil
      }
    if let reason { throw SyncFileError(place, reason) }
  }
}
