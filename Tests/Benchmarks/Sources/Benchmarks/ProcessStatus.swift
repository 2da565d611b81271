import Foundation

/// What the kernel says about this process.
enum ProcessStatus {
  /// Resident memory, in bytes.
  static var residentBytes: Int { number(of: "VmRSS:") * 1024 }

  /// The largest that resident memory ever was, in bytes.
  static var peakResidentBytes: Int { number(of: "VmHWM:") * 1024 }

  static var threads: Int { number(of: "Threads:") }

  /// Makes `peakResidentBytes` begin anew.
  static func forgetPeak() { try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs")) }

  /// How long all threads of the process have computed, in seconds.
  static var seconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// How long the calling thread has computed, in seconds, whoever else did.
  static var threadSeconds: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func number(of field: String) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
      let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { fatalError("/proc/self/status has no number for \(field)") }
    return number
  }
}
