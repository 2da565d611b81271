import Foundation

/// Which file a path or a descriptor means, however it is spelled.
enum FileIdentity: Hashable {
  /// A file that is there.
  case file(device: UInt64, inode: UInt64)
  /// One that is not there yet: its path without symbolic links.
  case path(String)

  /// Nil for terminals and the like, which keep nothing that could be lost.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else {
      self = .path(Self.resolved(path))
      return
    }
    self.init(status)
  }

  /// The file that is open as `descriptor`.
  init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  private init?(_ status: stat) {
    guard status.st_mode & S_IFMT != S_IFCHR else { return nil }
    self = .file(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
  }

  /// The path of a file that is not there, with every link on the way followed; as many as Linux
  /// follows.
  private static func resolved(_ path: String, links: Int = 40) -> String {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    if links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      return resolved(target.hasPrefix("/") ? target : "\(folder)/\(target)", links: links - 1)
    }
    guard let real = realpath(folder, nil) else { return url.path }
    defer { free(real) }
    return "\(String(cString: real))/\(url.lastPathComponent)"
  }
}
