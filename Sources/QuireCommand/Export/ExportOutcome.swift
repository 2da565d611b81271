import Quire

/// What an export did and how it ended.
///
/// Pages and items are those written, for only they can be resumed from. What went over the wire is
/// more with look-ahead, or when a page was refused or could not be written, and counts by itself.
struct ExportOutcome: Sendable {
  /// Why no more is written.
  enum End: Sendable {
    /// The walk came to its own end; its report says which.
    case walk
    /// The walk could not go on.
    case failed(PageError)
    /// A signal came.
    case interrupted
    /// Whoever read the output has gone, as `head` does.
    case outputClosed
    /// The output takes no more.
    case outputFailed(OutputFailure)
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
  /// Whether options such as --end cannot change the description.
  var isDescribed = false
  /// What is to be said of the files.
  var fileWarnings: [String] = []
  /// What fetching the written pages took, and the page that failed.
  private(set) var traffic = Traffic(requests: 0)
  /// What went over the wire.
  var wire = WireCount.Numbers()
  /// The last total the server declared.
  private(set) var total: Total?
  /// Where to resume: after the last page written; nil when nothing is left, or nothing leads there.
  private(set) var checkpoint: Position?
  /// Why the rest cannot be had by resuming; nil where it can, and where there is none.
  private(set) var whyNotResumable: String?
  /// What the walk itself has to say.
  var report = WalkReport()
  var elapsed: Duration = .zero

  /// An export that starts at `start`.
  init(start: Position) {
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
    var warnings =
      fileWarnings + report.warnings.map { OptionWords.text($0, isDescribed: isDescribed) }
    if case .walk = end, let failure = report.nextFailure {
      warnings.append(
        "what follows the last page cannot be reached: \(OptionWords.applied(to: failure.message))")
    }
    if isFailed, pages > 0, let word = checkpoint?.endWord {
      warnings.append(
        "the server's last cursor was \"\(word)\": if that is how it says that no more follows, use "
          + "--end \(CommandLineText.quoted(["sentinel:" + word])).")
    }
    return warnings.map(words)
  }

  /// A message in words that this command line can follow.
  func words(for message: String) -> String {
    isDescribed ? DescriptionWords.applied(to: message) : message
  }

  /// Takes in a page whose lines are out.
  mutating func wrote(_ page: Page<ExportItem>, bytes: Int) {
    pages += 1
    items += page.items.count
    bytesWritten = bytes
    traffic = traffic + page.traffic
    total = page.total ?? total
    checkpoint = page.checkpoint
  }

  /// Takes in what the walk has to say once it is left. A position that its end makes useless is no
  /// checkpoint, nor is there one behind the end.
  mutating func left(_ report: WalkReport) {
    self.report = report
    if case .walk = end, report.checkpoint == nil { checkpoint = nil }
    guard let position = checkpoint?.afterWalk, position.isOver else { return }
    checkpoint = nil
    whyNotResumable = ListingIdentity.whyNotResumable
  }

  /// Takes in what ended the walk.
  mutating func failed(_ error: PageError) {
    end = .failed(error)
    traffic = traffic + error.traffic
  }

  /// The exit status: a walk that may have lost items is no success.
  func status(signal: Int32?) -> ExitStatus {
    switch end {
    case .walk:
      if case .truncationSuspected = report.end { return .failed }
      return .ended
    case .outputClosed: return .ended
    case .interrupted: return signal.map { .interrupted(signal: $0) } ?? .failed
    case .failed, .outputFailed: return .failed
    }
  }

  /// The end in a word or two, for reports.
  func endName(signal: Int32?) -> String {
    switch end {
    case .walk: return report.end.description
    case .failed(let error): return WalkReport.End.failed(error).description
    case .interrupted: return "interrupted"
    case .outputClosed: return "output closed"
    case .outputFailed: return "output failed"
    }
  }
}
