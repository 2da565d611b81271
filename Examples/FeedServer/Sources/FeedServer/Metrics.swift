import Quire
import QuireFeeds
import Synchronization

/// Counts the aggregator's work, and writes the counts in the text format of Prometheus. The set of
/// labels is fixed.
final class Metrics: Sendable {
  private struct Counts {
    var polls: [String: Int] = ["changed": 0, "unchanged": 0, "failed": 0]
    var added = 0
    var changed = 0
    var bytes = 0
    var requests = 0
    var seconds = 0.0
  }

  private let counts = Mutex(Counts())

  /// Counts an event of the aggregator.
  func note(_ event: AggregatorEvent) {
    guard case .polled(let report) = event else { return }
    let result = report.error != nil ? "failed" : report.effect.added > 0 ? "changed" : "unchanged"
    counts.withLock {
      $0.polls[result, default: 0] += 1
      $0.added += report.effect.added
      $0.changed += report.effect.changed
      $0.bytes += report.traffic.bytes
      $0.requests += report.traffic.requests
      $0.seconds += report.duration / .seconds(1)
    }
  }

  func text(subscriptions: Int) -> String {
    let counts = counts.withLock { $0 }
    var text = "# TYPE feed_polls_total counter\n"
    for (result, count) in counts.polls.sorted(by: { $0.key < $1.key }) {
      text += "feed_polls_total{result=\"\(result)\"} \(count)\n"
    }
    let others: KeyValuePairs<String, String> = [
      "feed_entries_added_total": "\(counts.added)",
      "feed_entries_changed_total": "\(counts.changed)",
      "feed_bytes_total": "\(counts.bytes)", "feed_requests_total": "\(counts.requests)",
      "feed_poll_seconds_total": "\(counts.seconds)",
    ]
    for (name, value) in others { text += "# TYPE \(name) counter\n\(name) \(value)\n" }
    return text + "# TYPE feed_subscriptions gauge\nfeed_subscriptions \(subscriptions)\n"
  }
}
