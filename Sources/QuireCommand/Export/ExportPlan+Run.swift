import ArgumentParser
import Logging
import Quire

extension ExportPlan {
  /// Walks the listing and writes its items. Whatever ends it is in the outcome; only an output
  /// that cannot be opened throws, a usage error.
  func run() async throws -> ExportOutcome {
    let meter = ProgressMeter(progress)
    let writer: LineWriter
    let aside: BadItemWriter
    do {
      writer = try LineWriter(path: files.items, appending: isResumed)
      aside = try BadItemWriter(badItems, appending: isResumed, meter: meter)
    } catch {
      throw ValidationError("\(error)")
    }
    var outcome = ExportOutcome(start: start, watch: watch)
    let count = WireCount()
    var pages = makePages(meter, count)
    let clock = ContinuousClock()
    let began = clock.now
    do {
      while let page = try await pages.next() {
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
    if case .walk = outcome.end {} else { writer.confirm() }
    outcome.outputBytes = writer.fileBytes
    outcome.left(pages.report)
    await pages.close()
    outcome.wire = count.numbers
    outcome.elapsed = clock.now - began
    meter.clear()
    return outcome
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

  private func makePages(_ meter: ProgressMeter, _ count: WireCount) -> ExportPages {
    var configuration = configuration
    configuration.logger = Logger(label: "quire") { _ in RetryNotice(meter: meter, count: count) }
    let client = PageClient(
      transport: CountingTransport(base: transport, count: count), configuration: configuration)
    let cursor = client.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: ExportItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
    return ExportPages(
      cursor.limited(to: limits).resuming(from: start), lookAhead: lookAhead)
  }
}
