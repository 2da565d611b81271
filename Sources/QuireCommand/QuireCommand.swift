import ArgumentParser

/// The command-line face of Quire.
@main
struct QuireCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "quire", abstract: "Drain paginated HTTP listings, safely and exactly.")
}
