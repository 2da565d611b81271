import QuirePagination
import ArgumentParser
import Foundation
import QuireHTTP

/// The `quire` tool.
@main
struct QuireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quire",
    abstract: "Drain paged HTTP listings, safely and exactly.",
    discussion: """
      Exit status: 0 when it ended as asked, 1 when it failed, 2 when the command line cannot be \
      right. Ctrl-C, SIGTERM and SIGHUP end it cleanly, then as a signal does: 130, 143 and 129 in a \
      shell.
      """,
    version: "0.1.0-dev",
    subcommands: [
      ExportCommand.self, SyncCommand.self, FeedCommand.self, DetectCommand.self,
      PresetsCommand.self,
      DemoCommand.self, ManualCommand.self,
    ])

  static func main() async {
    StandardDescriptors.secure()
    // A closed pipe is then an error of `write` and does not end the process.
    signal(SIGPIPE, SIG_IGN)
    keepMemory()
    Diagnostics.exit(with: await status(of: CommandLine.arguments.dropFirst().map { $0 }))
  }

  /// Makes glibc keep freed memory of up to 32 MiB for the next page (mallopt(3)). Returning it to
  /// the system and taking it again would cost a page fault for every 4 KiB. Other C libraries have
  /// no such setting.
  private static func keepMemory() {
    typealias Setting = @convention(c) (_ parameter: Int32, _ value: Int32) -> Int32
    guard let symbol = dlsym(nil, "mallopt") else { return }
    let set = unsafeBitCast(symbol, to: Setting.self)
    let (trimThreshold, mappingThreshold) = (Int32(-1), Int32(-3))
    for parameter in [trimThreshold, mappingThreshold] { _ = set(parameter, 32 << 20) }
  }

  /// Runs one command line and returns its exit status.
  static func status(of arguments: [String]) async -> ExitStatus {
    var name = "quire"
    if let complaint = unknownSubcommand(in: arguments) {
      Diagnostics.write(lines: "Error: \(complaint)\nSee 'quire --help' for more information.")
      return .usage
    }
    do {
      var command = try command(of: arguments)
      name = type(of: command).configuration.commandName.map { "quire \($0)" } ?? name
      if var asynchronous = command as? any AsyncParsableCommand {
        if let complaint = DescriptorCheck.complaint() { return Diagnostics.failure(complaint) }
        try await asynchronous.run()
      } else {
        try command.run()
      }
      return .ended
    } catch let status as ExitStatus {
      return status
    } catch let error as ValidationError {
      // Thrown by a command. ArgumentParser no longer knows its name.
      Diagnostics.write(
        lines: "Error: \(error.message)\nSee '\(name) --help' for more information.")
      return .usage
    } catch {
      return report(error)
    }
  }

  /// Parses a command line by its subcommand alone, which takes a third of the time. Everything
  /// that the subcommand does not accept, including help and mistakes, is parsed by the root
  /// command, whose messages contain the full name of the command.
  private static func command(of arguments: [String]) throws -> any ParsableCommand {
    let type = configuration.subcommands.first { type in
      type.configuration.commandName == arguments.first
    }
    if let type, let command = try? type.parseAsRoot(Array(arguments.dropFirst())),
      Swift.type(of: command) == type
    {
      return command
    }
    return try parseAsRoot(arguments)
  }

  /// Writes an error of ArgumentParser, which has three kinds: requested help, a wrong command
  /// line, and an error thrown by a command.
  private static func report(_ error: any Error) -> ExitStatus {
    let message = fullMessage(for: error)
    switch exitCode(for: error) {
    case .success:
      print(message)
      return .ended
    case .validationFailure:
      Diagnostics.write(lines: withoutFarSuggestion(message))
      return .usage
    default:
      // "Error" is for wrong command lines; later failures begin with the tool's name.
      let words = message.hasPrefix("Error: ") ? String(message.dropFirst(7)) : message
      Diagnostics.write(lines: "quire: \(words)")
      return .failed
    }
  }

  /// Returns a message if the first word is not a subcommand. ArgumentParser would call it an
  /// unexpected argument, or print the general help.
  private static func unknownSubcommand(in arguments: [String]) -> String? {
    let names = configuration.subcommands.compactMap { $0.configuration.commandName }
    let word = arguments.first == "help" ? arguments.dropFirst().first : arguments.first
    guard let word, !word.hasPrefix("-"), !names.contains(word), word != "help" else { return nil }
    let hint =
      NearestName.find(word, in: names).map { "Did you mean \"\($0)\"?" }
      ?? "There are \(names.joined(separator: ", "))."
    return "There is no subcommand \"\(word)\". \(hint)"
  }

  /// Returns the message without a suggestion that is too far from what was typed; ArgumentParser
  /// suggests almost anything.
  private static func withoutFarSuggestion(_ message: String) -> String {
    message.replacing(#/(Unknown option '-+([^']+)'\.) Did you mean '-+([^']+)'\?/#) { match in
      let isNear = NearestName.find(String(match.2), in: [String(match.3)]) != nil
      return String(isNear ? match.0 : match.1)
    }
  }
}
