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
  ///
  /// One that `isPrivate` is for nobody's eyes but the user's, whatever it replaces: it holds a
  /// position, and a server may put secrets into those. A pipe that nobody reads is waited for; a
  /// cancelled wait throws.
  func write(_ report: Data, isPrivate: Bool = true) async throws {
    switch self {
    case .standardOutput: try await Self.append(report, to: nil)
    case .file(let path):
      var status = stat()
      if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG {
        try await Self.append(report, to: path)
      } else {
        try Self.replace(path, with: report, mode: isPrivate ? 0o600 : 0o666)
      }
    }
  }

  /// Writes into what takes bytes as they come: a pipe, or standard output where `path` is nil.
  private static func append(_ content: Data, to path: String?) async throws {
    let writer = LineWriter(
      try await OutputFile("--report", path: path, appending: true), appending: true)
    writer.append(content)
    try writer.commit()
  }

  /// Puts a file in the place of another at once, so that a crash leaves one of the two.
  private static func replace(_ path: String, with content: Data, mode: mode_t) throws {
    let target = URL(fileURLWithPath: path).resolvingSymlinksInPath()
    let folder = target.deletingLastPathComponent().path
    let new = "\(folder)/.\(target.lastPathComponent).\(UInt64.random(in: .min ... .max))"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
    guard descriptor >= 0 else { throw OutputFailure(reason: errno, path: path) }
    do {
      defer { close(descriptor) }
      var rest = Array(content)[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes {
          Foundation.write(descriptor, $0.baseAddress, $0.count)
        }
        guard count >= 0 || errno == EINTR else { throw OutputFailure(reason: errno, path: path) }
        rest = rest.dropFirst(max(count, 0))
      }
      guard fsync(descriptor) == 0 || errno != EIO && errno != ENOSPC else {
        throw OutputFailure(reason: errno, path: path)
      }
      guard rename(new, target.path) == 0 else { throw OutputFailure(reason: errno, path: path) }
    } catch {
      unlink(new)
      throw error
    }
    // That the name leads to the new file is kept in the folder; not every file system can confirm it.
    let place = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    if place >= 0 {
      _ = fsync(place)
      close(place)
    }
  }
}
