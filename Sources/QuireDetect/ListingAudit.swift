import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

extension WalkReport.Warning.Code {
  /// No page had items at the description's path, and another path has something like items.
  public static let itemsNotFound = Self("itemsNotFound")
  /// All elements below the root of an XML page were taken for items, though their names differ.
  public static let mixedItems = Self("mixedItems")
  /// A continuation that is a URL was sent as a value instead of being followed.
  public static let linkSentAsValue = Self("linkSentAsValue")
  /// No page had a value at a place that a rule of the description reads.
  public static let placeNotFound = Self("placeNotFound")
  /// The only page is shorter than requested, and nothing else says that it is the last one.
  public static let shortFirstPage = Self("shortFirstPage")
  /// The page that was taken for the last one has signs that another one follows.
  public static let signsOfMore = Self("signsOfMore")
  /// The declared number of items changed, or that of pages fell, while the listing was read by
  /// counting: some items may be missing or come twice.
  public static let changedTotal = Self("changedTotal")
}

/// Checks the pages of a walk for signs that its description does not fit: a misspelled path ends a
/// listing as quietly as its last page does.
///
/// Of a resumed walk, only the totals are checked, also against those of the pages before: other
/// values may lack that earlier pages had.
struct ListingAudit: Sendable {
  private let pagination: Pagination
  /// Whether the caller requests a page size.
  private let hasPageSize: Bool
  /// Whether the caller wrote the path of the total.
  private let expectsTotal: Bool
  /// The place of the continuation, until a page has a value there.
  private var next: AuditedPlace?
  /// The places of rules, until a page has a value there.
  private var rules: [(place: AuditedPlace, setting: Remedy.Setting)] = []
  private var hasRule = false
  private var pages = 0
  /// Whether the latest page has a continuation. Then it was not taken for the last one, even if no
  /// page followed.
  private var leadsOn = false
  private var items = 0
  private var declared: Int?
  /// The declared number of items before its first change; nil if it has not changed.
  private var declaredFirst: Int?
  /// The estimated number of items, as a page declared it last.
  private var estimate: Int?
  /// Whether the latest page has no continuation, not even an empty one, and declares no total.
  private var endsUnmarked = false
  /// Where the pages of a counted listing declare how many of them there are.
  private let pageCounts: [Pagination.ValueSource]
  private var declaredPages: Int?
  /// The declared number of pages before it fell, and after that; nil if it never did.
  private var fall: (from: Int, to: Int)?
  /// The latest page, while the description is in doubt. Otherwise nil, so that a walk holds no
  /// page longer than its consumer does.
  private var suspect: HTTPPageInfo?
  /// The first page, if it is XML and the children of its root are the items.
  private var mixed: HTTPPageInfo?
  /// The part of the request that keeps the continuation out of the only page.
  private var filter: FieldFilter?
  /// The path of a link that is sent as a value.
  private var link: PagePath?
  private var hasBegun = false
  private var isMidway = false

  init(_ pagination: Pagination, hasPageSize: Bool, expectsTotal: Bool) {
    self.pagination = pagination
    self.hasPageSize = hasPageSize
    self.expectsTotal = expectsTotal
    next = AuditedPlace(pagination.next)
    pageCounts =
      pagination.next.firstCount == nil
      ? []
      : pagination.totals.filter { $0.kind == .pages && $0.scope == .everyPage }.map(\.source)
    let counted = pagination.endTotals.map(\.source)
    for source in counted {
      if let place = AuditedPlace(source) { rules.append((place, .end)) }
    }
    if let total = pagination.total, !counted.contains(total.source),
      let place = AuditedPlace(total.source)
    {
      rules.append((place, .total))
    }
    for case .flag(let flag) in pagination.end {
      if let place = AuditedPlace(flag.source) { rules.append((place, .end)) }
    }
  }

  /// Returns an audit as the closures that a walk calls.
  static func walkAudit(
    of pagination: Pagination, hasPageSize: Bool, expectsTotal: Bool
  ) -> WalkAudit {
    ListingAudit(pagination, hasPageSize: hasPageSize, expectsTotal: expectsTotal).walkAudit
  }

