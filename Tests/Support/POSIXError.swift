import Glibc

/// A system call that failed while a test server was set up.
package struct POSIXError: Error, CustomStringConvertible {
  package let description: String

  init(_ call: String) {
    description = "\(call): \(String(cString: strerror(errno)))"
  }
}

/// Returns the result of a system call, or throws what `errno` says.
func check(_ call: String, _ result: Int32) throws -> Int32 {
  guard result >= 0 else { throw POSIXError(call) }
  return result
}
