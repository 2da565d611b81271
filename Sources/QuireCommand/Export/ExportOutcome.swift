import Foundation
import Quire
import QuireCore
import QuireExport

/// What an export did and how it ended.
///
/// Pages and items are those written, for only they can be resumed from. What went over the wire is
/// more with look-ahead, or when a page was refused or could not be written, and counts by itself.
struct ExportOutcome: Sendable {
  /// Why no more is written.
  enum End: Sendable {
    /// The walk came to its own end; its report says which.
    case walk
    /// Nothing was left to do, because the destination holds it all, or as much as was asked for.
    case nothing(ExportReport.End, Checkpoint?)
    /// The walk could not go on.
    case failed(PageError)
    /// A signal came.
    case interrupted
    /// The reader of the output closed it, as `head` does.
    case outputClosed
    /// The output takes no more, for a reason in words.
    case outputFailed(String)
  }

  var end = End.interrupted
  /// Pages written.
  private(set) var pages = 0
  /// Items written.
  private(set) var items = 0
  /// Bytes written.
  private(set) var bytesWritten = 0
  /// What is known of the file that was written to; nil where it was none.
  var output: FileRecord?
  /// The same of the file of items that were set aside.
  var badItemsOutput: FileRecord?
  /// How this command line can follow the library's advice.
  let words: RemedyWords
  /// What is to be said of the files.
  var fileWarnings: [String] = []
  /// What fetching the written pages took, and the page that failed.
  private(set) var traffic = WalkReport.Traffic(requests: 0)
  /// What went over the wire.
  var wire = WireObserver.Numbers()
  /// The last total the server declared.
  private(set) var total: Total?
  /// Where to resume: after the last page written; nil when nothing is left, or nothing leads there.
  private(set) var checkpoint: Position?
  /// Why the rest cannot be had by resuming; nil where it can, and where there is none.
  private(set) var whyNotResumable: String?
  /// What the walk itself has to say.
  var report = WalkReport()
  var elapsed: Duration = .zero
  /// How many items are missing that the server had declared, and whether what was there stays for that.
  private var missing = 0
  private var isKept = false
  /// Whether the destination knows where to go on, so that the same command does.
  private(set) var keepsCheckpoint = false
  /// Whether the command begins anew each time.
  private var restarts = false

  /// An export that starts at `start`.
  init(start: Position, words: RemedyWords = RemedyWords()) {
    self.words = words
    checkpoint = start
  }

  /// Whether the server had no more.
  var isComplete: Bool {
    if case .walk = end, case .exhausted = report.end { return true }
    return false
  }

  /// What the caller should know besides how the export ended.
  var warnings: [String] {
    let isFailed = if case .failed = end { true } else { false }
    var warnings = fileWarnings + report.warnings.map(words.message)
    if case .walk = end, let failure = report.nextFailure {
      warnings.append(
        "what follows the last page cannot be reached: \(words.message(failure))")
    }
    if isFailed, pages > 0, let word = checkpoint?.endWord {
      let remedy = Remedy(
        .end, ["sentinel:\(word)"], condition: "if that is how it says that no more follows")
      warnings.append(
        "the server's last cursor was \"\(word)\". \(words.text(remedy) ?? "")")
    }
    return warnings
  }

  /// Takes in what is known of the files.
  mutating func wrote(_ content: WrittenRecord.Content) {
    (output, badItemsOutput) = (content.output, content.badItems)
    bytesWritten = content.bytes
    fileWarnings += content.warnings
  }

  /// Takes in how the export ended.
  mutating func ended(_ report: ExportReport, keepsCheckpoint: Bool, restarts: Bool) {
    (self.keepsCheckpoint, self.restarts) = (keepsCheckpoint, restarts)
    (pages, items, traffic) = (report.pages, report.items, report.traffic)
    total = report.walk.total
    if let kept = report.checkpoint {
      (checkpoint, missing, isKept) = (kept.position, kept.missing ?? 0, kept.fellShort)
    }
    switch report.end {
    case .running, .complete, .truncationSuspected: end = .walk
    case .limit, .alreadyComplete:
      if case .running = report.walk.end {
        end = .nothing(report.end, report.checkpoint)
      } else {
        end = .walk
      }
    case .cancelled: end = .interrupted
    case .failed(let failure as OutputFailure):
      end = failure.isClosedPipe ? .outputClosed : .outputFailed("\(failure)")
    case .failed(let error as PageError): end = .failed(error)
    case .failed(let error): end = .outputFailed("\(error)")
    }
    left(report.walk)
    // The walk of a run that was continued has not seen all of it.
    if case .truncationSuspected(let declared) = report.end {
      self.report.end = .truncationSuspected(declared: declared)
    }
  }