  private var walkAudit: WalkAudit {
    let audit = SharedAudit(self)
    return WalkAudit(
      saw: { head, items in audit.state.withLock { $0.saw(head, items: items) } },
      warnings: { end in audit.state.withLock { $0 }.warnings(for: end) },
      copy: { audit.state.withLock { $0 }.walkAudit })
  }

  /// Checks the next page of the walk.
  mutating func saw(_ page: PageHead, items count: Int) {
    guard let info = page.metadata[HTTPPageInfo.self] else { return }
    if !hasBegun {
      hasBegun = true
      isMidway = info.sent != nil
      let earlier = page.position.trail?.declared
      (declared, declaredPages) = (earlier?.items, earlier?.pages)
    }
    if page.beginsAnew { beginAnew() }
    items += count
    guard !page.hasMoreParts else { return }
    if let total = page.total, total.kind == .items {
      if let declared, declared != total.value { declaredFirst = declaredFirst ?? declared }
      declared = total.value
    }
    // An empty page behind the last one may count none.
    if !pageCounts.isEmpty, count > 0 { sawPageCount(of: info) }
    guard !isMidway else { return }
    pages += 1
    if pages == 1 {
      if page.next != nil {
        link = unfollowedLink(in: info.document)
      } else {
        filter = FieldFilter(of: info, pagination)
      }
      let type = info.head.headerFields[.contentType] ?? ""
      if pagination.items == .root, type.contains("xml") { mixed = info }
    }
    leadsOn = page.next != nil
    if let total = page.total, total.kind == .estimate { estimate = total.value }
    endsUnmarked =
      !leadsOn && page.total == nil
      && pagination.next.bodyPaths.allSatisfy {
        (try? info.document.count(at: $0, outsideItemsOf: pagination.items)) == nil
      }
    if leadsOn || next?.isFilled(on: info, items: pagination.items) == true { next = nil }
    let missing = rules.filter { !$0.place.isFilled(on: info, items: pagination.items) }
    hasRule = hasRule || missing.count < rules.count
    rules = missing
    let isOnly = pages == 1 && !leadsOn
    suspect = isOnly || items == 0 || next != nil || !rules.isEmpty ? info : nil
  }

  /// Forgets what the pages held and declared before the listing began anew.
  private mutating func beginAnew() {
    (isMidway, pages, items, estimate) = (false, 0, 0, nil)
    (declared, declaredFirst, declaredPages, fall) = (nil, nil, nil, nil)
  }

  private mutating func sawPageCount(of info: HTTPPageInfo) {
    let answer = info.answer
    for source in pageCounts {
      guard let value = try? answer.value(at: source, items: pagination.items),
        let number = value.integer
      else { continue }
      if let declaredPages, number < declaredPages {
        fall = (fall?.from ?? declaredPages, number)
      }
      declaredPages = number
      return
    }
  }

