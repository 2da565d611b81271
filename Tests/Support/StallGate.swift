import Glibc

/// A gate that stops a script until it is opened; then it stays open.
package final class StallGate: Sendable {
  /// The reading end of a pipe, readable once the gate is open, so that a server thread can wait
  /// for the gate, its peer and the server's end in one `poll`.
  let descriptor: Int32
  private let writingEnd: Int32

  package init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "pipe failed with errno \(errno)")
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    descriptor = ends[0]
    writingEnd = ends[1]
  }

  /// Opens the gate for present and later waiters.
  package func open() {
    var byte: UInt8 = 1
    write(writingEnd, &byte, 1)
  }

  deinit {
    close(descriptor)
    close(writingEnd)
  }
}