  /// Takes in what the walk has to say once it is left. A position that its end makes useless is no
  /// checkpoint, nor is there one behind the end.
  private mutating func left(_ report: WalkReport) {
    self.report = report
    if case .walk = end, report.checkpoint == nil { checkpoint = nil }
    guard let position = checkpoint?.afterWalk, position.isOver else { return }
    checkpoint = nil
    whyNotResumable = ListingIdentity.whyNotResumable
  }

  /// The exit status: a walk that may have lost items is no success.
  func status(signal: Int32?) -> ExitStatus {
    switch end {
    case .walk:
      if case .truncationSuspected = report.end { return .failed }
      return .ended
    case .nothing(.alreadyComplete, let checkpoint):
      return checkpoint?.missing == nil ? .ended : .failed
    case .nothing: return .ended
    case .outputClosed: return .ended
    case .interrupted: return signal.map { .interrupted(signal: $0) } ?? .failed
    case .failed, .outputFailed: return .failed
    }
  }

  /// The end in a word or two, for reports.
  func endName(signal: Int32?) -> String {
    switch end {
    case .walk: return report.end.description
    case .nothing(let end, _): return end.description
    case .failed(let error): return WalkReport.End.failed(error).description
    case .interrupted: return "interrupted"
    case .outputClosed: return "output closed"
    case .outputFailed: return "output failed"
    }
  }
}