  /// Returns the warnings for the caller. Missing values count only once the listing has ended or
  /// failed; until then they may still come.
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] {
    var isExhausted = false
    var isFailed = false
    switch end {
    case .exhausted: isExhausted = true
    case .failed: isFailed = true
    case .running, .truncationSuspected, .limit, .cancelled, .stoppedByConsumer: break
    }
    // A report may be requested after every page, and comparing with presets is slow.
    let isOver = isExhausted || isFailed
    guard pages > 0, !isMidway else { return isOver ? [movedItems].compactMap(\.self) : [] }
    let isMoved = isOver && movedItems != nil
    let early = isExhausted ? endBeforeEstimate : nil
    guard
      items == 0 || mixed != nil || link != nil || isOver && suspect != nil || isMoved
        || early != nil
    else { return [] }
    let own = OwnParts(pagination: pagination)
    // Rules and continuations never read a list, so lists are no suggestions.
    lazy var values = outline(of: suspect).filter { $0.kind != .list }.map(\.path)
    var warnings = ownMistakes(own)
    guard isOver else { return warnings }
    if let movedItems { warnings.append(movedItems) }
    if let early { warnings.append(early) }
    // The places of a preset are right, so only the caller's own are reported.
    for rule in rules where rule.setting == .total ? own.total || expectsTotal : own.rules {
      warnings.append(rule.place.suggesting(among: values).warning(rule.setting))
    }
    guard isExhausted else { return warnings }
    if let shortPage = shortPage(own) { warnings.append(shortPage) }
    // A listing is complete if it is empty, has all declared items, or says that it has ended.
    guard items > 0, declared != items, !hasRule else { return warnings }
    if let filter {
      warnings.append(filter.warning)
    } else if let next, own.rules {
      warnings.append(next.suggesting(among: values).warning(.next))
    }
    if warnings.isEmpty, pages == 1, !leadsOn, let suspect, let signs = signs(in: suspect) {
      warnings.append(signs)
    }
    return warnings
  }

  /// Returns the warnings that do not depend on the end of the listing.
  private func ownMistakes(_ own: OwnParts) -> [WalkReport.Warning] {
    var warnings: [WalkReport.Warning] = []
    if items == 0, declared != 0, let found = found(own) {
      let paths = pagination.items.paths.map(\.place).joined(separator: " or ")
      warnings.append(
        .init(
          .itemsNotFound, "no item at \(paths) in \(pages.counted("page")); \(found.description).",
          remedy: Remedy(.items, found.paths)))
    }
    if let mixed, own.rules || own.items, let mixture = Self.mixture(among: outline(of: mixed)) {
      warnings.append(mixture)
    }
    if let link, own.rules {
      warnings.append(
        .init(
          .linkSentAsValue, "what is at \(link.place) is a URL, and is sent as a value.",
          remedy: Remedy(.send, ["url"])))
    }
    return warnings
  }

  private func outline(of info: HTTPPageInfo?) -> [PageOutline.Node] {
    guard let document = info?.document as? any OutlinedDocument else { return [] }
    return document.outline.nodes.filter { !$0.isInList }
  }

  private func found(_ own: OwnParts) -> FoundLists? {
    guard let document = suspect?.document as? any OutlinedDocument else { return nil }
    return FoundLists(on: document, for: pagination, isNamed: own.items)
  }

  private func signs(in info: HTTPPageInfo) -> WalkReport.Warning? {
    let places = info.signsOfMore(than: items)
    guard !places.isEmpty else { return nil }
    return .init(
      .signsOfMore,
      "the first page was taken for the last, and it has "
        + "\(places.prefix(3).map { ServerText($0).description }.joined(separator: " and ")): if the listing is longer, it is paged in "
        + "another way, which detecting finds.",
      remedy: Remedy(.next))
  }

  /// The warning that items were added or removed while pages were counted, which moves later items
  /// across the borders of pages; nil if the declared number of items did not change, and that of
  /// pages did not fall.
  private var movedItems: WalkReport.Warning? {
    let change: (unit: String, from: Int, to: Int)
    if let declaredFirst, let declared, declared != declaredFirst,
      pagination.next.firstCount != nil
    {
      change = ("items", declaredFirst, declared)
    } else if let fall {
      change = ("pages", fall.from, fall.to)
    } else {
      return nil
    }
    return .init(
      .changedTotal,
      "the declared number of \(change.unit) went from \(change.from) to \(change.to) while pages were counted: items may "
        + "have moved over the border of a page, so that some are missing or came twice. In an order that does not "
        + "change, oldest first, or by a cursor they do not move.")
  }

  /// The warning that the listing ended before the number of items that its pages estimated, by a
  /// page without the continuation and the estimate that the others had. OAI-PMH demands an empty
  /// token there, which servers leave out as well; and so does an answer that was cut short.
  private var endBeforeEstimate: WalkReport.Warning? {
    guard endsUnmarked, let estimate, items < estimate else { return nil }
    return .init(
      .endBeforeTotal,
      "the pages declared about \(estimate.counted("item")) and \(items) came; the last page has neither a "
        + "continuation nor a mark of the end: the listing may be longer.")
  }

  /// Returns the warning that the first page was taken for the last only because it is short. The
  /// server may give fewer items than requested, and then every page looks like that.
  private func shortPage(_ own: OwnParts) -> WalkReport.Warning? {
    // If a continuation is missing, the listing ended because of that and not because of a short
    // page.
    guard let pageSize = suspect?.pageSize, pages == 1, items > 0, items < pageSize, next == nil,
      declared != items, pagination.end.contains(.shortPage), hasPageSize || own.rules
    else { return nil }
    let says = pagination.end.contains { rule in
      switch rule {
      case .flag, .total: rules.isEmpty || hasRule
      case .lastPage, .noNewItems, .notAdvancing: true
      default: false
      }
    }
    guard !says else { return nil }
    return .init(
      .shortFirstPage,
      "\(pageSize.counted("item")) \(pageSize == 1 ? "was" : "were") asked for and \(items) came; only "
        + "that the page is short says that it is the last one.",
      remedy: Remedy(
        .pageSize, ["\(items)"],
        condition: "if the server gives no more than \(items) at a time"))
  }

  /// Returns the path of an absolute URL that is sent as a value instead of being followed; nil if
  /// there is none.
  private func unfollowedLink(in document: any PageDocument) -> PagePath? {
    switch pagination.send {
    case .query, .header, .jsonBody: break
    default: return nil
    }
    guard case .body(let path) = pagination.next,
      let text = try? document.value(at: path)?.string,
      ["https://", "http://"].contains(where: text.hasPrefix)
    else { return nil }
    return path
  }

  /// Returns the warning that the elements below the root have several names: most likely one of
  /// them is the list of items.
  private static func mixture(among nodes: [PageOutline.Node]) -> WalkReport.Warning? {
    // The root of JSON has no name, and so no path.
    guard let root = nodes.first?.path, !root.isEmpty else { return nil }
    let children = nodes.filter { $0.depth == 2 && !$0.path.contains("@") }
    guard children.count > 1 else { return nil }
    let names = children.prefix(5).map { ServerText($0.name).description }.joined(separator: ", ")
    let lists = nodes.filter { $0.kind == .list }.prefix(5).map(\.path)
    let advice =
      lists.isEmpty
      ? "" : "; found lists at \(lists.map { ServerText($0).description }.joined(separator: ", "))"
    return .init(
      .mixedItems,
      "every element below \(ServerText(root)) was taken for an item, and they are of several names "
        + "(\(names))\(advice).",
      remedy: Remedy(.items, lists + ["\(root)/*"]))
  }
}

