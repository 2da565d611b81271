import QuireCore

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
