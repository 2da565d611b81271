import QuireCore
import QuirePagination

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file descriptors that a transport leaves to the rest of the process.
///
/// A process must not run out of them because of its connections. Swift's runtime on Linux ends a
/// process by SIGILL that has none left: libdispatch needs one whenever it counts its threads, which
/// it does every second. Without one, OpenSSL finds no authorities, libcurl makes a handle that
/// nothing can wake, and a resolver takes any name for unknown.
package enum DescriptorReserve {
  /// The number of descriptors that stay free.
  package static let count = 8

  /// Whether the process can open a connection and still as many files.
  static var isFree: Bool { available(upTo: count + 1) > count }

  /// Returns how many more files the process can open by its limit, counted up to `most`.
  ///
  /// It looks for numbers that are not in use, the highest first: opening files to find out would
  /// take the last ones, if only for a moment.
  package static func available(upTo most: Int) -> Int {
    var (found, number) = (0, limit)
    while found < most, number > 0 {
      number -= 1
      if fcntl(Int32(number), F_GETFD) < 0 { found += 1 }
    }
    return found
  }

  /// Returns the number of connections to have at a time: as many as are wanted, but at most half as
  /// many as the process may have open files, so that further requests wait instead of failing.
  static func connections(_ wanted: Int) -> Int { max(1, min(wanted, limit / 2)) }

  /// The number of files that the process may have open.
  private static var limit: Int {
    var limit = rlimit()
    #if canImport(Glibc)
      let result = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    #else
      let result = getrlimit(RLIMIT_NOFILE, &limit)
    #endif
    return result == 0 ? Int(Int32(clamping: limit.rlim_cur)) : Int(Int32.max)
  }
}

/// What a process lacks for a request.
package enum Shortage: Error {
  case descriptors
  case threads
  case memory

  /// The end of a message, behind a colon.
  var words: String {
    switch self {
    case .descriptors:
      "the process has fewer than \(DescriptorReserve.count) more files to open. Raise its limit, such as by "
        + "\"ulimit -n\", or do less at a time."
    case .threads: "the system refuses the process a thread."
    case .memory: "the process lacks memory."
    }
  }
}

extension PageError {
  /// The error of a request for which the process lacks something. Like that of a server that is
  /// away, it may pass.
  static func shortage(_ shortage: Shortage, for host: String) -> PageError {
    PageError(.connectFailed, "No connection to \(host): \(shortage.words)")
  }
}
