import QuirePagination
import QuireXML
import ArgumentParser
import Foundation
import Quire

/// An export, ready to run: every option understood, nothing requested yet.
struct ExportPlan: Sendable {
  var url: String
  var pagination: Pagination
  /// How this command line can follow the library's advice.
  var words: RemedyWords
  var format: RequestArguments.Format
  var isRaw: Bool
  var pageSize: Int?
  var request: PageClient.RequestOptions
  var limits: Limits
  var lookAhead: Int
  var start: Position
  /// Whether the files are continued that are there.
  var isResumed: Bool
  var files: OutputFiles
  var badItems: BadItemsOption
  var xmlLimits = XMLLimits.api
  var progress: ProgressMeter.Mode
  var configuration: PageClient.Configuration
  var transport: CurlTransport

  /// Reads a command line's options. Throws a usage error that says which one cannot be right.
  init(_ command: ExportCommand) throws {
    url = try command.request.absoluteURL()
    pagination = try PaginationOption.description(command)
    words = RemedyWords(isDescribed: command.next == nil)
    format = command.request.format
    isRaw = command.raw
    pageSize = try Self.positive(command.pageSize, "--page-size")
    if pagination.size == nil, pagination.end.contains(.shortPage), let pageSize {
      // Nowhere to ask for it: it is what a full page has.
      pagination.size = Pagination.PageSize(default: pageSize)
      self.pageSize = nil
    }
    request = try command.request.options(for: pagination)
    request.expectsTotal = command.total != nil
    limits = Limits(
      pages: try Self.positive(command.maxPages, "--max-pages"),
      items: try Self.positive(command.maxItems, "--max-items"),
      bytes: try command.maxBytes.map { try SizeOption.bytes($0, for: "--max-bytes") },
      duration: try command.maxTime.map { try DurationOption.duration($0, for: "--max-time") },
      requests: try Self.positive(command.maxRequests, "--max-requests"))
    guard command.lookAhead >= 0 else {
      throw ValidationError("--look-ahead: a number of pages cannot be negative.")
    }
    lookAhead = command.lookAhead
    let point =
      command.restart
      ? nil : try command.from.map { try ResumePoint($0, isChecked: !command.unchecked) }
    guard !command.unchecked || command.from != nil else {
      throw ValidationError("--unchecked needs --from: there is nothing to check.")
    }
    start = point?.position ?? .start
    isResumed = point != nil
    badItems = try BadItemsOption(command.badItems)
    progress = command.progress
    configuration = PageClient.Configuration()
    try command.request.limit(&configuration)
    configuration.signer = try command.sign.map { try SignOption.signer($0) }
    configuration.retry = .export
    if let retries = command.retries {
      guard retries >= 0 else {
        throw ValidationError("--retries: a number of requests cannot be negative.")
      }
      configuration.retry.attempts = retries == .max ? .max : retries + 1
      configuration.retry.polls = retries
    }
    if let patience = command.patience {
      configuration.retry.patience = try DurationOption.duration(patience, for: "--patience")
    } else if command.retries == 0 {
      configuration.retry.patience = .zero
    }
    configuration.retry.maximumRetryAfter = try DurationOption.duration(
      command.maxRetryAfter, for: "--max-retry-after")
    configuration.badItems = badItems == .fail ? .throw : .collect
    transport = try command.request.transport()
    files = try OutputFiles(command, badItems: badItems, from: point)
    for text in command.limit { try LimitOption.apply(text, to: &self) }
    try checkDescription(needsPageSize: command.end.contains("short"))
  }

  /// What the first request would throw, before anything is opened or emptied.
  private func checkDescription(needsPageSize: Bool) throws {
    if pageSize != nil, pagination.size?.send == nil {
      throw ValidationError(
        "--page-size: this description does not say where a page size goes. Say it by --size, such "
          + "as --size query:limit.")
    }
    do {
      let engine = try engine()
      if let error = engine.identity.objection(to: start) {
        throw ValidationError("--from: \(words.message(error))")
      }
      if needsPageSize, engine.pageSize == nil {
        throw ValidationError("--end short: say by --page-size how many items a full page has.")
      }
    } catch let error as PageError {
      throw ValidationError(words.message(error))
    }
  }

  /// What reads the description for the first request. Throws a `PageError` where it cannot work.
  func engine() throws -> PaginationEngine {
    let first = PageRequest(
      method: request.method, url: url, headerFields: request.headers, body: request.body)
    return try PaginationEngine(
      pagination, first: first, home: try Origin(url: url), pageSize: pageSize)
  }

  private static func positive(_ value: Int?, _ option: String) throws -> Int? {
    if let value, value < 1 { throw ValidationError("\(option): must be at least 1.") }
    return value
  }
}