extension ExportOutcome {
  /// Says how the export ended: the reason where there is one, the report's file where one is
  /// wanted, how to get the rest, and the one-line report last. Throws the exit status unless it is
  /// a success.
  func publish(
    signal: Int32?, report file: ReportFile?
  ) async throws {
    var status = status(signal: signal)
    if let explanation { Diagnostics.write("quire: \(explanation)") }
    for warning in warnings { Diagnostics.write("warning: \(warning)") }
    var written = file
    do {
      try await file?.write(try json(signal: signal))
    } catch {
      if let file { Diagnostics.write("quire: \(file.failure(error))") }
      // Only a signal ends the wait for a pipe without a reader.
      (status, written) = (Interruption.caught.map { .interrupted(signal: $0) } ?? .failed, nil)
    }
    if file == nil, isResumable, !keepsCheckpoint, let report = try? json(signal: signal) {
      written = ResumeFile.write(report).map(ReportFile.file)
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

  /// Whether there is a rest that only `--from` gets.
  private var isResumable: Bool { checkpoint != nil && checkpoint != .start && !isComplete }

  /// How to get the rest, by the report; nil where there is none to get. The position itself is not
  /// shown: it is the server's, and may be as good as a password.
  func advice(report: ReportFile?) -> String? {
    if whyNotResumable != nil {
      return "this export cannot be resumed: to get the rest, run the same command again"
    }
    guard isResumable else { return nil }
    if case .failed(let error) = end, error.code == .cursorExpired {
      let how = keepsCheckpoint ? "with --restart" : "without --from"
      return "nothing leads on from an expired cursor: to begin anew, run the same command \(how)"
    }
    if keepsCheckpoint {
      var advice = "to go on, run the same command "
      if restarts { advice += "without --restart" }
      guard let limit = reachedLimit else { return advice + (restarts ? "" : "again") }
      return advice + "\(restarts ? " and " : "")with a higher --max-\(limit.rawValue), or none"
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

  /// The limit of pages or items that was met: it counts over all calls, so that the same command requests
  /// nothing more.
  private var reachedLimit: WalkReport.Limit? {
    switch end {
    case .walk: if case .limit(let limit) = report.end { limit } else { nil }
    case .nothing(.limit(let limit), _): limit
    default: nil
    }
  }

  /// The report as JSON.
  func json(signal: Int32?) throws -> Data {
    try PrintableJSON.report(ReportContent(self, signal: signal))
  }

  /// What went wrong, in full; nil when nothing did.
  private var explanation: String? {
    switch end {
    case .failed(let error): return words.line(error)
    case .outputFailed(let reason): return reason
    case .nothing(.alreadyComplete, let checkpoint):
      let items = (checkpoint?.items ?? 0).counted("item")
      let missing = checkpoint?.missing.map { ", \($0) fewer than the server had declared" } ?? ""
      return
        "The destination holds the whole export already: \(items)\(missing). Nothing was requested; "
        + "--mode replace or --restart fetches it anew, and --mode append adds to it."
    case .nothing(_, let checkpoint):
      return "The destination holds as much as was asked for: "
        + "\((checkpoint?.items ?? 0).counted("item")). Nothing was requested."
    case .walk:
      guard case .truncationSuspected(let declared) = report.end else { return nil }
      return "The server declared \(declared) items and delivered \(declared - missing). "
        + "Items may be missing: compare the page size with the server's maximum, run again, or narrow "
        + "a search of which it gives only so many results."
        + (isKept
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

/// The report of an export as `--report` writes it. `--from @file` reads its checkpoint.
struct ReportContent: Encodable {
  /// `exhausted`, `limit (pages)`, `limit (items)`, `truncation suspected`, `failed (code)`,
  /// `interrupted`, `output closed` or `output failed`.
  let end: String
  let status: Int32
  let pages: Int
  let items: Int
  /// Bytes of the items written, line breaks included.
  let bytesWritten: Int
  /// The file that they are in, its length once they were in it, and the CRC-32 of so many bytes of
  /// it: what `--from` goes on with. Nothing for what is no file.
  let outputFile: String?
  let outputBytes: Int?
  let outputChecksum: String?
  /// Bytes of the bodies received, content coding removed.
  let bytesReceived: Int
  /// Items set aside by `--bad-items collect`.
  let badItems: Int
  /// The same of the file that those are in.
  let badItemsFile: String?
  let badItemsBytes: Int?
  let badItemsChecksum: String?
  /// Requests on the wire, retries, replays and redirects included.
  let requests: Int
  /// Requests that repeated a failed one.
  let retries: Int
  /// Requests that libcurl repeated, on a new connection for one that was dead.
  let replays: Int
  let seconds: Double
  let secondsWaitingForNetwork: Double
  let secondsWaitingForOutput: Double
  /// What the walk changed by itself, and why; nothing where nothing was changed.
  let adjustments: [String]?
  /// The last total the server declared.
  let total: Total?
  /// Where to resume; nothing when the listing is complete, or cannot be resumed.
  let checkpoint: Position?
  /// Why there is no checkpoint although something is left.
  let notResumable: String?
  let error: Failure?

  struct Failure: Encodable {
    let code: String
    let message: String
    let page: Int?
    let request: String?
    let attempts: Int
  }

  init(_ outcome: ExportOutcome, signal: Int32?) {
    end = outcome.endName(signal: signal)
    status = outcome.status(signal: signal).code
    pages = outcome.pages
    items = outcome.items
    bytesWritten = outcome.bytesWritten
    outputFile = outcome.output?.path
    outputBytes = outcome.output?.bytes
    outputChecksum = outcome.output?.checksum
    badItemsFile = outcome.badItemsOutput?.path
    badItemsBytes = outcome.badItemsOutput?.bytes
    badItemsChecksum = outcome.badItemsOutput?.checksum
    bytesReceived = outcome.wire.bytes
    badItems = outcome.traffic.badItems
    requests = outcome.wire.requests
    retries = outcome.wire.retries
    replays = outcome.wire.replays
    seconds = outcome.elapsed / .seconds(1)
    secondsWaitingForNetwork = outcome.report.waitingForNetwork / .seconds(1)
    secondsWaitingForOutput = outcome.report.waitingForConsumer / .seconds(1)
    let changes = outcome.report.adjustments.map(\.description)
    adjustments = changes.isEmpty ? nil : changes
    total = outcome.total
    checkpoint = outcome.checkpoint
    notResumable = outcome.whyNotResumable
    switch outcome.end {
    case .failed(let error):
      self.error = Failure(
        code: error.code.description,
        message: outcome.words.message(error),
        page: error.pageIndex, request: error.request, attempts: error.attempts)
    case .outputFailed(let failure):
      error = Failure(
        code: "outputFailed", message: failure, page: nil, request: nil, attempts: 0)
    case .walk, .nothing, .interrupted, .outputClosed:
      // The walk stopped before it came to this; resuming does.
      error = outcome.report.nextFailure.map { error in
        Failure(
          code: error.code.description, message: outcome.words.message(error),
          page: error.pageIndex, request: error.request, attempts: error.attempts)
      }
    }
  }
}
