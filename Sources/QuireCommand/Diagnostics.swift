import ArgumentParser
import Foundation
import QuireCore
import QuireExport

/// What the tool says besides its data: always on stderr, whole lines at a time.
///
/// Much of it quotes a server, so that nothing but text and our own line breaks ever gets there.
enum Diagnostics {
  /// Writes a message as one line; a line break in it is escaped, lest a server writes lines of ours.
  static func write(_ message: String) { writeRaw(message.escapedForDisplay + "\n") }

  /// Writes a message whose line breaks are ours.
  static func write(lines message: String) { writeRaw(message.escapedLinesForDisplay + "\n") }

  /// Writes text as it is. A closed stderr does not stop an export, and a blocked one does not delay the
  /// end after a signal.
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

  /// Says why a command has failed.
  static func failure(_ reason: String) -> ExitStatus {
    write("quire: \(reason)")
    return .failed
  }

  /// Says why there is nothing to show, in the words of the command line.
  static func failure(_ error: PageError, of command: any ParsableCommand.Type) -> ExitStatus {
    failure(RemedyWords(for: command).line(error))
  }

  /// Ends the process; after a signal by that signal, so that a shell knows not to go on.
  static func exit(with status: ExitStatus) -> Never {
    var status = status
    // Output may still be buffered. A reader that closed the pipe is no failure.
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

/// A command line as one would type it.
enum CommandLineText {
  /// The arguments, quoted where a POSIX shell would read them otherwise.
  static func quoted(_ arguments: [String]) -> String {
    arguments.map(quoted).joined(separator: " ")
  }

  private static func quoted(_ argument: String) -> String {
    let plain = argument.allSatisfy {
      $0.isASCII && ($0.isLetter || $0.isNumber || "-_./:=@,+".contains($0))
    }
    if plain && !argument.isEmpty { return argument }
    guard argument.unicodeScalars.allSatisfy(\.isPlain) else { return escaped(argument) }
    return "'" + argument.replacing("'", with: "'\\''") + "'"
  }

  /// The argument with the bytes escaped that cannot be shown (POSIX.1-2024, 2.2.4).
  private static func escaped(_ argument: String) -> String {
    let bytes = argument.utf8.map { byte -> String in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7E: String(UnicodeScalar(byte))
      // Three octal digits end by themselves, as digits in base 16 do not.
      default: "\\" + String(String(Int(byte) + 0o1000, radix: 8).dropFirst())
      }
    }
    return "$'" + bytes.joined() + "'"
  }
}

/// JSON as the tool prints it: what a terminal obeys, hides or reorders by is escaped as JSON has
/// it, so that the text is still the same value.
enum PrintableJSON {
  /// What an encoder made, without such characters.
  static func bytes(of json: Data) -> Data {
    if json.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) { return json }
    var text = ""
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if scalar == "\n" || scalar.isPlain {
        text.unicodeScalars.append(scalar)
      } else {
        // Outside a string JSON has none of them.
        for unit in String(scalar).utf16 { text += "\\u" + unit.padded(to: 4, radix: 16) }
      }
    }
    return Data(text.utf8)
  }

  /// The same as text.
  static func text(of json: Data) -> String { String(decoding: bytes(of: json), as: UTF8.self) }

  /// A report: a member a line, and a line end.
  static func report(_ report: some Encodable) throws -> Data {
    let encoder = JSONEncoder.ordered
    encoder.outputFormatting.insert(.prettyPrinted)
    return bytes(of: try encoder.encode(report)) + Data("\n".utf8)
  }
}

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

/// Makes sure that the process may open what a command needs before it starts: the runtime's event
/// loop traps where it can open nothing.
enum DescriptorCheck {
  /// What a command has open at once at most: a few connections, the event loop, the resolver, the
  /// certificate authorities, and the files it reads and writes.
  static let needed = 24

  /// Says what is wrong; nil where there is room enough.
  static func complaint() -> String? {
    var opened: [Int32] = []
    defer { for descriptor in opened { close(descriptor) } }
    while opened.count < needed {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor < 0 else {
        opened.append(descriptor)
        continue
      }
      guard errno == EMFILE || errno == ENFILE else { return nil }
      return "This process can open \(opened.count.counted("more file")) only, and needs \(needed)."
        + " Raise the limit, such as by \"ulimit -n 256\", and run it again."
    }
    return nil
  }
}
