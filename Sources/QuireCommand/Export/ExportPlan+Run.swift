import ArgumentParser
import Foundation
import Quire
import QuireExport

extension ExportPlan {
  /// Writes the listing into its destination. What ends it is in the outcome; only destinations that
  /// cannot be opened throw, before anything is requested, and what `publish` throws. The report's file
  /// stays ours until that has returned.
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
    // An export that fails before it opens its files keeps the record of those written before.
    let record = WrittenRecord(
      .init(output: files.point?.output, badItems: files.point?.badItems))
    do {
      report = try await files.openReport()
      try await export(meter, record, &outcome)
    } catch is CancellationError {
      outcome.end = .interrupted
    }
    outcome.elapsed = clock.now - began
    outcome.wrote(record.content)
    meter.clear()
    try await publish(outcome)
    return outcome
  }

  private func export(
    _ meter: ProgressMeter, _ record: WrittenRecord, _ outcome: inout ExportOutcome
  ) async throws {
    let notes = WaitNotes(isOn: !meter.isShown && log == nil)
    let wire = WireObserver(meter, notes)
    let (sink, start) = try await continued()
    var cursor = cursor(wire).limited(to: limits).resuming(from: start)
    if let parallel { cursor = cursor.parallel(parallel) }
    var export = Export(
      cursor, to: ExportDestination(files: files, base: sink, meter: meter, record: record))
    // Each page of a stream is out before the next is waited for.
    export.commits = sink == nil ? .eachPage : commits
    export.lookAhead = lookAhead
    export.restarts = restarts
    export.countsLimitsAnew = files.point != nil
    export.onProgress = { [self] report in
      notes.delivered()
      log?.wrote(report)
      show(report, on: meter)
    }
    let report = await export.outcome()
    if case .failed(let error) = report.end { try refuse(error, report) }
    outcome.ended(report, keepsCheckpoint: sink != nil, restarts: restarts)
    outcome.wire = wire.numbers
  }

  /// Throws what made an opening impossible; a destination that failed later is in the outcome.
  func refuse(_ error: any Error, _ report: ExportReport = ExportReport()) throws {
    switch error {
    case is ValidationError, is FileInUse: throw error
    case let error as SinkError where error.code == .inUse:
      throw FileInUse(message: "\(error)")
    case let error as SinkError
    where [.notOurs, .otherRequest, .damaged].contains(error.code):
      let sink = files.sink as? FileSink
      let appends = error.code == .notOurs && sink?.format == .jsonLines && sink?.mode != .append
      throw ValidationError(
        "\(error) --restart begins anew\(appends ? ", --mode append appends" : "").")
    case let error as SinkError
    where report.walk.pages == 0 && report.walk.traffic.requests == 0 && Self.isOfTheCommand(error):
      throw ValidationError("\(error)")
    default: return
    }
  }

  /// Whether another command line would help: a disk that is full or a server that is away is no fault of it.
  private static func isOfTheCommand(_ error: SinkError) -> Bool {
    let places = [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, ENXIO]
    return error.code != .writeFailed || error.reason.map(places.contains) == true
  }

  /// The sink, and where its run began: at `--from` where that is another place than the destination's own
  /// checkpoint.
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
      line.waitingFor = "waiting for page \(report.pages + 1)"
    }
  }

  private func cursor(_ wire: WireObserver) -> Cursor<RawItem> {
    var configuration = configuration
    configuration.onEvent = { [log] event in
      wire.received(event)
      log?.received(event)
    }
    return PageClient(transport: transport, configuration: configuration).audited.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: RawItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
  }
}
