import Foundation
import QuireCore

/// What the tool says besides its data: always on stderr, whole lines at a time.
///
/// Much of it quotes a server, so that nothing but text and our own line breaks ever gets there.
enum Diagnostics {
  /// Writes a message as one line; a line break in it is escaped, lest a server writes lines of ours.
  static func write(_ message: String) { writeRaw(message.escapedForDisplay + "\n") }

  /// Writes a message whose line breaks are ours.
  static func write(lines message: String) { writeRaw(message.escapedLinesForDisplay + "\n") }

  /// Writes text as it is. A stderr that is gone is no reason to stop an export, and one that nobody
  /// reads is no reason to go on after a signal.
  static func writeRaw(_ text: String) {
    var rest = Array(text.utf8)[...]
    var patience = 10
    while !rest.isEmpty {
      var entry = pollfd(fd: STDERR_FILENO, events: Int16(POLLOUT), revents: 0)
      if poll(&entry, 1, 100) <= 0 {
        if Interruption.caught != nil { patience -= 1 }
        if patience < 0 { return }
        continue
      }
      // A pipe that is ready takes this much at once.
      let count = rest.withUnsafeBytes {
        Foundation.write(STDERR_FILENO, $0.baseAddress, min($0.count, Int(PIPE_BUF)))
      }
      if count < 0, errno != EINTR, errno != EAGAIN { return }
      rest = rest.dropFirst(max(count, 0))
    }
  }

  /// Says why there is nothing to show, in the words of the command line.
  static func failure(_ error: PageError) -> ExitStatus {
    write("quire: \(OptionWords.applied(to: "\(error)"))")
    return .failed
  }

  /// Ends the process; after a signal by that signal, so that a shell knows not to go on.
  static func exit(with status: ExitStatus) -> Never {
    var status = status
    // What was printed may still be in memory. A reader that has seen enough is no failure.
    if fflush(nil) != 0, errno != EPIPE, status == .ended {
      write("quire: Cannot write to standard output: \(String(cString: strerror(errno))).")
      status = .failed
    }
    if case .interrupted(let number) = status {
      signal(number, SIG_DFL)
      // The threads that tasks run on have signals blocked.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, number)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(number)
    }
    Foundation.exit(status.code)
  }
}
