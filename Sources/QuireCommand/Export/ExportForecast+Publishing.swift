import Foundation
import Quire
import QuireCore

extension ExportForecast {
  /// Prints the forecast, and writes it as JSON where a file is named; standard output gets one of
  /// the two.
  func publish(report file: ReportFile?) async throws {
    if file != .standardOutput { print(text) }
    guard let file else { return }
    do {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
      try await file.write(JSONText.printable(try encoder.encode(self)) + Data("\n".utf8))
    } catch {
      Diagnostics.write("quire: cannot write the report to \(file.name).")
      throw ExitStatus.failed
    }
  }

  /// The forecast as a table of two columns.
  var text: String {
    let seconds = ExportOutcome.rounded(duration / .seconds(1))
    var rows = [
      ("first page", request),
      ("", "\(items.counted("item")), \(ProgressLine.size(bytes)) in \(seconds) s"),
      ("total", total.map(Self.words(for:)) ?? "the server does not say"),
      ("page size", pageSize.words(leadsOn: leadsOn)),
      ("requests", requestWords),
      ("rate limit", budget?.words ?? "the server does not say"),
      ("time", timeWords),
    ]
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
    if interval > duration {
      words += ", but \(ExportOutcome.rounded(interval / .seconds(1))) s apart"
    }
    let wait = budget?.waiting(for: requests - 1) ?? .zero
    if wait > .zero {
      words += ", and \(ProgressLine.clock(wait / .seconds(1))) for the rate limit"
    }
    return words
  }
}

extension ExportForecast.PageSizeForecast {
  fileprivate func words(leadsOn: Bool) -> String {
    var words = "\(came) came"
    if let asked { words = "\(asked) asked for, " + words }
    if let said { words += ", \(said) by the server's own word" }
    if isClamped {
      words += ": the server lowers it"
    } else if asked == nil, leadsOn {
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
  private enum CodingKeys: String, CodingKey {
    case request, items, bytes, seconds, leadsOn, total, pageSize, requests, certainty, basis
    case rateLimit, estimatedSeconds, notes
  }

  private enum BudgetKeys: String, CodingKey { case limit, remaining, resetSeconds, waitSeconds }

  /// Writes an object; what is unknown is left out.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(request, forKey: .request)
    try fields.encode(items, forKey: .items)
    try fields.encode(bytes, forKey: .bytes)
    try fields.encode(duration / .seconds(1), forKey: .seconds)
    try fields.encode(leadsOn, forKey: .leadsOn)
    try fields.encodeIfPresent(total, forKey: .total)
    try fields.encode(pageSize, forKey: .pageSize)
    try fields.encodeIfPresent(requests, forKey: .requests)
    try fields.encode(certainty, forKey: .certainty)
    try fields.encode(basis, forKey: .basis)
    try fields.encodeIfPresent(time.map { $0 / .seconds(1) }, forKey: .estimatedSeconds)
    try fields.encode(notes, forKey: .notes)
    guard let budget else { return }
    var inner = fields.nestedContainer(keyedBy: BudgetKeys.self, forKey: .rateLimit)
    try inner.encodeIfPresent(budget.limit, forKey: .limit)
    try inner.encodeIfPresent(budget.remaining, forKey: .remaining)
    try inner.encodeIfPresent(budget.reset.map { $0 / .seconds(1) }, forKey: .resetSeconds)
    try inner.encodeIfPresent(budget.wait.map { $0 / .seconds(1) }, forKey: .waitSeconds)
  }
}
