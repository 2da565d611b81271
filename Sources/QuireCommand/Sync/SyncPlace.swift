import Foundation
import Quire
import QuireCore
import QuireExport
import QuireJSON
import QuirePagination

extension SyncFile {
  /// Whether a path is an address of a PostgreSQL database.
  static func isPostgres(_ path: String) -> Bool {
    ["postgres://", "postgresql://"].contains { path.lowercased().hasPrefix($0) }
  }

  /// Throws where a text is no path of a file that can be kept: said before anything is requested.
  static func checkPath(_ text: String, in folder: String, at place: String) throws(SyncFileError) {
    let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] }
    let path = resolved(text, in: folder)
    var status = stat()
    let kind = stat(path, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    let reason: String? =
      if isPostgres(text) {
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
