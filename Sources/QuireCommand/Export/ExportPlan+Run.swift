import ArgumentParser
import Logging
import Quire

extension ExportPlan {
  /// Walks the listing and writes its items. Whatever ends it is in the outcome; only files that
  /// cannot be written throw, before anything is requested, and what `publish` throws. The files stay
  /// ours until that has returned.
  @discardableResult
  func run(
    publish: (ExportOutcome) async throws -> Void = { _ in }
  ) async throws -> ExportOutcome {
    let meter = ProgressMeter(progress)
    var outcome = ExportOutcome(start: start)
    outcome.isDescribed = isDescribed
    // What was written before is not lost to an export that never comes to its own files.
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
    let count = WireCount()
    let notes = WaitNotes(isOn: !meter.isShown)
    var pages = makePages(meter, count, notes)
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
    outcome.wire = count.numbers
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

  private func makePages(
    _ meter: ProgressMeter, _ count: WireCount, _ notes: WaitNotes
  ) -> ExportPages {
    var configuration = configuration
    configuration.logger = Logger(label: "quire") { _ in
      RetryNotice(meter: meter, count: count, notes: notes)
    }
    configuration.logger.logLevel = .info
    let client = PageClient(
      transport: CountingTransport(base: transport, count: count, notes: notes),
      configuration: configuration)
    let cursor = client.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: ExportItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
    return ExportPages(
      cursor.limited(to: limits).resuming(from: start), lookAhead: lookAhead)
  }
}