/// The audit of one walk, which the walk's task writes and a report reads.
private final class SharedAudit: Sendable {
  let state: Mutex<ListingAudit>

  init(_ audit: ListingAudit) { state = Mutex(audit) }
}

/// The parts of a description that the caller wrote and may have misspelled. Computed only when
/// something is in doubt, because it reads all presets.
private struct OwnParts {
  let pagination: Pagination

  var rules: Bool { !isAlike { _ in true } }
  var items: Bool { !isAlike { $0.items == pagination.items } }
  var total: Bool { pagination.total != nil && !isAlike { $0.total == pagination.total } }

  /// Whether a preset has these rules and satisfies the predicate.
  private func isAlike(where isWanted: (Pagination) -> Bool) -> Bool {
    Pagination.Preset.hasDescription(leadingAs: pagination) { preset in
      // A rule that reads a place of the page may be misspelled.
      preset.send == pagination.send
        && pagination.end.allSatisfy { $0.source == nil || preset.end.contains($0) }
        && isWanted(preset)
    }
  }
}

extension HTTPPageInfo {
  /// Returns the places of signs that another page follows, or that there are more than `items`
  /// items: paths and names of header fields. Empty if a flag in the answer marks it as the last
  /// page.
  func signsOfMore(than items: Int) -> [String] {
    guard DetectorSign.areExpected(in: answer), let detector = try? PaginationDetector(answer)
    else { return [] }
    let isLast = detector.signs.contains { sign in
      sign.kind == .flag && sign.value?.boolean == detector.vocabulary.flags[sign.name].map { !$0 }
    }
    guard !isLast else { return [] }
    return detector.signs.filter { sign in
      switch sign.kind {
      case .total: sign.value?.count ?? 0 > items
      case .flag: false
      case .link, .field, .token, .pages: sign.saysMore(detector.vocabulary)
      }
    }.map { ServerText($0.place).description }
  }
}
