import Foundation

/// What the kernel says about this process.
enum ProcessStatus {
  /// Resident memory, in bytes.
  static var residentBytes: Int { number(of: "VmRSS:") * 1024 }

  /// The largest that resident memory ever was, in bytes.
  static var peakResidentBytes: Int { number(of: "VmHWM:") * 1024 }

  static var threads: Int { number(of: "Threads:") }

  private static func number(of field: String) -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
      let number = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { fatalError("/proc/self/status has no number for \(field)") }
    return number
  }
}