extension ExportPlan {
  /// Walks the listing and writes its items. What ends it is in the outcome; only files that
  /// cannot be written throw, before anything is requested, and what `publish` throws. The files stay
  /// ours until that has returned.
  @discardableResult
  func run(
    publish: (ExportOutcome) async throws -> Void = { _ in }
  ) async throws -> ExportOutcome {
    let meter = ProgressMeter(progress)
    var outcome = ExportOutcome(start: start, words: words)
    // An export that fails before it opens its files keeps the record of those written before.
    (outcome.output, outcome.badItemsOutput) = (files.point?.output, files.point?.badItems)
    let clock = ContinuousClock()
    let began = clock.now
    var open: OutputFiles.Open?
    defer { withExtendedLifetime(open) {} }
    do {
      let files = try await files.open()
      open = files
      outcome.fileWarnings = files.warnings
      try await export(to: files, meter, &outcome)
    } catch is CancellationError {
      outcome.end = .interrupted
    }
    outcome.elapsed = clock.now - began
    meter.clear()
    try await publish(outcome)
    return outcome
  }

  private func export(
    to open: OutputFiles.Open, _ meter: ProgressMeter, _ outcome: inout ExportOutcome
  ) async throws {
    let writer = open.items
    let aside = BadItemWriter(open.badItems, meter: meter)
    let notes = WaitNotes(isOn: !meter.isShown)
    let wire = WireObserver(meter, notes)
    var pages = makePages(wire)
    do {
      while let page = try await pages.next() {
        notes.delivered()
        for item in page.items { writer.appendLine(item.append) }
        try aside.write(page)
        try writer.commit()
        outcome.wrote(page, bytes: writer.bytesWritten)
        show(outcome, on: meter)
      }
      try aside.finish()
      try writer.finish()
      outcome.end = .walk
    } catch is CancellationError {
      outcome.end = .interrupted
    } catch let failure as OutputFailure {
      outcome.end = failure.isClosedPipe ? .outputClosed : .outputFailed(failure)
    } catch let error as PageError {
      outcome.failed(error)
    }
    // What a crash of the machine takes back must not be in a report.
    if case .walk = outcome.end {
    } else {
      writer.confirm()
      aside.confirm()
    }
    (outcome.output, outcome.badItemsOutput) = (writer.record, aside.record)
    outcome.left(pages.report)
    await pages.close()
    outcome.wire = wire.numbers
  }

  private func show(_ outcome: ExportOutcome, on meter: ProgressMeter) {
    meter.update { line in
      line.pages = outcome.pages
      line.items = outcome.items
      line.bytes = outcome.traffic.bytes
      line.retries = outcome.traffic.retries
      line.goal = ProgressLine.goal(
        total: outcome.total, limits: limits, resumed: start != .start, items: outcome.items)
      line.waitingFor = "waiting for page \(outcome.pages + 1)"
    }
  }

  private func makePages(_ wire: WireObserver) -> ExportPages {
    var configuration = configuration
    configuration.onEvent = { wire.received($0) }
    let client = PageClient(transport: transport, configuration: configuration).audited
    let cursor = client.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: ExportItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
    return ExportPages(
      cursor.limited(to: limits).resuming(from: start), lookAhead: lookAhead)
  }
}

/// The pages of an export, with or without look-ahead.
struct ExportPages {
  private let walk: Walk<ExportItem>?
  private let paginator: Paginator<ExportItem>?
  private var walked: Walk<ExportItem>.Iterator?
  private var paginated: Paginator<ExportItem>.Iterator?

  /// Loads `lookAhead` pages while earlier ones are written; 0 loads each page when it is asked for.
  init(_ cursor: Cursor<ExportItem>, lookAhead: Int) {
    if lookAhead == 0 {
      let walk = cursor.walk()
      self.walk = walk
      paginator = nil
      walked = walk.makeAsyncIterator()
    } else {
      let paginator = Paginator(cursor, maxPagesAhead: lookAhead)
      walk = nil
      self.paginator = paginator
      paginated = paginator.makeAsyncIterator()
    }
  }

  mutating func next() async throws -> Page<ExportItem>? {
    if walk != nil { return try await walked?.next() }
    return try await paginated?.next()
  }

  /// Cancels what is in flight, and returns when the server holds nothing for the walk any more:
  /// a process that ended at once would leave that open.
  mutating func close() async {
    walked = nil
    paginated = nil
    await walk?.close()
    await paginator?.close()
  }

  /// What the walk did.
  var report: WalkReport { walk?.report ?? paginator?.report ?? WalkReport() }
}
