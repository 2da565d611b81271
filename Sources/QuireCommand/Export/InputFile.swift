import ArgumentParser
import Foundation
import Synchronization

/// Files that the command line names, including pipes, and `-` for standard input.
enum InputFile {
  /// The most bytes of a file: far more than a description, a report or a body has. `/dev/zero`
  /// never ends.
  static let maximumBytes = 64 << 20

  /// The option that has read standard input; another option would find it empty.
  private static let reader = Mutex<String?>(nil)

  /// Returns the bytes up to the end of the file. Throws a usage error that names the option.
  static func read(_ path: String, for option: String) throws -> [UInt8] {
    if path == "-", let other = reader.withLock({ $0 }) {
      throw ValidationError(
        "\(option): \(other) has read standard input to its end. Name a file for one of the two.")
    }
    if path == "-" { reader.withLock { $0 = option } }
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

  /// Throws a usage error if the file cannot be read.
  static func checkReadable(_ path: String, for option: String) throws {
    guard access(path, R_OK) == 0 else {
      throw ValidationError("\(option): cannot read \(path): \(String(cString: strerror(errno))).")
    }
  }

  /// Returns a usage error with the reason in `errno`.
  private static func failure(_ path: String, _ option: String) -> ValidationError {
    let reason = String(cString: strerror(errno))
    return ValidationError("\(option): cannot read \(name(path)): \(reason).")
  }

  private static func name(_ path: String) -> String {
    path == "-" ? "standard input" : "the file \(path)"
  }
}
