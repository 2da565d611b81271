import Foundation
import HTTPTypes
import Quire
import QuireCore
import QuireExport
import QuireHTTP
import QuirePagination

/// A forecast of an export, computed from its first page alone. Each estimate is marked as one.
struct ExportForecast: Sendable {
  /// How exact a number is.
  enum Certainty: String, Encodable, Sendable {
    case exact, estimate, atLeast, atMost, unknown
  }

  /// The first request, with secrets redacted.
  var request: String
  /// The first page: the number of its items, its bytes, and the time that it took.
  var items: Int
  var bytes: Int
  var duration: Duration
  /// Whether another page follows.
  var hasNextPage: Bool
  var total: Total?
  var pageSize: PageSizeForecast
  /// The number of all requests, including the first; nil if it is unknown.
  var requests: Int?
  var certainty = Certainty.unknown
  /// How the number of requests was derived, in words.
  var basis = ""
  var budget: RateLimitBudget?
  /// The pause between two requests that the description asks for.
  var interval: Duration = .zero
  /// The caller's own limit, from `--rate`.
  var rate: RequestBudget.Rate?
  /// The number of requests within the server's rate limit that are left for other programs.
  var reserve = 0
  /// What the destination holds; nil for standard output.
  var destination: DestinationState?
  /// Further notes, such as that the page after the first one cannot be reached.
  var notes: [String] = []

  /// The page size as requested, as stated by the server, and as received.
  struct PageSizeForecast: Sendable, Encodable {
    /// The number of items the request asks for; nil if it asks for none.
    var asked: Int?
    /// The number of items the server says it used.
    var said: Int?
    /// The items of the page, including those that the destination already has.
    var came: Int
    /// The most items that the server gives, according to the description.
    var most: Int?
    /// Whether the server gives fewer than it was asked for.
    var isClamped: Bool
  }

  /// The time from one request to the next.
  var pace: Duration { max(duration, interval, rate?.time(for: 1) ?? .zero) }

  /// Returns how long `count` requests wait for the server's rate limit, beyond the time that keeps
  /// them apart anyway.
  func serverWait(for count: Int) -> Duration {
    guard var budget else { return .zero }
    // More requests than any export makes.
    let most = 1_000_000_000
    budget.remaining = budget.remaining.map { max(0, $0.minus(reserve)) }
    budget.limit = budget.limit.map { min(most, max(1, $0.minus(reserve))) }
    let wait = budget.waiting(for: min(most, count))
    return max(.zero, wait - max(.zero, pace - duration).times(count))
  }

  /// The time of all requests; nil if their number is unknown.
  var time: Duration? {
    requests.map { count in
      duration + pace.times(max(0, count - 1)) + serverWait(for: count - 1)
    }
  }
}

extension ExportForecast {
  /// Estimates the number of requests from the declared total and the caller's limits.
  mutating func estimateRequests(limits: Limits, endsByEmptyPage: Bool, isResumed: Bool) {
    let size = max(pageSize.came, 1)
    if !hasNextPage {
      (requests, certainty, basis) = (1, .exact, "the first page is the last")
    } else if let total, let count = Self.requests(for: total, size: size) {
      requests = count
      certainty = Self.certainty(of: total.kind, isResumed: isResumed)
      basis = "\(Self.words(for: total)) by \(size.counted("item")) a page"
      if total.kind == .pages { basis = Self.words(for: total) }
      if endsByEmptyPage {
        requests = count.plus(1)
        basis += ", and one more, because only an empty page ends the listing"
      }
    } else {
      (requests, basis) = (nil, "the server does not say how much there is")
    }
    if let pages = limits.pages, requests ?? .max > pages { limit(to: pages, by: "--max-pages") }
    if let most = limits.items {
      let pages = max(1, most.dividedRoundingUp(by: size))
      if requests ?? .max > pages { limit(to: pages, by: "--max-items") }
    }
    if let most = limits.requests, requests ?? .max > most { limit(to: most, by: "--max-requests") }
    if let most = limits.bytes, bytes > 0, requests ?? .max > (most / bytes).plus(1) {
      limit(to: (most / bytes).plus(1), by: "--max-bytes")
    }
    if let most = limits.duration, let count = requests, let all = time, all > most, count > 1 {
      let each = (all - duration) / (count - 1)
      let fit = each > .zero ? Int(max(0, min(1e9, (most - duration) / each))) + 1 : count
      if fit < count { limit(to: fit, by: "--max-time") }
    }
  }

  private mutating func limit(to count: Int, by option: String) {
    requests = count
    certainty = certainty == .unknown ? .atMost : certainty
    basis = "\(option)" + (certainty == .atMost ? ", if there is so much" : "")
  }

