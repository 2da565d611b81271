/// How the tool ends. Thrown by a command that has already said why.
enum ExitStatus: Error, Equatable {
  /// It ended as asked.
  case ended
  /// It failed.
  case failed
  /// The command line cannot be right.
  case usage
  /// A signal ended it, cleanly; the process then dies of that signal.
  case interrupted(signal: Int32)

  /// The status that a shell sees: 128 and the signal's number after a signal.
  var code: Int32 {
    switch self {
    case .ended: 0
    case .failed: 1
    case .usage: 2
    case .interrupted(let signal): 128 + signal
    }
  }
}
