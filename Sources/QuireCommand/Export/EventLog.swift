import Foundation
import Quire
import QuireExport

/// `--log json`: what an export does, as lines of JSON on stderr, for machines.
///
/// Each has an `event` and the `seconds` since the export began: `page` for one that is written, `retry` and
/// `pause` for waits.
struct EventLog: Sendable {
  private let began = ContinuousClock.now

  /// One line.
  private struct Line: Encodable {
    var event: String
    var seconds: Double
    var pages: Int?
    var items: Int?
    var bytes: Int?
    /// The total that the server declared.
    var total: Total?
    /// Pages, and items, that the destination holds for good.
    var committedPages: Int?
    var committedItems: Int?
    /// How long is waited.
    var wait: Double?
    var code: String?
    var message: String?
    var request: String?
  }

  /// A page was written.
  func wrote(_ report: ExportReport) {
    var line = line("page")
    (line.pages, line.items, line.bytes) = (report.pages, report.items, report.traffic.bytes)
    line.total = report.walk.total
    (line.committedPages, line.committedItems) = (
      report.checkpoint?.pages, report.checkpoint?.items
    )
    write(line)
  }

  /// Takes in an event of the client; only waits are written.
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