  private static func requests(for total: Total, size: Int) -> Int? {
    guard total.value >= 0 else { return nil }
    switch total.kind {
    case .pages: return max(1, total.value)
    case .remaining: return total.value.dividedRoundingUp(by: size).plus(1)
    case .items, .estimate, .lowerBound: return max(1, total.value.dividedRoundingUp(by: size))
    }
  }

  private static func certainty(of kind: Total.Kind, isResumed: Bool) -> Certainty {
    switch kind {
    case .lowerBound: .atLeast
    case .remaining: .estimate
    case .items, .pages, .estimate: isResumed ? .atMost : .estimate
    }
  }

  /// Returns a total and its kind, in words.
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

extension ExportPlan {
  /// Fetches the first page, and nothing else, to forecast the export.
  ///
  /// Throws what a walk throws if its first page cannot be fetched.
  func forecast() async throws -> ExportForecast {
    var configuration = configuration
    // Does not wait out an outage: the user who asks for a plan can ask again.
    configuration.retry.patience = .zero
    configuration.retry.refusesWaits = true
    let cursor = cursor(configuration)
    let (destination, prospect) = try await destinationState(cursor)
    if let destination, destination.plan == .nothing { return ExportForecast(destination) }
    let position = prospect?.isResumed == true ? prospect?.found?.position ?? start : start
    let walk = cursor.resuming(from: position).walk()
    guard let page = try await walk.next() else {
      throw PageError(.exhausted, "The listing has ended before this position.")
    }
    // For a single page, the next call ends the walk without another request.
    if page.next == nil, page.nextFailure == nil { _ = try await walk.next() }
    var plan = self
    (plan.start, plan.limits) = (position, prospect?.limits ?? limits)
    var forecast = try plan.forecast(from: page, warnings: walk.report.warnings)
    forecast.destination = destination
    return forecast
  }

  /// Returns the forecast from the first page, without a request.
  func forecast(
    from page: Page<RawItem>, warnings: [WalkReport.Warning] = []
  ) throws -> ExportForecast {
    let engine = try engine()
    var forecast = ExportForecast(
      request: page.http?.request ?? "", items: page.items.count,
      bytes: page.traffic.bytes, duration: page.http?.metrics.duration ?? .zero,
      hasNextPage: page.next != nil, total: page.total,
      pageSize: try size(of: page, engine.pageSize))
    forecast.notes = engine.notices
    if let failure = page.nextFailure {
      forecast.notes.append(words.message(failure))
    }
    forecast.notes += warnings.map(words.message)
    if let head = page.http?.head {
      forecast.budget = RateLimitBudget(head.headerFields, now: Date().timeIntervalSince1970)
    }
    forecast.interval = .seconds(pagination.policy.pacing.interval)
    forecast.rate = self.configuration.budget.rate
    forecast.reserve = Int(min(self.configuration.budget.reserve, 1e9))
    forecast.estimateRequests(
      limits: limits, endsByEmptyPage: endsByEmptyPage, isResumed: start != .start)
    if page.nextFailure != nil { forecast.basis = "the walk fails behind the first page" }
    return forecast
  }

  private func size(
    of page: Page<RawItem>, _ known: Int?
  ) throws -> ExportForecast.PageSizeForecast {
    let rule = pagination.size
    let said = try rule?.echo.flatMap { try page.http?.document.value(at: $0)?.integer }
    // The server's default size, which the description knows, was not asked for.
    let asked = pageSize ?? (known == rule?.standard ? nil : known)
    let came = (page.items.count + page.badItems.count).plus(start.itemOffset)
    let isFewer = page.next != nil && asked.map { came < $0 } ?? false
    let saysFewer = said.flatMap { said in asked.map { said < $0 } } ?? false
    let isLowered = pageSize.flatMap { size in rule?.max.map { $0 < size } } ?? false
    return .init(
      asked: asked, said: said, came: came, most: rule?.max,
      isClamped: isFewer || saysFewer || isLowered)
  }

  /// Whether only a page without items ends the listing.
  private var endsByEmptyPage: Bool {
    pagination.end.contains(.emptyPage)
      && !pagination.end.contains {
        switch $0 {
        case .total, .flag, .shortPage, .lastPage: true
        default: false
        }
      }
  }
}

extension ExportForecast {
  /// Prints the forecast, and writes it as JSON if a report is wanted. Standard output gets only
  /// one of the two.
  func publish(report file: ReportFile?) async throws {
    if file != .standardOutput { print(text) }
    guard let file else { return }
    do {
      try await file.write(try PrintableJSON.report(self))
    } catch {
      throw Diagnostics.failure(file.failure(error))
    }
  }

  /// Creates the forecast of an export that would request nothing.
  fileprivate init(_ destination: DestinationState) {
    self.init(
      request: "", items: 0, bytes: 0, duration: .zero, hasNextPage: false,
      pageSize: .init(came: 0, isClamped: false),
      requests: 0, certainty: .exact, basis: destination.words, destination: destination)
  }

