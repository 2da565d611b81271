import Foundation
import Quire
import QuireCore
import QuireExport
import QuirePagination

/// How an export ended, and what it did.
///
/// Pages and items are those written, because only these can be resumed from. `wire` counts what
/// was transferred: more, if pages were loaded ahead, refused, or could not be written.
struct ExportOutcome: Sendable {
  /// Why the export stopped.
  enum End: Sendable {
    /// The walk ended; its report says how.
    case walk
    /// Nothing was left to do: the destination already held everything, or as much as the limits
    /// allow, as its report says.
    case nothing
    /// The walk failed.
    case failed(PageError)
    /// A signal stopped the export.
    case interrupted
    /// The reader of the output closed it, as `head` does.
    case outputClosed
    /// The output could not be written, for a reason in words.
    case outputFailed(String)
  }

  var end = End.interrupted
  /// What was written, and the traffic of the written pages and of the page that failed.
  private(set) var written = ExportReport()
  /// The files that were written.
  var files = WrittenRecord.Content()
  /// The translation of remedies into options of this command.
  let words: RemedyWords
  /// Everything that was transferred.
  var wire = WireObserver.Numbers()
  /// The position after the last written page; nil if nothing is left, or if the rest cannot be
  /// resumed.
  private(set) var checkpoint: Position?
  /// Why the rest cannot be resumed; nil if it can, or if nothing is left.
  private(set) var whyNotResumable: String?
  /// The report of the walk.
  var report = WalkReport()
  var elapsed: Duration = .zero
  /// Whether the destination holds the checkpoint, so that the same command continues the export.
  private(set) var keepsCheckpoint = false
  /// Whether the command has `--restart`.
  private var restarts = false

  /// Creates the outcome of an export that begins at `start`.
  init(start: Position, words: RemedyWords) {
    self.words = words
    checkpoint = start
  }

  /// Whether the listing ended.
  var isComplete: Bool {
    if case .walk = end, case .exhausted = report.end { return true }
    return false
  }

  /// The warnings for the caller, besides how the export ended.
  var warnings: [String] {
    let isFailed = if case .failed = end { true } else { false }
    var warnings = files.warnings + report.warnings.map(words.message)
    // A description has one way to recover.
    let recoveries = written.recoveries
    if let recovery = recoveries.last {
      let count = recoveries.count > 1 ? " \(recoveries.count) times" : ""
      warnings.append("the server refused its own cursor\(count): \(recovery.consequence).")
    }
    if case .walk = end, let failure = report.nextFailure {
      warnings.append(
        "what follows the last page cannot be reached: \(words.message(failure))")
    }
    if isFailed, written.pages > 0, let word = checkpoint?.endWord {
      let remedy = Remedy(
        .end, ["noNext:\(word)"], condition: "if that is how it says that no more follows")
      warnings.append(
        "the server's last cursor was \"\(word)\". \(words.text(remedy) ?? "")")
    }
    return warnings
  }

  /// Takes over how the export ended.
  mutating func takeEnd(of report: ExportReport, keepsCheckpoint: Bool, restarts: Bool) {
    (self.keepsCheckpoint, self.restarts) = (keepsCheckpoint, restarts)
    written = report
    if let kept = report.checkpoint { checkpoint = kept.position }
    switch report.end {
    case .running, .complete, .truncationSuspected: end = .walk
    case .limit, .alreadyComplete:
      end = if case .running = report.walk.end { .nothing } else { .walk }
    case .cancelled: end = .interrupted
    case .failed(let failure as OutputFailure):
      end = failure.isClosedPipe ? .outputClosed : .outputFailed("\(failure)")
    case .failed(let error as PageError): end = .failed(error)
    case .failed(let error): end = .outputFailed("\(error)")
    }
    takeWalkReport(report.walk)
    // The walk of a resumed run has seen only a part of it.
    if case .truncationSuspected(let declared) = report.end {
      self.report.end = .truncationSuspected(declared: declared)
    }
  }

  /// Takes over the walk's report after the walk ended. There is no checkpoint after the end of the
  /// listing, nor one that the end of the walk made useless.
  private mutating func takeWalkReport(_ report: WalkReport) {
    self.report = report
    if case .walk = end, report.checkpoint == nil { checkpoint = nil }
    guard let position = checkpoint?.afterWalk, position.isOver else { return }
    checkpoint = nil
    whyNotResumable = ListingIdentity.whyNotResumable
  }

  /// The number of items that the server declared and that are missing.
  private var missing: Int { written.checkpoint?.missing ?? 0 }

  /// Whether the destination held the whole export before.
  private var heldAll: Bool { if case .alreadyComplete = written.end { true } else { false } }

  /// Returns the exit status. A walk that may have lost items has failed.
  func status(signal: Int32?) -> ExitStatus {
    switch end {
    case .walk:
      if case .truncationSuspected = report.end { return .failed }
      return .ended
    case .nothing: return heldAll && !written.isComplete ? .failed : .ended
    case .outputClosed: return .ended
    case .interrupted: return signal.map { .interrupted(signal: $0) } ?? .failed
    case .failed, .outputFailed: return .failed
    }
  }

