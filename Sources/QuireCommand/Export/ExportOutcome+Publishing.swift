import Foundation
import QuireCore
import Quire

extension ExportOutcome {
  /// Says how the export ended: the reason where there is one, the report's file where one is
  /// wanted, how to get the rest, and the one-line report last. Throws the exit status unless it is
  /// a success.
  func publish(
    signal: Int32?, report file: ReportFile?, items: String? = nil
  ) async throws {
    var status = status(signal: signal)
    if let explanation { Diagnostics.write("quire: \(explanation)") }
    for warning in warnings { Diagnostics.write("warning: \(warning)") }
    var written = file
    do {
      try await file?.write(try json(signal: signal))
    } catch {
      Diagnostics.write("quire: cannot write the report to \(file?.name ?? "").")
      // Nothing but a signal ends the wait for a pipe that nobody reads.
      (status, written) = (Interruption.caught.map { .interrupted(signal: $0) } ?? .failed, nil)
    }
    if file == nil, isResumable, let report = try? json(signal: signal) {
      written = ResumeFile.write(report, items: items).map(ReportFile.file)
    }
    if let advice = advice(report: written) { Diagnostics.write("quire: \(advice)") }
    Diagnostics.write(line(signal: signal))
    if status != .ended { throw status }
  }

  /// The one-line report.
  func line(signal: Int32?) -> String {
    let seconds = elapsed / .seconds(1)
    let rate = seconds > 0 ? ", \(Int(Double(items) / seconds)) items/s" : ""
    var parts = [
      pages.counted("page"), items.counted("item"),
      "\(ProgressLine.size(wire.bytes)) in \(Self.rounded(seconds)) s\(rate)",
      wire.requests.counted("request"),
      wire.retries.counted("retry", "retries"),
    ]
    if wire.replays > 0 { parts.append(wire.replays.counted("replay")) }
    if traffic.badItems > 0 {
      parts.append(traffic.badItems.counted("item set aside", "items set aside"))
    }
    return "quire: \(endName(signal: signal)): \(parts.joined(separator: ", "))"
  }

  /// Whether there is a rest that an export without `--from` would not get by itself.
  private var isResumable: Bool { checkpoint != nil && checkpoint != .start && !isComplete }

  /// How to get the rest, by the report; nil where there is none to get. The position itself is not
  /// shown: it is the server's, and may be as good as a password.
  func advice(report: ReportFile?) -> String? {
    if whyNotResumable != nil {
      return "this export cannot be resumed: to get the rest, run the same command again"
    }
    guard isResumable else { return nil }
    switch report {
    case .file(let path)?:
      return "to resume, run the same command with --from \(CommandLineText.quoted(["@" + path]))"
    case .standardOutput?:
      return "to resume, run the same command with the report of standard output for --from"
    case nil:
      return "the position to resume from could not be stored; --report FILE says where it goes"
    }
  }

  /// The report as JSON.
  func json(signal: Int32?) throws -> Data {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return JSONText.printable(try encoder.encode(ExportReport(self, signal: signal)))
      + Data("\n".utf8)
  }

  /// What went wrong, in full; nil when nothing did.
  private var explanation: String? {
    switch end {
    case .failed(let error): return words(for: OptionWords.applied(to: "\(error)"))
    case .outputFailed(let failure): return "\(failure)"
    case .walk:
      guard case .truncationSuspected(let declared) = report.end else { return nil }
      return "The server declared \(declared) items and delivered \(report.items). "
        + "Items may be missing: compare the page size with the server's maximum, or run again."
    case .interrupted, .outputClosed: return nil
    }
  }

  static func rounded(_ seconds: Double) -> String {
    let hundredths = Int((seconds * 100).rounded())
    let rest = hundredths % 100
    return "\(hundredths / 100)." + (rest < 10 ? "0\(rest)" : "\(rest)")
  }
}
