import Foundation
import Quire
import QuireExport
import QuirePagination

/// The output of `--log json`: what an export does, as lines of JSON on standard error.
///
/// Each line has an `event` and the `seconds` since the export began. The event is `page` for a
/// page that was written, `retry` or `pause` for a wait, and `recovery` where the listing goes on
/// after the server refused its cursor.
struct EventLog: Sendable {
  private let began = ContinuousClock.now

  /// The content of one line; nil members are left out.
  private struct Line: Encodable {
    var event: String
    var seconds: Double
    var pages: Int?
    var items: Int?
    var bytes: Int?
    /// The total that the server declared.
    var total: Total?
    /// The pages and the items that are committed to the destination.
    var committedPages: Int?
    var committedItems: Int?
    /// The length of the wait in seconds.
    var wait: Double?
    /// How the listing goes on after the server refused its cursor.
    var recovery: String?
    var code: String?
    var message: String?
    var request: String?
  }

  /// Writes a line for a page that was written.
  func wrote(_ report: ExportReport) {
    var line = line("page")
    (line.pages, line.items, line.bytes) = (report.pages, report.items, report.traffic.bytes)
    line.total = report.walk.total
    (line.committedPages, line.committedItems) = (
      report.checkpoint?.pages, report.checkpoint?.items
    )
    write(line)
  }

  /// Writes a line for a wait for the destination.
  func waits(_ wait: Duration, for error: any Error) {
    var line = line("retry")
    (line.wait, line.message) = (wait / .seconds(1), "\(error)")
    write(line)
  }

  /// Writes a line for an event of the client if the event is a wait or a recovery.
  func received(_ event: PageEvent) {
    switch event {
    case .retry(let retry):
      var line = line("retry")
      line.wait = retry.delay / .seconds(1)
      (line.code, line.message, line.request) = (
        retry.code.description, retry.message, retry.request
      )
      write(line)
    case .pause(let wait):
      var line = line("pause")
      line.wait = wait / .seconds(1)
      write(line)
    case .recovery(let recovery, let code):
      var line = line("recovery")
      (line.recovery, line.code) = (recovery.rawValue, code.description)
      write(line)
    default: break
    }
  }

  private func line(_ event: String) -> Line {
    Line(event: event, seconds: (ContinuousClock.now - began) / .seconds(1))
  }

  private func write(_ line: Line) {
    guard let data = try? JSONEncoder.ordered.encode(line) else { return }
    Diagnostics.writeRaw(PrintableJSON.text(of: data) + "\n")
  }
}