  /// The forecast as a table of two columns.
  var text: String {
    if let destination, destination.plan == .nothing {
      return "destination \(destination.name): \(destination.words)".escapedForDisplay
    }
    let seconds = ExportOutcome.rounded(duration / .seconds(1))
    var rows = [
      ("first page", request),
      ("", "\(items.counted("item")), \(ProgressLine.size(bytes)) in \(seconds) s"),
      ("total", total.map(Self.words(for:)) ?? "the server does not say"),
      ("page size", pageSize.words(hasNextPage: hasNextPage)),
      ("requests", requestWords),
      ("rate limit", budget?.words ?? "the server does not say"),
      ("time", timeWords),
    ]
    if let destination {
      rows.insert(("destination", "\(destination.name): \(destination.words)"), at: 0)
    }
    rows += notes.map { ("note", $0) }
    return rows.map { name, words in
      name + String(repeating: " ", count: 12 - name.count) + words.escapedForDisplay
    }.joined(separator: "\n")
  }

  private var requestWords: String {
    guard let requests else { return "unknown: \(basis)" }
    let word =
      switch certainty {
      case .exact, .unknown: ""
      case .estimate: "about "
      case .atLeast: "at least "
      case .atMost: "at most "
      }
    return "\(word)\(requests), 1 of them made: \(basis)"
  }

  private var timeWords: String {
    guard let requests, let time else { return "unknown, as the number of requests" }
    guard requests > 1 else { return "nothing is left to do" }
    let seconds = ExportOutcome.rounded(duration / .seconds(1))
    var words = "about \(ProgressLine.clock(time / .seconds(1)))"
    words += ": \(requests) requests, each as long as the first, \(seconds) s"
    if pace > duration {
      words += ", but \(ExportOutcome.rounded(pace / .seconds(1))) s apart"
      if pace > interval { words += " by --rate" }
    }
    let wait = serverWait(for: requests - 1)
    if wait > .zero {
      words += ", and \(ProgressLine.clock(wait / .seconds(1))) for the rate limit"
    }
    return words
  }
}

extension ExportForecast.PageSizeForecast {
  fileprivate func words(hasNextPage: Bool) -> String {
    var words = "\(came) came"
    if let asked { words = "\(asked) asked for, " + words }
    if let said { words += ", \(said) by the server's own word" }
    if isClamped {
      words += ": the server lowers it"
    } else if asked == nil, hasNextPage {
      words += ": none was asked for"
    }
    if let most { words += "; \(most) at most" }
    return words
  }
}

extension RateLimitBudget {
  fileprivate var words: String {
    var parts: [String] = []
    switch (remaining, limit) {
    case (let remaining?, let limit?): parts.append("\(remaining) of \(limit) requests left")
    case (let remaining?, nil): parts.append("\(remaining.counted("request")) left")
    case (nil, let limit?): parts.append("\(limit.counted("request")) in a window")
    case (nil, nil): break
    }
    if let reset { parts.append("more in \(ProgressLine.clock(reset / .seconds(1)))") }
    if let wait {
      parts.append("the server asks to wait \(ProgressLine.clock(wait / .seconds(1)))")
    }
    return parts.joined(separator: ", ")
  }
}

extension ExportForecast: Encodable {
  /// Encodes the forecast; unknown values are left out.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: MemberName.self)
    try fields.encodeIfPresent(destination, forKey: "destination")
    if destination?.plan == .nothing { return try fields.encode(0, forKey: "requests") }
    try fields.encode(request, forKey: "request")
    try fields.encode(items, forKey: "items")
    try fields.encode(bytes, forKey: "bytes")
    try fields.encode(duration / .seconds(1), forKey: "seconds")
    try fields.encode(hasNextPage, forKey: "leadsOn")
    try fields.encodeIfPresent(total, forKey: "total")
    try fields.encode(pageSize, forKey: "pageSize")
    try fields.encodeIfPresent(requests, forKey: "requests")
    try fields.encode(certainty, forKey: "certainty")
    try fields.encode(basis, forKey: "basis")
    try fields.encodeIfPresent(time.map { $0 / .seconds(1) }, forKey: "estimatedSeconds")
    try fields.encode(notes, forKey: "notes")
    guard let budget else { return }
    var inner = fields.nestedContainer(keyedBy: MemberName.self, forKey: "rateLimit")
    try inner.encodeIfPresent(budget.limit, forKey: "limit")
    try inner.encodeIfPresent(budget.remaining, forKey: "remaining")
    try inner.encodeIfPresent(budget.reset.map { $0 / .seconds(1) }, forKey: "resetSeconds")
    try inner.encodeIfPresent(budget.wait.map { $0 / .seconds(1) }, forKey: "waitSeconds")
  }
}
