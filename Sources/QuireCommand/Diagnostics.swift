import ArgumentParser
import Foundation
import QuireCore
import QuireCurl
import QuireExport

/// The tool's messages: always on standard error, in whole lines.
///
/// Messages may quote a server, so all characters except text and the tool's own line breaks are
/// escaped.
enum Diagnostics {
  /// Writes a message as one line. Line breaks are escaped, so that a server cannot forge lines.
  static func write(_ message: String) { writeRaw(message.escapedForDisplay + "\n") }

  /// Writes a message whose line breaks are the tool's own.
  static func write(lines message: String) { writeRaw(message.escapedLinesForDisplay + "\n") }

  /// Writes text unchanged. A closed standard error does not stop an export, and a blocked one does
  /// not delay the end after a signal.
  static func writeRaw(_ text: String) {
    var patience = 10
    try? OutputFailure.write(Array(text.utf8), to: STDERR_FILENO, path: nil) {
      if Interruption.caught != nil { patience -= 1 }
      return patience < 0
    }
  }

  /// Writes why a command failed, and returns the exit status.
  static func failure(_ reason: String) -> ExitStatus {
    write("quire: \(reason)")
    return .failed
  }

  /// Writes an error in the words of the command line, and returns the exit status.
  static func failure(_ error: PageError, of command: any ParsableCommand.Type) -> ExitStatus {
    failure(RemedyWords(for: command).line(error))
  }

  /// Ends the process; after a signal by that signal, so that a shell stops too.
  static func exit(with status: ExitStatus) -> Never {
    var status = status
    // Output may still be buffered. A pipe closed by its reader is no failure.
    if fflush(nil) != 0, errno != EPIPE, status == .ended {
      write("quire: Cannot write to standard output: \(String(cString: strerror(errno))).")
      status = .failed
    }
    if case .interrupted(let number) = status {
      signal(number, SIG_DFL)
      // The threads that run tasks have signals blocked.
      var signals = sigset_t()
      sigemptyset(&signals)
      sigaddset(&signals, number)
      pthread_sigmask(SIG_UNBLOCK, &signals, nil)
      raise(number)
    }
    Foundation.exit(status.code)
  }
}

/// The text of a command line, as a user would type it.
enum CommandLineText {
  /// Returns the arguments, quoted where a POSIX shell needs it.
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

  /// Returns the argument with unprintable bytes escaped (POSIX.1-2024, 2.2.4).
  private static func escaped(_ argument: String) -> String {
    let bytes = argument.utf8.map { byte -> String in
      switch byte {
      case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      case 0x20...0x7E: String(UnicodeScalar(byte))
      // Octal escapes have three digits at most; hexadecimal ones have no such limit.
      default: "\\" + String(String(Int(byte) + 0o1000, radix: 8).dropFirst())
      }
    }
    return "$'" + bytes.joined() + "'"
  }
}

/// Text in columns, for a terminal.
enum TextTable {
  /// Returns rows of cells, each column as wide as its widest cell and two spaces from the next.
  /// Columns of numbers are aligned at the right.
  static func text(_ rows: [[String]], numbers: Range<Int> = 0..<0) -> String {
    let columns = (rows.first ?? []).indices
    let widths = columns.map { column in rows.map { $0[column].count }.max() ?? 0 }
    return rows.map { row in
      row.enumerated().map { column, cell in
        let gap = String(repeating: " ", count: widths[column] - cell.count)
        if numbers.contains(column) { return gap + cell }
        return column == columns.last ? cell : cell + gap
      }.joined(separator: "  ")
    }.joined(separator: "\n")
  }
}

/// JSON for a terminal: characters that a terminal obeys, hides or reorders by are escaped, so that
/// the value stays the same.
enum PrintableJSON {
  /// Returns the JSON of an encoder with these characters escaped.
  static func bytes(of json: Data) -> Data {
    if json.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) { return json }
    var text = ""
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if scalar == "\n" || scalar.isPlain {
        text.unicodeScalars.append(scalar)
      } else {
        // JSON allows these characters in strings only.
        for unit in String(scalar).utf16 { text += "\\u" + unit.padded(to: 4, radix: 16) }
      }
    }
    return Data(text.utf8)
  }

  /// Returns the same as text.
  static func text(of json: Data) -> String { String(decoding: bytes(of: json), as: UTF8.self) }

  /// Returns a report with one member a line and a final line break.
  static func report(_ report: some Encodable) throws -> Data {
    let encoder = JSONEncoder.ordered
    encoder.outputFormatting.insert(.prettyPrinted)
    return bytes(of: try encoder.encode(report)) + Data("\n".utf8)
  }
}

/// The status with which the tool ends. A command that throws it has written the reason.
enum ExitStatus: Error, Equatable {
  /// The command did what was asked.
  case ended
  /// The command failed.
  case failed
  /// The command line is not valid.
  case usage
  /// A signal ended the command cleanly; the process then dies of that signal.
  case interrupted(signal: Int32)

  /// The status that a shell sees; after a signal, 128 plus the signal's number.
  var code: Int32 {
    switch self {
    case .ended: 0
    case .failed: 1
    case .usage: 2
    case .interrupted(let signal): 128 + signal
    }
  }
}

/// Standard input, output and error, which every program relies on and a caller may have closed.
enum StandardDescriptors {
  /// Opens the closed ones on `/dev/null`, before any other file: otherwise a pipe or a connection
  /// could get number 1, and the items would be written to it.
  ///
  /// Input is opened for writing and output for reading, so that using them fails as the closed
  /// ones would.
  static func secure() {
    for (descriptor, mode) in [
      (STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY),
    ] where fcntl(descriptor, F_GETFD) < 0 {
      // `open` returns the lowest free number: the missing one, because all below it are open.
      _ = open("/dev/null", mode)
    }
  }

  /// Whether standard output is open for writing.
  static var hasOutput: Bool { fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE != O_RDONLY }
}

/// A check, before a command starts, that the process may open enough files: the runtime's event
/// loop traps if it cannot open one.
enum DescriptorCheck {
  /// The most descriptors that a command needs at once: a few connections, the event loop, the
  /// resolver, the certificate authorities, its files, and those that the transport leaves free.
  static let needed = 24 + DescriptorReserve.count

  /// Returns a message if the limit is too low; nil if it is high enough.
  static func complaint() -> String? {
    let available = DescriptorReserve.available(upTo: needed)
    guard available < needed else { return nil }
    return "This process can open \(available.counted("more file")) only, and needs \(needed)."
      + " Raise the limit, such as by \"ulimit -n 256\", and run it again."
  }
}
