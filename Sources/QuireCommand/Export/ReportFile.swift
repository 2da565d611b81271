import ArgumentParser
import Foundation

/// `--report`: where the report goes.
enum ReportFile: Equatable, Sendable {
  case standardOutput
  case file(String)

  /// Reads a path, or `-`.
  init(_ text: String) { self = text == "-" ? .standardOutput : .file(text) }

  /// What messages call it.
  var name: String {
    switch self {
    case .standardOutput: "standard output"
    case .file(let path): path
    }
  }

  /// Throws a usage error where a report could not be written: better than after hours of export.
  func check(for option: String = "--report") throws {
    guard case .file(let path) = self else { return }
    var status = stat()
    let isThere = stat(path, &status) == 0
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    let isPlain = !isThere || status.st_mode & S_IFMT == S_IFREG
    if isThere, status.st_mode & S_IFMT == S_IFDIR {
      errno = EISDIR
    } else if access(isPlain ? folder : path, isPlain ? W_OK | X_OK : W_OK) == 0 {
      return
    }
    throw ValidationError(
      "\(option): cannot write to \(path): \(String(cString: strerror(errno))).")
  }

  /// Writes the report; where a file is to be replaced, the old one stays until the new one is whole.
  func write(_ report: Data) throws {
    switch self {
    case .standardOutput: try FileHandle.standardOutput.write(contentsOf: report)
    case .file(let path):
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        try FileHandle(forWritingTo: URL(fileURLWithPath: path)).write(contentsOf: report)
      } else {
        try report.write(to: URL(fileURLWithPath: path), options: .atomic)
      }
    }
  }
}
