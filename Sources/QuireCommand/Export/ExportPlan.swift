import ArgumentParser
import Foundation
import Quire
import QuireExport
import QuirePagination
import QuireXML

/// An export, ready to run: all options are checked, and nothing is requested yet.
struct ExportPlan: Sendable {
  var url: String
  var pagination: Pagination
  /// The translation of remedies into options of this command.
  var words: RemedyWords
  var format: FormatArguments.Format
  var isRaw: Bool
  var pageSize: Int?
  var request: PageClient.RequestOptions
  var limits: Limits
  var lookAhead: Int
  var start: Position
  /// Whether to begin anew, even if the destination holds an unfinished export.
  var restarts: Bool
  var commits: CommitPolicy
  /// The number of pages that load at once; they need known positions. Nil for one after the other.
  var parallel: Int?
  var files: OutputFiles
  var badItems: BadItemsOption
  var xmlLimits = XMLLimits.api
  var progress: ProgressMeter.Mode
  /// The writer of `--log json`; nil for text.
  var log: EventLog?
  var configuration: PageClient.Configuration
  var transport: CurlTransport

  /// Reads the options of a command line. Throws a usage error that names the wrong one.
  init(_ command: ExportCommand) throws {
    url = try command.request.absoluteURL()
    pagination = try PaginationOption.description(command)
    words = RemedyWords(isDescribed: command.next == nil, namesTotal: command.total != nil)
    format = command.format.format
    isRaw = command.raw
    pageSize = try NumberOption.number(command.pageSize, for: "--page-size")
    if pagination.size == nil, pagination.end.contains(.shortPage), let pageSize {
      // The request has no place for a page size, so it only says how many items a full page has.
      pagination.size = Pagination.PageSize(default: pageSize)
      self.pageSize = nil
    }
    request = try command.request.options(command.format, for: pagination)
    request.expectsTotal = command.total != nil
    limits = Limits(
      pages: try NumberOption.number(command.maxPages, for: "--max-pages"),
      items: try NumberOption.number(command.maxItems, for: "--max-items"),
      bytes: try command.maxBytes.map { try SizeOption.bytes($0, for: "--max-bytes") },
      duration: try command.maxTime.map { try DurationOption.duration($0, for: "--max-time") },
      requests: try NumberOption.number(command.maxRequests, for: "--max-requests"))
    lookAhead = try NumberOption.number(command.lookAhead, for: "--look-ahead", from: 0)
    let point = try Self.point(command)
    start = point?.position ?? .start
    restarts = command.restart
    commits = try Self.commits(command)
    parallel = try NumberOption.number(command.parallel, for: "--parallel", atMost: 1024)
    badItems = try BadItemsOption(command.badItems)
    log = command.log == .json ? EventLog() : nil
    progress = log == nil ? command.progress : .never
    configuration = try Self.configuration(command, badItems)
    transport = try command.request.transport(parallel: parallel)
    files = try OutputFiles(command, badItems: badItems, from: point)
    var limited = LimitOption.Values(configuration: configuration, limits: limits)
    for text in command.limit { try LimitOption.apply(text, to: &limited) }
    (configuration, xmlLimits, limits) = (limited.configuration, limited.xmlLimits, limited.limits)
    try checkDescription(
      needsPageSize: command.next != nil && pagination.end.contains(.shortPage))
  }

  /// Returns where `--from` begins the export; nil for the start, or for the destination's
  /// checkpoint.
  private static func point(_ command: ExportCommand) throws -> ResumePoint? {
    guard !command.unchecked || command.from != nil else {
      throw ValidationError("--unchecked needs --from: there is nothing to check.")
    }
    guard !command.restart else { return nil }
    return try command.from.map { try ResumePoint($0, isChecked: !command.unchecked) }
  }

  private static func configuration(
    _ command: ExportCommand, _ badItems: BadItemsOption
  ) throws -> PageClient.Configuration {
    var configuration = PageClient.Configuration.export
    try command.request.limit(&configuration)
    configuration.signer = try command.sign.map { try SignOption.signer($0) }
    configuration.retry.take(
      retries: try NumberOption.number(command.retries, for: "--retries", from: 0),
      patience: try command.patience.map { try DurationOption.duration($0, for: "--patience") })
    configuration.retry.maximumRetryAfter = try DurationOption.duration(
      command.maxRetryAfter, for: "--max-retry-after")
    configuration.badItems = badItems == .fail ? .throw : .collect
    return configuration
  }

  /// Throws as a usage error what the first request would throw, before a file is opened or
  /// emptied.
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
      try engine.builder.checkBody()
      if needsPageSize, engine.pageSize == nil {
        throw ValidationError("--end shortPage: say by --page-size how many items a full page has.")
      }
    } catch let error as PageError {
      throw ValidationError(words.message(error))
    }
  }

  /// Returns the engine for the first request. Throws `PageError` if the description cannot work.
  func engine() throws -> PaginationEngine {
    let first = PageRequest(
      method: request.method, url: url, headerFields: request.headers, body: request.body)
    return try PaginationEngine(
      pagination, first: first, home: try Origin(url: url), pageSize: pageSize)
  }

  /// Returns how often to commit.
  private static func commits(_ command: ExportCommand) throws -> CommitPolicy {
    guard let text = command.commitEvery else { return CommitPolicy() }
    let time = try DurationOption.duration(text, for: "--commit-every")
    return time == .zero ? .eachPage : CommitPolicy(time: time)
  }
}

