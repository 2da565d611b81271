import ArgumentParser
import Foundation

/// `quire demo`: serves a demo API.
struct DemoCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo",
    _superCommandName: "quire",
    abstract: "Serve the bundled demo API on loopback: 10,000 records in many pagination styles.",
    discussion: """
      Prints the API's URL and how to export each style, and serves until Ctrl-C. With --tour it \
      exports every style itself, checks what came, and ends.
      """)

  @Option(help: "The port to listen on; 0 is any free one.")
  var port: UInt16 = 8080

  @Flag(help: "Export every style, check the records, print a table, and end.")
  var tour = false

  func run() async throws {
    let (port, tour) = (tour ? 0 : port, tour)
    let (result, signal) = await Interruption.catching {
      try await DemoServer.whileServing(port: port) { origin in
        if tour { return try await DemoTour.run(origin: origin) }
        Self.announce(origin: origin)
        try await Self.waitForCancellation()
      }
    }
    if let signal, tour { throw ExitStatus.interrupted(signal: signal) }
    if signal == nil { try result.get() }
  }

  /// Prints where the API is, on the first line, so that a script can read it.
  private static func announce(origin: String) {
    let rows = DemoStyle.all.map { style in
      "  \(origin)\(style.path)\n    \(style.summary)\n"
        + "    quire \(CommandLineText.quoted(style.command(origin: origin)))"
    }
    let text = """
      \(origin)
      \(DemoRecords.count) records in \(DemoStyle.all.count) styles; end with Ctrl-C.

      \(rows.joined(separator: "\n"))
      """
    print(text)
    fflush(nil)
  }

  private static func waitForCancellation() async throws {
    for await _ in AsyncStream<Never>.makeStream().stream {}
  }
}
