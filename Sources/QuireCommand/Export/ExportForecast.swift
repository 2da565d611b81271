import HTTPTypes
import Quire

/// What an export would do, told from its first page.
///
/// Pure: everything in it is what the first page said or is reckoned from it, and says so.
struct ExportForecast: Sendable {
  /// How a number is to be taken.
  enum Certainty: String, Encodable, Sendable {
    case exact, estimate, atLeast, atMost, unknown
  }

  /// What the forecast is for, secrets redacted.
  var request: String
  /// Items, bytes and time of the first page.
  var items: Int
  var bytes: Int
  var duration: Duration
  /// Whether another page follows.
  var leadsOn: Bool
  var total: Total?
  var pageSize: PageSizeForecast
  /// Requests in all, the first among them; nil where nobody can know.
  var requests: Int?
  var certainty = Certainty.unknown
  /// What the number of requests was reckoned from, in words.
  var basis = ""
  var budget: RateLimitBudget?
  /// The pause between two requests that the description asks for.
  var interval: Duration = .zero
  /// What has to be known besides: what comes after the first page cannot be had, for example.
  var notes: [String] = []

  /// Asked for, said and got.
  struct PageSizeForecast: Sendable, Encodable {
    /// The number of items the request asks for; nil when it asks for none.
    var asked: Int?
    /// The number of items the server says it used.
    var said: Int?
    /// The items that came.
    var came: Int
    /// The most that the description knows the server to give.
    var most: Int?
    /// Whether the server gives fewer than it was asked for.
    var isClamped: Bool
  }

  /// How long all requests would take; nil where their number is unknown.
  var time: Duration? {
    requests.map { count in
      let pace = max(duration, interval)
      return duration + pace * max(0, count - 1) + (budget?.waiting(for: count - 1) ?? .zero)
    }
  }
}

extension ExportForecast {
  /// The number of requests, from what the server declared and the caller limited.
  mutating func reckon(limits: Limits, endsByEmptyPage: Bool, isResumed: Bool) {
    let size = max(items, 1)
    if !leadsOn {
      (requests, certainty, basis) = (1, .exact, "the first page is the last")
    } else if let total, let count = Self.requests(for: total, first: items, size: size) {
      requests = count
      certainty = Self.certainty(of: total.kind, isResumed: isResumed)
      basis = "\(Self.words(for: total)) by \(size.counted("item")) a page"
      if total.kind == .pages { basis = Self.words(for: total) }
      if endsByEmptyPage {
        requests = count + 1
        basis += ", and one more, because only an empty page ends the listing"
      }
    } else {
      (requests, basis) = (nil, "the server does not say how much there is")
    }
    if let pages = limits.pages, requests ?? .max > pages { limit(to: pages, by: "--max-pages") }
    if let most = limits.items {
      let pages = most / size + (most % size == 0 ? 0 : 1)
      if requests ?? .max > pages { limit(to: max(1, pages), by: "--max-items") }
    }
  }

  private mutating func limit(to count: Int, by option: String) {
    requests = count
    certainty = certainty == .unknown ? .atMost : certainty
    basis = "\(option)" + (certainty == .atMost ? ", if there is so much" : "")
  }

  private static func requests(for total: Total, first: Int, size: Int) -> Int? {
    guard total.value >= 0 else { return nil }
    switch total.kind {
    case .pages: return max(1, total.value)
    case .remaining: return 1 + total.value / size + (total.value % size == 0 ? 0 : 1)
    case .items, .estimate, .lowerBound:
      return max(1, total.value / size + (total.value % size == 0 ? 0 : 1))
    }
  }

  private static func certainty(of kind: Total.Kind, isResumed: Bool) -> Certainty {
    switch kind {
    case .lowerBound: .atLeast
    case .remaining: .estimate
    case .items, .pages, .estimate: isResumed ? .atMost : .estimate
    }
  }

  /// A total and its kind, in words.
  static func words(for total: Total) -> String {
    switch total.kind {
    case .items: total.value.counted("item")
    case .estimate: "about \(total.value.counted("item"))"
    case .lowerBound: "at least \(total.value.counted("item"))"
    case .remaining: "\(total.value.counted("item")) after this page"
    case .pages: total.value.counted("page")
    }
  }
}
