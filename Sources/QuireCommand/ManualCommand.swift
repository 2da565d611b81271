import ArgumentParser
import Foundation
import QuireCore

/// `quire manual`: prints the manual page, made from the commands' options.
struct ManualCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "manual",
    _superCommandName: "quire",
    abstract: "Print the manual page, for man: every command and option.",
    discussion: "To read it without installing it: quire manual | man -l -")

  func run() throws { print(try ManualPage.text) }
}

/// The manual page quire(1), in the macros of man(7).
enum ManualPage {
  static var text: String {
    get throws {
      let description = try JSONDecoder().decode(
        Description.self, from: Data(QuireCommand._dumpHelp().utf8))
      let root = description.command
      let commands = (root.subcommands ?? []).filter { $0.commandName != "help" }
      var page = Roff()
      page.macro("TH", ["QUIRE", "1", "", "quire \(QuireCommand.configuration.version)", ""])
      page.macro("SH", ["NAME"])
      page.line("quire - \(lowercased(root.abstract ?? ""))")
      page.macro("SH", ["SYNOPSIS"])
      for command in commands {
        page.line(
          "\\fBquire \(Roff.escaped(command.commandName))\\fP \(synopsis(command))", raw: true)
        page.macro("br")
      }
      page.macro("SH", ["DESCRIPTION"])
      page.paragraphs(root.discussion ?? "")
      page.macro("SH", ["COMMANDS"])
      for command in commands { describe(command, on: &page) }
      page.macro("SH", ["SEE ALSO"])
      page.line("curl(1), jq(1), sqlite3(1), psql(1)")
      return page.text
    }
  }

  private static func describe(_ command: Command, on page: inout Roff) {
    page.macro("SS", ["quire \(command.commandName)"])
    page.paragraphs(command.abstract ?? "")
    page.paragraphs(command.discussion ?? "")
    for argument in command.arguments ?? [] where argument.shouldDisplay {
      page.macro("TP")
      page.line(term(argument), raw: true)
      var words = argument.abstract ?? ""
      if let value = argument.defaultValue, argument.kind == .option, !words.contains("efault") {
        words += " Default: \(value)."
      }
      page.line(words)
    }
  }

  /// Returns the options and arguments of a command in short.
  private static func synopsis(_ command: Command) -> String {
    let arguments = (command.arguments ?? []).filter(\.shouldDisplay)
    let values = arguments.filter { $0.kind == .positional }.map { argument in
      let name = "\\fI\(Roff.escaped(argument.valueName ?? "value"))\\fP"
      return argument.isOptional ? "[\(name)]" : name
    }
    let hasOptions = arguments.contains { $0.kind != .positional }
    return ((hasOptions ? ["[\\fIoptions\\fP]"] : []) + values).joined(separator: " ")
  }

  private static func term(_ argument: Argument) -> String {
    let value = "\\fI\(Roff.escaped(argument.valueName ?? "value"))\\fP"
    if argument.kind == .positional { return value }
    let names = (argument.names ?? []).map { name in
      "\\fB\(Roff.escaped((name.kind == "long" ? "--" : "-") + name.name))\\fP"
    }
    return names.joined(separator: ", ") + (argument.kind == .option ? " \(value)" : "")
  }

  /// Returns a sentence in the form that follows a dash: in lower case, without the full stop.
  private static func lowercased(_ sentence: String) -> String {
    let text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    return text.prefix(1).lowercased() + text.dropFirst()
  }

  // MARK: What ArgumentParser says of the commands

  private struct Description: Decodable { var command: Command }

  private struct Command: Decodable {
    var commandName: String
    var abstract: String?
    var discussion: String?
    var subcommands: [Command]?
    var arguments: [Argument]?
  }

  private struct Argument: Decodable {
    enum Kind: String, Decodable { case positional, option, flag }

    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var kind: Kind
    var shouldDisplay: Bool
    var isOptional: Bool
    var names: [Name]?
    var valueName: String?
    var defaultValue: String?
    var abstract: String?
  }
}

/// Text in the macros of man(7). Its words are never read as a macro or an escape.
private struct Roff {
  private(set) var text = ""

  mutating func macro(_ name: String, _ words: [String] = []) {
    let quoted = words.map { " \"\(Self.escaped($0).replacing("\"", with: "\\(dq"))\"" }
    text += ".\(name)\(quoted.joined())\n"
  }

  /// Adds a line. `raw` text may contain escapes; other text is escaped.
  mutating func line(_ words: String, raw: Bool = false) {
    guard !words.isEmpty else { return }
    let words = raw ? words : Self.escaped(words)
    text += (words.hasPrefix(".") ? "\\&" : "") + words + "\n"
  }

  /// Adds paragraphs, separated by empty lines. Lines that begin with spaces are kept as they are.
  mutating func paragraphs(_ words: String) {
    var isVerbatim = false
    var isBegun = false
    for line in words.split(separator: "\n", omittingEmptySubsequences: false) {
      let isIndented = line.hasPrefix(" ")
      if isIndented != isVerbatim { macro(isIndented ? "EX" : "EE") }
      if !isIndented, line.isEmpty || !isBegun { macro("PP") }
      (isVerbatim, isBegun) = (isIndented, true)
      self.line(String(line))
    }
    if isVerbatim { macro("EE") }
  }

  /// The characters that roff reads as escapes or prints as signs that no shell accepts
  /// (groff_char(7)).
  private static let names: [Unicode.Scalar: String] = [
    "\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti",
  ]

  static func escaped(_ words: String) -> String {
    words.unicodeScalars.map { scalar in
      // groff requires four digits at least, in upper case.
      let code = scalar.value.padded(to: 4, radix: 16).uppercased()
      return Self.names[scalar] ?? (scalar.isASCII ? "\(scalar)" : "\\[u\(code)]")
    }.joined()
  }
}