extension ExportPlan {
  /// Writes the listing into its destination, and returns how that ended. Throws only if a
  /// destination cannot be opened, before any request, or what `publish` throws. The report's file
  /// stays locked until `publish` has returned.
  @discardableResult
  func run(
    publish: (ExportOutcome) async throws -> Void = { _ in }
  ) async throws -> ExportOutcome {
    let meter = ProgressMeter(progress)
    var outcome = ExportOutcome(start: start, words: words)
    let clock = ContinuousClock()
    let began = clock.now
    var report: OutputFile?
    defer { withExtendedLifetime(report) {} }
    // If the export fails before it opens its files, these entries of the earlier report stay
    // valid.
    let record = WrittenRecord(
      .init(output: files.point?.output, badItems: files.point?.badItems))
    do {
      report = try await files.openReport()
      try await export(meter, record, &outcome)
    } catch is CancellationError {
      outcome.end = .interrupted
    }
    outcome.elapsed = clock.now - began
    outcome.files = record.content
    meter.clear()
    try await publish(outcome)
    return outcome
  }

  private func export(
    _ meter: ProgressMeter, _ record: WrittenRecord, _ outcome: inout ExportOutcome
  ) async throws {
    let notes = WaitNotes(isOn: !meter.isShown && log == nil)
    let wire = WireObserver(meter, notes)
    var configuration = configuration
    configuration.onEvent = { [log] event in
      wire.received(event)
      log?.received(event)
    }
    let (sink, start) = try await continued()
    var cursor = cursor(configuration).limited(to: limits).resuming(from: start)
    if let parallel { cursor = cursor.parallel(parallel) }
    var export = Export(
      cursor, to: ExportDestination(files: files, base: sink, meter: meter, record: record))
    // Each page is written to a stream before the export waits for the next one.
    export.commits = sink == nil ? .eachPage : commits
    export.lookAhead = lookAhead
    export.restarts = restarts
    export.countsLimitsAnew = files.point != nil
    export.onProgress = { [self] report in
      notes.delivered()
      log?.wrote(report)
      show(report, on: meter)
    }
    export.onWait = { [log] wait, error in
      wire.waits(wait, for: error)
      log?.waits(wait, for: error)
    }
    let report = await export.outcome()
    if case .failed(let error) = report.end { try refuse(error, report) }
    outcome.takeEnd(of: report, keepsCheckpoint: sink != nil, restarts: restarts)
    outcome.wire = wire.numbers
  }

  /// Throws the errors that made opening impossible. A later failure of the destination is in the
  /// outcome.
  func refuse(_ error: any Error, _ report: ExportReport = ExportReport()) throws {
    guard report.walk.pages == 0, report.walk.traffic.requests == 0 else { return }
    switch error {
    case is ValidationError, SinkError.Code.inUse: throw error
    case let error as SinkError
    where [.notOurs, .otherRequest, .damaged].contains(error.code):
      let sink = files.sink as? FileSink
      let appends = error.code == .notOurs && sink?.format == .jsonLines && sink?.mode != .append
      throw ValidationError(
        "\(error) --restart begins anew\(appends ? ", --mode append appends" : "").")
    case let error as SinkError where Self.isCommandLineError(error):
      throw ValidationError("\(error)")
    default: return
    }
  }

  /// Whether the command line is to blame, and not a full disk or an unreachable server.
  private static func isCommandLineError(_ error: SinkError) -> Bool {
    let places = [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, ENXIO]
    return error.code != .writeFailed || error.reason.map(places.contains) == true
  }

  /// Returns the sink and where its run began: at `--from`, or at the start of the destination's
  /// own checkpoint if `--from` is that checkpoint.
  private func continued() async throws -> (sink: (any Sink)?, start: Position) {
    guard let point = files.point, var sink = files.sink as? FileSink else {
      return (files.sink, start)
    }
    let kept = sink.committed
    let isKept = kept?.checkpoint?.position == point.position
    let file = try await OutputFile("-o", path: sink.path, appending: true)
    let isPlain = sink.format == .jsonLines
    guard isPlain || isKept || file.size == 0 else {
      throw ValidationError(
        "--from: \(file.name) can be gone on with only from its own checkpoint: leave --from out, or "
          + "write the rest to another file.")
    }
    let content =
      isPlain ? try ContinuedFile(file).checkedContent(for: point, record: point.output) : nil
    if isKept, let checkpoint = kept?.checkpoint { return (sink, checkpoint.start) }
    var checkpoint = Checkpoint(start: start, listing: try engine().identity.digests)
    checkpoint.position = start
    sink.adopted = FileSink.Content(
      length: file.size, sum: (content?.checksum ?? FileSum()).text, checkpoint: checkpoint)
    return (sink, start)
  }

  private func show(_ report: ExportReport, on meter: ProgressMeter) {
    meter.update { line in
      line.pages = report.pages
      line.items = report.items
      line.bytes = report.traffic.bytes
      line.retries = report.traffic.retries
      line.goal = ProgressLine.goal(
        total: report.walk.total, limits: limits, resumed: start != .start || report.isResumed,
        items: report.items)
      // When all is there, most listings end without another page.
      line.waitingFor = line.fraction == 1 ? "" : "waiting for page \(report.pages + 1)"
    }
  }

  /// Returns the listing, read by a client with `configuration`.
  func cursor(_ configuration: PageClient.Configuration) -> Cursor<RawItem> {
    var configuration = configuration
    format.ask(by: &configuration)
    return PageClient(transport: transport, configuration: configuration).audited.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: RawItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
  }
}
