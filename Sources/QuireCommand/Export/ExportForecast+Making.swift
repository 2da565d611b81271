import Foundation
import Quire

extension ExportPlan {
  /// Fetches the first page, and nothing else, and tells from it what an export would do.
  ///
  /// Throws what a walk throws whose first page cannot be had.
  func forecast() async throws -> ExportForecast {
    var configuration = configuration
    // Whoever asks what an export would do is there to ask again.
    configuration.retry.patience = .zero
    let client = PageClient(transport: transport, configuration: configuration)
    let cursor = client.cursor(
      at: url, pagination: pagination, pageSize: pageSize, request: request,
      decoder: ExportItem.decoder(for: format, raw: isRaw, xmlLimits: xmlLimits))
    var pages = ExportPages(cursor.resuming(from: start), lookAhead: 0)
    guard let page = try await pages.next() else {
      throw PageError(.exhausted, "The listing has ended before this position.")
    }
    // The end of the only page is known without another request.
    if page.next == nil, page.nextFailure == nil { _ = try await pages.next() }
    return try forecast(from: page, warnings: pages.report.warnings)
  }

  /// What the first page tells; nothing is requested.
  func forecast(
    from page: Page<ExportItem>, warnings: [WalkReport.Warning] = []
  ) throws -> ExportForecast {
    let engine = try engine()
    var forecast = ExportForecast(
      request: page.http?.request ?? "", items: page.items.count,
      bytes: page.traffic.bytes, duration: page.http?.metrics.duration ?? .zero,
      leadsOn: page.next != nil, total: page.total,
      pageSize: try size(of: page, engine.pageSize))
    forecast.notes = engine.notices
    if let failure = page.nextFailure {
      forecast.notes.append(words(for: failure.message))
    }
    forecast.notes += warnings.map { OptionWords.text($0, isDescribed: isDescribed) }
    if let head = page.http?.head {
      forecast.budget = RateLimitBudget(head.headerFields, now: Date().timeIntervalSince1970)
    }
    forecast.interval = .seconds(pagination.policy.pacing.interval)
    forecast.reckon(
      limits: limits, endsByEmptyPage: endsByEmptyPage, isResumed: start != .start)
    return forecast
  }

  private func size(
    of page: Page<ExportItem>, _ known: Int?
  ) throws -> ExportForecast.PageSizeForecast {
    let rule = pagination.size
    let said = try rule?.echo.flatMap { try page.http?.document.value(at: $0)?.integer }
    // What a description knows as the server's own size was not asked for.
    let asked = pageSize ?? (known == rule?.standard ? nil : known)
    let came = page.items.count + page.badItems.count
    let isFewer = page.next != nil && asked.map { came < $0 } ?? false
    let saysFewer = said.flatMap { said in asked.map { said < $0 } } ?? false
    let isLowered = pageSize.flatMap { size in rule?.max.map { $0 < size } } ?? false
    return .init(
      asked: asked, said: said, came: came, most: rule?.max,
      isClamped: isFewer || saysFewer || isLowered)
  }

  /// Whether nothing but a page without items ends the listing.
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
