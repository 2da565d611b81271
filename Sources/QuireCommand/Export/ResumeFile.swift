import Foundation

/// Where the report goes of an export that stopped early and was not told where: a position may hold
/// what a server means for one client alone, and a terminal or a log shows it to others.
enum ResumeFile {
  /// Writes a report for `--from`, readable by its owner only: beside the file of the items, or else
  /// where programs keep their state. Returns its path; nil where it cannot be written.
  static func write(_ report: Data, items: String?) -> String? {
    var status = stat()
    if let items, stat(items, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
      return write(report, to: items + ".resume.json") ? items + ".resume.json" : nil
    }
    let name = "resume-\(String(UInt64.random(in: .min ... .max), radix: 36)).json"
    for folder in folders {
      try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let path = folder + "/" + name
      if write(report, to: path) { return path }
    }
    return nil
  }

  /// The folder for state (XDG Base Directory Specification), and the one for temporary files.
  private static var folders: [String] {
    let environment = ProcessInfo.processInfo.environment
    let state =
      environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].map { $0 + "/.local/state" }
    return [state, environment["TMPDIR"] ?? "/tmp"].compactMap { $0.map { $0 + "/quire" } }
  }

  /// Puts a new file in the place of an older one, whatever that is or leads to.
  private static func write(_ report: Data, to path: String) -> Bool {
    let new = "\(path).\(UInt64.random(in: .min ... .max))"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try handle.write(contentsOf: report)
      try handle.close()
      guard rename(new, path) == 0 else { throw POSIXError(.EIO) }
      return true
    } catch {
      unlink(new)
      return false
    }
  }
}
