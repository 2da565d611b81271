import ArgumentParser
import Foundation
import Quire
import QuireCore

/// `quire detect`: how a listing is paged, and how sure that is.
struct DetectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "detect",
    abstract: "Find out from one answer how a listing is paged.",
    discussion: """
      Names a preset or puts a description together, says what speaks for it and how sure it is \
      (verified, likely or possible), and prints the command line and the Swift line to use. The \
      second and the third page are asked for to be sure; nothing else is. Where the answer does not \
      tell, or what it tells is refuted, it says what the answer has, and the exit status is 1.
      """)

  @OptionGroup var request: RequestArguments

  @Option(
    parsing: .unconditional,
    help: ArgumentHelp("Descriptions to check at most; 0 to look only.", valueName: "n"))
  var checks = 3

  @Option(help: ArgumentHelp("Write the description, for --pagination.", valueName: "file.json"))
  var save: String?

  func run() async throws {
    guard checks >= 0 else { throw ValidationError("--checks: a number cannot be negative.") }
    if let save { try ReportFile.file(save).check(for: "--save") }
    let url = try request.absoluteURL()
    let options = try request.options(for: nil)
    let links = try request.linkPolicy()
    var configuration = PageClient.Configuration()
    configuration.allowsPlainHTTP = request.allowPlainHTTP
    let client = PageClient(transport: try request.transport(), configuration: configuration)
    let decoder = ExportItem.decoder(for: request.format, raw: false, xmlLimits: .api)
    let (checks, words) = (checks, DetectionText(request, options: options, url: url, saved: save))
    let (result, signal) = await Interruption.catching {
      try await client.detect(
        at: url, request: options, links: links, checks: checks, decoder: decoder)
    }
    if let signal { throw ExitStatus.interrupted(signal: signal) }
    try await publish(result, words)
  }

  private func publish(
    _ result: Result<Detection, any Error>, _ words: DetectionText
  ) async throws {
    let detection: Detection
    do {
      detection = try result.get()
    } catch let error as PageError {
      throw Diagnostics.failure(error)
    }
    print(words.text(for: detection).escapedLinesForDisplay)
    guard let best = detection.best else { throw ExitStatus.failed }
    guard let save else { return }
    do {
      try await ReportFile.file(save).write(
        JSONText.printable(Data((best.pagination.json + "\n").utf8)), isPrivate: false)
      Diagnostics.write("quire: wrote the description to \(save).")
    } catch {
      Diagnostics.write("quire: cannot write the description to \(save).")
      throw ExitStatus.failed
    }
  }
}