  /// Returns the end in a word or two, for reports.
  func endName(signal: Int32?) -> String {
    switch end {
    case .walk: return report.end.description
    case .nothing: return written.end.description
    case .failed(let error): return WalkReport.End.failed(error).description
    case .interrupted: return "interrupted"
    case .outputClosed: return "output closed"
    case .outputFailed: return "output failed"
    }
  }
}

extension ExportOutcome {
  /// Writes how the export ended: the reason, the warnings, the report's file, how to get the rest,
  /// and last the one-line report. Throws the exit status unless it is a success.
  func publish(
    signal: Int32?, report file: ReportFile?
  ) async throws {
    var status = status(signal: signal)
    if let explanation { Diagnostics.write("quire: \(explanation)") }
    for warning in warnings { Diagnostics.write("warning: \(warning)") }
    var stored = file
    do {
      try await file?.write(try json(signal: signal))
    } catch {
      if let file { Diagnostics.write("quire: \(file.failure(error))") }
      // Only a signal ends the wait for the reader of a pipe.
      (status, stored) = (Interruption.caught.map { .interrupted(signal: $0) } ?? .failed, nil)
    }
    if file == nil, isResumable, !keepsCheckpoint, let report = try? json(signal: signal) {
      stored = ResumeFile.write(report).map(ReportFile.file)
    }
    if let advice = advice(report: stored) { Diagnostics.write("quire: \(advice)") }
    Diagnostics.write(line(signal: signal))
    if status != .ended { throw status }
  }

  /// Returns the one-line report.
  func line(signal: Int32?) -> String {
    let seconds = elapsed / .seconds(1)
    let rate = seconds > 0 ? ", \(Int(Double(written.items) / seconds)) items/s" : ""
    var parts = [
      written.pages.counted("page"), written.items.counted("item"),
      "\(ProgressLine.size(wire.bytes)) in \(Self.rounded(seconds)) s\(rate)",
      wire.requests.counted("request"),
      wire.retries.counted("retry", "retries"),
    ]
    if wire.replays > 0 { parts.append(wire.replays.counted("replay")) }
    if written.traffic.badItems > 0 {
      parts.append(written.traffic.badItems.counted("item set aside", "items set aside"))
    }
    return "quire: \(endName(signal: signal)): \(parts.joined(separator: ", "))"
  }

  /// Whether a rest is left that can be resumed.
  private var isResumable: Bool { checkpoint != nil && checkpoint != .start && !isComplete }

  /// Returns how to get the rest; nil if there is none. It names the report and not the position,
  /// which may be as secret as a password.
  func advice(report: ReportFile?) -> String? {
    if whyNotResumable != nil {
      return "this export cannot be resumed: to get the rest, run the same command again"
    }
    guard isResumable else { return nil }
    if case .failed(let error) = end, let hindrance = Self.hindrance(error) {
      let how = keepsCheckpoint ? "with --restart" : "without --from"
      return "\(hindrance): to begin anew, run the same command \(how)"
    }
    if keepsCheckpoint {
      var advice = "to go on, run the same command "
      if restarts { advice += "without --restart" }
      guard let limit = reachedLimit else { return advice + (restarts ? "" : "again") }
      advice += "\(restarts ? " and " : "")with a higher --max-\(limit.rawValue), or none"
      guard written.checkpoint?.isReplacing == true else { return advice }
      return advice + ": the destination stays as it was until the run is complete"
    }
    switch report {
    case .file(let path)?:
      return "to resume, run the same command with --from \(CommandLineText.quoted(["@" + path]))"
    case .standardOutput?:
      return "to resume, run the same command with the report of standard output for --from"
    case nil:
      return "the position to resume from could not be stored; --report FILE says where it goes"
    }
  }

  /// Returns why the same command would fail in the same way; nil if it may go on.
  private static func hindrance(_ error: PageError) -> String? {
    switch error.code {
    case .cursorExpired: "nothing leads on from an expired cursor"
    case .loopDetected: "the listing leads back to where it was"
    case .stalledContent: "the export goes on only once the server sends other items"
    case .pageChanged where error.remedies.contains(Remedy(.position, ["start"])):
      "the export cannot go on inside a page that has changed"
    default: nil
    }
  }

  /// The limit of pages or items that was reached. It counts over all calls, so that the same
  /// command would request nothing more.
  private var reachedLimit: WalkReport.Limit? {
    switch end {
    case .walk: if case .limit(let limit) = report.end { limit } else { nil }
    case .nothing: if case .limit(let limit) = written.end { limit } else { nil }
    default: nil
    }
  }

  /// Returns the report as JSON.
  func json(signal: Int32?) throws -> Data {
    try PrintableJSON.report(ReportContent(outcome: self, signal: signal))
  }

