import Glibc

/// The system resources that this process holds at one moment, as Linux counts them.
///
/// Tests that compare two ledgers run in a process of their own, because other tests open resources
/// too.
package struct ProcessLedger: Sendable {
  /// Open descriptors and their targets, such as `socket:[4711]`.
  package let descriptors: [Int32: String]
  /// Threads, the main one included, without libdispatch's pool: that grows and shrinks by itself.
  package let threads: Int
  /// Memory in use that is not swapped out.
  package let residentBytes: Int

  /// The resources held now.
  package static func now() -> ProcessLedger {
    ProcessLedger(
      descriptors: openDescriptors(), threads: threadNames().count { !$0.contains("-qos") },
      residentBytes: residentPages() * sysconf(Int32(_SC_PAGESIZE)))
  }

  /// The number of descriptors that are sockets.
  package var sockets: Int { descriptors.values.count { $0.hasPrefix("socket:") } }

  private static func openDescriptors() -> [Int32: String] {
    var result: [Int32: String] = [:]
    for name in entries(of: "/proc/self/fd") {
      var target = [CChar](repeating: 0, count: 256)
      let length = readlink("/proc/self/fd/\(name)", &target, target.count)
      // The descriptor of the listing itself is closed by now.
      guard length > 0, let number = Int32(name) else { continue }
      result[number] = String(
        decoding: target[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
    return result
  }

  /// The pool's threads are named after their queue, as in `root.default-qos`.
  private static func threadNames() -> [String] {
    entries(of: "/proc/self/task").compactMap { thread in
      // A thread that ended meanwhile has no name any more.
      guard let file = fopen("/proc/self/task/\(thread)/comm", "r") else { return nil }
      defer { fclose(file) }
      var line = [CChar](repeating: 0, count: 64)
      guard fgets(&line, Int32(line.count), file) != nil else { return nil }
      return String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
  }

  private static func entries(of directory: String) -> [String] {
    guard let stream = opendir(directory) else { return [] }
    defer { closedir(stream) }
    var names: [String] = []
    while let entry = readdir(stream) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }

  /// The second number of statm.
  private static func residentPages() -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { return 0 }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 128)
    guard fgets(&line, Int32(line.count), file) != nil else { return 0 }
    let text = String(decoding: line.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
