import Foundation
import Quire
import QuireCore
import QuireExport
import QuireHTTP
import Synchronization

/// A message about the progress of a run, for a person or a program.
struct SyncNote: Sendable {
  enum Event: Sendable {
    /// A page was written. `parents` counts those whose listing was read, and all of them.
    case page(ExportReport, parents: (done: Int, count: Int)?)
    /// The client waits before another attempt, or a destination is waited for.
    case retry(after: Duration, reason: String)
    /// The client waits before the next request.
    case pause(Duration)
    case ended(SyncRun.Outcome)
  }

  let listing: String
  let event: Event

  /// The note as a line of JSON.
  var json: String {
    var members: [JSONValue.Member] = [.init("listing", .string(listing))]
    func add(_ name: String, _ text: String) { members.append(.init(name, .string(text))) }
    func addNumber(_ name: String, _ number: Int?) {
      if let number { members.append(.init(name, .number("\(number)"))) }
    }
    func addWait(_ wait: Duration) {
      members.append(.init("wait", .number("\(wait / .seconds(1))")))
    }
    switch event {
    case .page(let report, let parents):
      add("event", "running")
      // First what this command has read, then what all commands together have committed.
      addNumber("items", report.items)
      addNumber("pages", report.pages)
      addNumber("committedItems", report.checkpoint?.items ?? 0)
      addNumber("committedPages", report.checkpoint?.pages ?? 0)
      addNumber("requests", report.traffic.requests)
      addNumber("retries", report.traffic.retries)
      addNumber("total", report.walk.total?.value)
      addNumber("parentsDone", parents?.done)
      addNumber("parents", parents?.count)
    case .retry(let wait, let reason):
      add("event", "retry")
      add("message", reason)
      addWait(wait)
    case .pause(let wait):
      add("event", "pause")
      addWait(wait)
    case .ended(let outcome):
      add("event", outcome.kind.rawValue)
      if !outcome.words.isEmpty { add("message", outcome.words) }
    }
    return PrintableJSON.text(of: Data("\(JSONValue.object(members))".utf8))
  }
}

/// The output about a run: a line for each listing that ends, and on a terminal a live line with
/// rate, share, time left and waits of the listing that was updated last; or lines of JSON, at most
/// one a second for pages.
final class SyncLine: Sendable {
  private struct State {
    /// The live lines of the listings that are being read, by name.
    var lines: [String: (meter: ProgressMeter, notes: WaitNotes)] = [:]
    var written: ContinuousClock.Instant?
  }

  private let log: LogFormat
  /// Written on a terminal, too, where no live line shows a wait for the state's database.
  private let stateNotes = WaitNotes(isOn: true)
  private let state = Mutex(State())

  init(_ log: LogFormat) { self.log = log }

  func tell(_ note: SyncNote) {
    if log == .json {
      if case .page = note.event, !isDue() { return }
      return Diagnostics.writeRaw(note.json + "\n")
    }
    let (meter, notes) = line(of: note.listing)
    switch note.event {
    case .page(let report, let parents):
      notes.delivered()
      stateNotes.delivered()
      meter.update { line in
        line.name = note.listing
        (line.pages, line.items, line.bytes) = (report.pages, report.items, report.bytes)
        line.waitingFor = ""
        line.goal = Self.goal(report, parents)
      }
    case .retry(let wait, let reason):
      meter.update(urgent: true) { line in
        line.name = note.listing
        line.retries += 1
        line.waitingFor = "waiting for \(ProgressLine.span(wait)): \(reason)"
      }
      notes.retry(after: wait, reason: reason, remaining: nil)
    case .pause(let wait):
      meter.update(urgent: true) { line in
        line.name = note.listing
        line.waitingFor = "waiting for \(ProgressLine.span(wait))"
      }
      notes.pause(for: wait)
    case .ended(let outcome):
      state.withLock { $0.lines[note.listing] = nil }
      meter.clear()
      Diagnostics.write("\(note.listing): \(outcome.kind.rawValue), \(outcome.words)")
    }
  }

  /// Tells of a wait for the database that keeps the state of several machines.
  func tellWait(forState wait: Duration, _ error: any Error) {
    guard log == .text else {
      let line = JSONValue.object([
        .init("event", .string("retry")), .init("message", .string("\(error)")),
        .init("wait", .number("\(wait / .seconds(1))")),
      ])
      return Diagnostics.writeRaw(PrintableJSON.text(of: Data("\(line)".utf8)) + "\n")
    }
    for line in state.withLock({ Array($0.lines.values) }) { line.meter.clear() }
    stateNotes.retry(after: wait, reason: "\(error)", remaining: nil)
  }

  private func line(of listing: String) -> (meter: ProgressMeter, notes: WaitNotes) {
    state.withLock { state in
      if let line = state.lines[listing] { return line }
      let meter = ProgressMeter(.auto)
      let notes = WaitNotes(isOn: !meter.isShown) { Diagnostics.write("\(listing): \($0)") }
      state.lines[listing] = (meter, notes)
      return (meter, notes)
    }
  }

  private static func goal(
    _ report: ExportReport, _ parents: (done: Int, count: Int)?
  ) -> ProgressLine.Goal? {
    if let parents { return .parents(done: parents.done, of: parents.count) }
    return ProgressLine.goal(
      total: report.walk.total, limits: Limits(), resumed: report.isResumed, items: report.items)
  }

  private func isDue() -> Bool {
    state.withLock { state in
      if let written = state.written, .now - written < .seconds(1) { return false }
      state.written = .now
      return true
    }
  }
}
