import Foundation
import Quire
import QuireCore
import QuireExport
import QuireHTTP
import Synchronization

/// A message about the progress of a run, for a person or a program.
struct SyncNote: Sendable {
  var listing: String
  /// `running`, `retry`, `pause`, or how the listing ended.
  var kind: String
  var words: String
  var report: ExportReport?
  /// The number of parents whose listing was read, and of all parents.
  var parents: (done: Int, count: Int)?
  /// The length of the wait before the next attempt.
  var wait: Duration?
  var isLast = false

  init(_ listing: String, _ kind: String, _ words: String, isLast: Bool) {
    (self.listing, self.kind, self.words, self.isLast) = (listing, kind, words, isLast)
  }

  /// Creates a note about a page that was written.
  init(_ listing: String, _ report: ExportReport, _ parents: (done: Int, count: Int)?) {
    (self.listing, kind, words) = (listing, "running", "")
    (self.report, self.parents) = (report, parents)
  }

  /// Creates a note about a wait.
  init(_ listing: String, _ event: PageEvent) {
    self.listing = listing
    (kind, words) = ("pause", "")
    switch event {
    case .retry(let retry): (kind, words, wait) = ("retry", retry.message, retry.delay)
    case .pause(let time): wait = time
    default: break
    }
  }

  /// The note as a line of JSON.
  var json: String {
    var members: [JSONValue.Member] = [
      .init("listing", .string(listing)), .init("event", .string(kind)),
    ]
    func add(_ name: String, _ number: Int?) {
      if let number { members.append(.init(name, .number("\(number)"))) }
    }
    if !words.isEmpty { members.append(.init("message", .string(words))) }
    if let wait { members.append(.init("wait", .number("\(wait / .seconds(1))"))) }
    if let report {
      // First what this command has read, then what all commands together have committed.
      add("items", report.items)
      add("pages", report.pages)
      add("committedItems", report.checkpoint?.items ?? 0)
      add("committedPages", report.checkpoint?.pages ?? 0)
      add("requests", report.traffic.requests)
      add("retries", report.traffic.retries)
      add("total", report.walk.total?.value)
    }
    add("parentsDone", parents?.done)
    add("parents", parents?.count)
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
  private let mode: ProgressMeter.Mode
  private let state = Mutex(State())

  init(_ log: LogFormat, _ mode: ProgressMeter.Mode = .auto) {
    self.log = log
    self.mode = mode
  }

  func tell(_ note: SyncNote) {
    if log == .json {
      if note.report == nil || isDue() { Diagnostics.writeRaw(note.json + "\n") }
      return
    }
    let (meter, notes) = state.withLock { state in
      let line = state.lines[note.listing] ?? line(of: note.listing)
      state.lines[note.listing] = note.isLast ? nil : line
      return line
    }
    if note.isLast {
      meter.clear()
      Diagnostics.write("\(note.listing): \(note.kind), \(note.words)")
    } else {
      show(note, on: meter)
      say(note, in: notes)
    }
  }

  private func line(of listing: String) -> (meter: ProgressMeter, notes: WaitNotes) {
    let meter = ProgressMeter(mode)
    return (meter, WaitNotes(isOn: !meter.isShown) { Diagnostics.write("\(listing): \($0)") })
  }

  /// Writes a wait to standard error if no live line shows it.
  private func say(_ note: SyncNote, in notes: WaitNotes) {
    if note.report != nil { return notes.delivered() }
    guard let wait = note.wait else { return }
    if note.kind == "retry" {
      notes.retry(after: wait, reason: note.words, remaining: nil)
    } else {
      notes.pause(for: wait)
    }
  }

  private func show(_ note: SyncNote, on meter: ProgressMeter) {
    meter.update(urgent: note.wait != nil) { line in
      line.name = note.listing
      if let wait = note.wait {
        let reason = note.kind == "retry" ? ": \(note.words)" : ""
        line.retries += note.kind == "retry" ? 1 : 0
        line.waitingFor = "waiting for \(ProgressLine.span(wait))\(reason)"
      }
      guard let report = note.report else { return }
      (line.pages, line.items, line.bytes) = (report.pages, report.items, report.bytes)
      line.waitingFor = ""
      line.goal =
        if let parents = note.parents {
          .parents(done: parents.done, of: parents.count)
        } else {
          ProgressLine.goal(
            total: report.walk.total, limits: Limits(), resumed: report.isResumed,
            items: report.items)
        }
    }
  }

  private func isDue() -> Bool {
    state.withLock { state in
      if let written = state.written, .now - written < .seconds(1) { return false }
      state.written = .now
      return true
    }
  }
}
