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

  /// Writes text as it is. A stderr that is gone is no reason to stop an export.
  static func writeRaw(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
  }

  /// Says why there is nothing to show, in the words of the command line.
  static func failure(_ error: PageError) -> ExitStatus {
    write("quire: \(OptionWords.applied(to: "\(error)"))")
    return .failed
  }

  /// Ends the process; after a signal by that signal, so that a shell knows not to go on.
  static func exit(with status: ExitStatus) -> Never {
    if case .interrupted(let number) = status {
      fflush(nil)
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
