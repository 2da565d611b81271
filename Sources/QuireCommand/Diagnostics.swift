import Foundation

/// What the tool says besides its data: always on stderr, whole lines at a time.
enum Diagnostics {
  /// Writes a message and a line break.
  static func write(_ message: String) { writeRaw(message + "\n") }

  /// Writes text as it is. A stderr that is gone is no reason to stop an export.
  static func writeRaw(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// Ends the process.
  static func exit(with status: ExitStatus) -> Never { Foundation.exit(status.code) }
}