  /// What went wrong, in full; nil if nothing did.
  private var explanation: String? {
    switch end {
    case .failed(let error): return words.line(error)
    case .outputFailed(let reason): return reason
    case .nothing:
      let items = (written.checkpoint?.items ?? 0).counted("item")
      guard heldAll else {
        let place =
          written.checkpoint?.isReplacing == true
          ? "What is to replace the destination" : "The destination"
        return "\(place) holds as much as was asked for: \(items). Nothing was requested."
      }
      let missing = missing > 0 ? ", \(missing) fewer than the server had declared" : ""
      return
        "The destination holds the whole export already: \(items)\(missing). Nothing was requested; "
        + "--mode replace or --restart fetches it anew, and --mode append adds to it."
    case .walk:
      guard case .truncationSuspected(let declared) = report.end else { return nil }
      return "The server declared \(declared) items and delivered \(declared - missing). "
        + "Items may be missing: compare the page size with the server's maximum, run again, or narrow "
        + "a search of which it gives only so many results."
        + (written.checkpoint?.fellShort == true
          ? " What the destination held stays: the same command reads all anew, and --restart takes what comes."
          : "")
    case .interrupted, .outputClosed: return nil
    }
  }

  static func rounded(_ seconds: Double) -> String {
    let hundredths = Int((seconds * 100).rounded())
    return "\(hundredths / 100)." + (hundredths % 100).padded(to: 2)
  }
}

extension PageRecovery {
  /// How the listing went on, and what that means for its items.
  fileprivate var consequence: String {
    switch self {
    case .restarted: "the listing began anew, so that items may have come twice"
    case .reopened: "the listing was opened again, so that later changes may show"
    case .resumed:
      "another one took its place, which may repeat or skip items that changed meanwhile"
    case .reanchored:
      "the listing began anew after the last item, which may repeat or skip items that changed meanwhile"
    }
  }
}

/// The report of an export as `--report` writes it. `--from @file` reads its checkpoint. Members
/// without a value are left out.
struct ReportContent: Encodable {
  let outcome: ExportOutcome
  let signal: Int32?

  func encode(to encoder: any Encoder) throws {
    let (written, files, wire) = (outcome.written, outcome.files, outcome.wire)
    let report = outcome.report
    var fields = encoder.container(keyedBy: MemberName.self)
    // `exhausted`, `already complete`, `limit (pages)`, `limit (items)`, `truncation suspected`,
    // `failed (code)`, `interrupted`, `output closed` or `output failed`.
    try fields.encode(outcome.endName(signal: signal), forKey: "end")
    try fields.encode(outcome.status(signal: signal).code, forKey: "status")
    try fields.encode(written.pages, forKey: "pages")
    try fields.encode(written.items, forKey: "items")
    // Line breaks included.
    try fields.encode(files.bytes, forKey: "bytesWritten")
    try files.output?.encode(into: &fields, prefix: "output")
    // After content decoding.
    try fields.encode(wire.bytes, forKey: "bytesReceived")
    // Those set aside by `--bad-items collect`.
    try fields.encode(written.traffic.badItems, forKey: "badItems")
    try files.badItems?.encode(into: &fields, prefix: "badItems")
    // Retries, replays and redirects included.
    try fields.encode(wire.requests, forKey: "requests")
    try fields.encode(wire.retries, forKey: "retries")
    // Requests that libcurl repeated on a new connection, because a reused one was dead.
    try fields.encode(wire.replays, forKey: "replays")
    try fields.encode(outcome.elapsed / .seconds(1), forKey: "seconds")
    try fields.encode(report.waitingForNetwork / .seconds(1), forKey: "secondsWaitingForNetwork")
    try fields.encode(report.waitingForConsumer / .seconds(1), forKey: "secondsWaitingForOutput")
    // What the walk adjusted on its own, and why.
    let changes = report.adjustments.map(\.description)
    if !changes.isEmpty { try fields.encode(changes, forKey: "adjustments") }
    // How the walk went on each time the server refused its cursor.
    let recoveries = written.recoveries.map(\.rawValue)
    if !recoveries.isEmpty { try fields.encode(recoveries, forKey: "recoveries") }
    try fields.encodeIfPresent(written.walk.total, forKey: "total")
    // Where to resume, or why nothing resumes although something is left.
    try fields.encodeIfPresent(outcome.checkpoint, forKey: "checkpoint")
    try fields.encodeIfPresent(outcome.whyNotResumable, forKey: "notResumable")
    try fields.encodeIfPresent(failure, forKey: "error")
  }

  private struct Failure: Encodable {
    let code: String
    let message: String
    var page: Int?
    var request: String?
    var attempts = 0
  }

  private var failure: Failure? {
    let error: PageError?
    switch outcome.end {
    case .failed(let failure): error = failure
    case .outputFailed(let reason): return Failure(code: "outputFailed", message: reason)
    // The walk stopped before it reached this error; a resumed export would reach it.
    case .walk, .nothing, .interrupted, .outputClosed: error = outcome.report.nextFailure
    }
    return error.map { error in
      Failure(
        code: error.code.description, message: outcome.words.message(error),
        page: error.pageIndex, request: error.request, attempts: error.attempts)
    }
  }
}
