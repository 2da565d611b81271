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
    return "'" + argument.replacing("'", with: "'\\''") + "'"
  }
}
