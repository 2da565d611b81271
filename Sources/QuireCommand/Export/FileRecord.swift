import QuireCore

/// What a report keeps of a file that an export wrote, so that nothing but that file is continued.
struct FileRecord: Equatable, Sendable {
  /// The file's absolute path; nil where the system did not tell.
  var path: String?
  /// How long it was once everything that the report counts was in it.
  var bytes: Int
  /// The check sum of those bytes; nil where the file could not be read.
  var checksum: String?
}

extension FileRecord {
  /// What a report says of the file that its members name by `prefix`; nil where it says nothing.
  init?(in report: JSONValue, prefix: String) {
    guard let bytes = report[prefix + "Bytes"]?.integer, bytes >= 0 else { return nil }
    self.init(
      path: report[prefix + "File"]?.string, bytes: bytes,
      checksum: report[prefix + "Checksum"]?.string)
  }
}
