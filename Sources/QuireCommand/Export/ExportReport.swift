import Quire

/// The report of an export as `--report` writes it. `--from @file` reads its checkpoint.
struct ExportReport: Encodable {
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
  /// Requests that libcurl repeated by itself, on a new connection for one that was dead.
  let replays: Int
  let seconds: Double
  let secondsWaitingForNetwork: Double
  let secondsWaitingForOutput: Double
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
    total = outcome.total
    checkpoint = outcome.checkpoint
    notResumable = outcome.whyNotResumable
    switch outcome.end {
    case .failed(let error):
      self.error = Failure(
        code: error.code.description,
        message: outcome.words(for: OptionWords.applied(to: error.message)),
        page: error.pageIndex, request: error.request, attempts: error.attempts)
    case .outputFailed(let failure):
      error = Failure(
        code: "outputFailed", message: failure.description, page: nil, request: nil, attempts: 0)
    case .walk, .interrupted, .outputClosed:
      // The walk stopped before it came to this; resuming does.
      error = outcome.report.nextFailure.map { error in
        Failure(
          code: error.code.description, message: OptionWords.applied(to: error.message),
          page: error.pageIndex, request: error.request, attempts: error.attempts)
      }
    }
  }
}
