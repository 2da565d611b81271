import ArgumentParser
import Foundation

/// Files that are named on the command line; pipes among them, and `-` for standard input.
enum InputFile {
  /// Far more than a description, a report or a request's body has; `/dev/zero` has no end.
  static let maximumBytes = 64 << 20

  /// The bytes up to the end of the file, or a usage error that says which option named it.
  static func read(_ path: String, for option: String) throws -> [UInt8] {
    let descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, option) }
    defer { if descriptor != STDIN_FILENO { close(descriptor) } }
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 64 << 10)
    while bytes.count <= maximumBytes {
      let count = Foundation.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure(path, option) }
      if count == 0 { return bytes }
      bytes += chunk.prefix(count)
    }
    throw ValidationError("\(option): \(name(path)) has more than \(maximumBytes) bytes.")
  }

  /// A usage error, made from the system's last one.
  private static func failure(_ path: String, _ option: String) -> ValidationError {
    let reason = String(cString: strerror(errno))
    return ValidationError("\(option): cannot read \(name(path)): \(reason).")
  }

  private static func name(_ path: String) -> String {
    path == "-" ? "standard input" : "the file \(path)"
  }
}
