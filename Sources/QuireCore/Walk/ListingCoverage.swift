/// How much of its listing a walk has seen, and whether that is all that the server declares.
struct ListingCoverage: Sendable {
  private let beginsAtStart: Bool
  /// The position of the page in front of the first one, once the first one was read.
  var before: Position??
  /// Whether the listing has pages in front of the first one read.
  private var startsMidway = false
  /// The number of items that came before the listing began anew; nil if it has not.
  private var supersededItems: Int?
  /// The number of pages with items since the start of the listing; nil if that is unknown.
  private(set) var filledPages: Int?
  /// Whether the page that is being read has items.
  private var isFilled = false
  /// The most items that the server has declared; nil if it declares none.
  private var mostDeclared: Int?

  init(start: Position, isForward: Bool) {
    beginsAtStart = start == .start
    if isForward { filledPages = beginsAtStart ? 0 : start.trail?.declared.filledPages }
  }

  /// Notes a page that came. `isRest` tells whether a part of the page came before, and `traffic` is
  /// that of the pages before it.
  mutating func received<Item>(
    _ page: Page<Item>, isRest: Bool, after traffic: WalkReport.Traffic
  ) {
    startsMidway = startsMidway || page.head.startsMidway || before == nil && page.previous != nil
    if startsMidway, beginsAtStart || page.head.startsMidway { filledPages = nil }
    if page.head.beginsAnew { beginAnew(with: page, after: traffic) }
    countFilled(page, isRest: isRest)
    if before == nil, page.previous != nil || !page.hasMoreParts { before = .some(page.previous) }
    if let total = page.total, total.kind == .items {
      mostDeclared = max(mostDeclared ?? 0, total.value)
    }
  }

  /// Notes that the listing begins anew with a page. The items of that page that it does not have,
  /// because they came before, count as received.
  private mutating func beginAnew<Item>(
    with page: Page<Item>, after traffic: WalkReport.Traffic
  ) {
    startsMidway = page.head.startsMidway || page.previous != nil
    supersededItems = traffic.items + traffic.badItems - page.position.itemOffset
    filledPages = startsMidway ? nil : 0
  }

  /// Counts a page with items, with the first of its parts that has any. Pages that are made of
  /// others are not those that a server counts.
  private mutating func countFilled<Item>(_ page: Page<Item>, isRest: Bool) {
    if !isRest { isFilled = false }
    guard !isFilled else { return }
    isFilled =
      page.traffic.items + page.traffic.badItems > 0 || page.position.itemOffset > 0
      || page.isUnchanged
    if isFilled { filledPages = page.head.origins == nil ? filledPages?.plus(1) : nil }
  }

  /// Whether the walk sees the whole listing: from its start, or since it began anew, and with no
  /// pages before that.
  private var isWhole: Bool { (beginsAtStart || supersededItems != nil) && !startsMidway }

  /// Returns the number of items received of the listing, bad ones included.
  private func received(in report: WalkReport) -> Int {
    report.traffic.items + report.traffic.badItems - (supersededItems ?? 0)
  }

  /// Returns how a walk ends if the server ended it. A total counts only if it is exact or a lower
  /// bound, and if the walk has seen the whole listing.
  func end(of report: WalkReport) -> WalkReport.End {
    guard let total = report.total, [.items, .lowerBound].contains(total.kind), isWhole,
      received(in: report) < total.value
    else { return .exhausted }
    return .truncationSuspected(declared: total.value)
  }

  /// Returns warnings for an exhausted walk that more items came than the server declared, or fewer
  /// pages.
  func warnings(of report: WalkReport) -> [WalkReport.Warning] {
    var warnings: [WalkReport.Warning] = []
    // A source that counts has warned with the page; one with cursors does not know the count.
    if isWhole, let mostDeclared, received(in: report) > mostDeclared,
      !report.warnings.contains(where: { $0.code == .contradictedTotal })
    {
      warnings.append(.contradicted(Total(mostDeclared)))
    }
    // One page without items may be among those that a server counts.
    if let total = report.total, total.kind == .pages, let filledPages,
      filledPages.plus(report.pages > 0 && !isFilled ? 1 : 0) < total.value
    {
      warnings.append(
        WalkReport.Warning(
          .endBeforeTotal,
          """
          The server declared \(total.value.counted("page")), and \(filledPages) with items came: \
          the listing may be longer.
          """, remedy: Remedy(.total)))
    }
    return warnings
  }
}
