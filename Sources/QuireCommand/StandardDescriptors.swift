import Foundation

/// Standard input, output and error, which every program may count on and a caller may have closed.
enum StandardDescriptors {
  /// Opens those that are closed on `/dev/null`, before anything else is opened: a pipe or a
  /// connection that got number 1 would be written the items.
  ///
  /// Input is opened for writing and output for reading, so that using one is the same error as
  /// using the closed one would be.
  static func secure() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ] where fcntl(descriptor, F_GETFD) < 0 {
      // The lowest free number is the one that is missing: those below it are open by now.
      _ = open("/dev/null", mode)
    }
  }

  /// Whether standard output takes anything at all.
  static var hasOutput: Bool { fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE != O_RDONLY }
}
