import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// A listing of the numbers from 0, paged as a description says: which of its ways lead on, which of
/// its rules ends it, and how many items each page has.
struct SyntheticListing: Sendable, CustomTestStringConvertible {
  /// How the server lets the listing end; whatever else a description knows is left out.
  enum Ending: Hashable, Sendable {
    /// The last page has no continuation.
    case noNext
    /// The last page's continuation is this text.
    case sentinel(String)
    /// A flag; the last page has a continuation all the same, where that is no item.
    case flag
    /// A total, and continuations for ever.
    case total
    /// Continuations for ever, and pages behind the last one are empty.
    case emptyPage
    /// The same, where a page with fewer items than were asked for is the last one.
    case shortPage
    /// Pages behind the last one are empty, and have the continuation that led to them.
    case sameCursor
    /// The last page looks like this.
    case lastPage(Pagination.Condition)
    /// Pages behind the last one are the last one again.
    case repetition
    /// Pages behind the last one are this.
    case status(Int, Pagination.Condition?)
  }

  var name: String
  var pagination: Pagination
  /// The way on that the server offers, out of the description's.
  var route: Pagination.Route
  var ending: Ending
  var format: SyntheticBody.Format
  /// How many items each page has.
  var sizes: [Int]

  var testDescription: String {
    "\(name): \(route.next), \(ending), \(format), pages of \(sizes)"
  }

  var itemCount: Int { sizes.reduce(0, +) }

  /// The numbers that are new on a page; none behind the last one.
  func items(onPage page: Int) -> Range<Int> {
    guard sizes.indices.contains(page) else { return itemCount..<itemCount }
    let start = sizes[..<page].reduce(0, +)
    return start..<start + sizes[page]
  }

  func isLast(_ page: Int) -> Bool { page >= sizes.count - 1 }

  /// The size a walk asks for; nil where it cannot.
  var pageSize: Int? { pagination.size.map { _ in max(1, sizes.max() ?? 1) } }

  /// Whether a walk that is given no continuation goes on counting.
  private var countsOtherwise: Bool {
    guard case .firstOf(let routes) = pagination.next else { return false }
    return routes.contains { $0.next.firstCount != nil && $0 != route }
  }

  /// Whether pages say how much there is: where that ends the listing, and where the description
  /// cannot do without.
  var tellsTotal: Bool {
    switch ending {
    case .total: true
    case .noNext where countsOtherwise: true
    default: pagination.needsTotal
    }
  }

  /// How many requests a walk needs, and may not exceed.
  var requests: Int {
    let ends = pagination.end
    let infers = ends.contains(.emptyPage) || ends.contains(.shortPage)
    let endsEarly =
      ends.contains(.shortPage) && (sizes.last ?? 0) < (pageSize ?? 0) + pagination.policy.overlap
      || infers && itemCount == 0
    if case .index = pagination.next { return sizes.count + 1 }
    return switch ending {
    case .noNext, .sentinel, .flag, .total, .lastPage: sizes.count
    case .emptyPage, .shortPage, .sameCursor, .status, .repetition:
      endsEarly ? sizes.count : sizes.count + 1
    }
  }
}

extension Pagination {
  /// Whether a flag that is missing is the end.
  var needsFlag: Bool {
    end.contains { if case .flag(let flag) = $0 { flag.ifAbsent == .end } else { false } }
  }

  /// Whether a total or a flag says what has no continuation to say it.
  fileprivate var saysEnd: Bool {
    needsFlag || end.contains { if case .total = $0 { true } else { false } }
  }

  /// Whether a total that is missing is the end, or an error.
  fileprivate var needsTotal: Bool {
    let conditions =
      policy.failure.map(\.when)
      + end.compactMap { if case .lastPage(let condition) = $0 { condition } else { nil } }
    return conditions.contains { $0.test == .isMissing && $0.value == total?.source }
  }

  /// Every path of a page that a synthetic server writes to.
  fileprivate var pagePaths: [PagePath] {
    let rules = end.compactMap { rule -> Pagination.ValueSource? in
      switch rule {
      case .flag(let flag): flag.source
      case .total(let total): total.source
      case .lastPage(let condition), .status(_, let condition?): condition.value
      default: nil
      }
    }
    let carried = request.carry.values.flatMap(\.from.pagePaths)
    return next.pagePaths + carried + rules.flatMap(\.pagePaths) + (total?.source.pagePaths ?? [])
      + (size?.echo.map { [$0] } ?? [])
  }

  /// The root of a page in XML.
  var xmlRoot: String {
    (items.paths.prefix(1) + pagePaths).lazy.compactMap(\.xmlRoot).first ?? "page"
  }

  /// The description for a server of this format, where only another one can be made of its paths than
  /// it declares.
  fileprivate func answered(in format: SyntheticBody.Format) -> Pagination {
    var pagination = self
    if !formats.contains(format == .xml ? .xml : .json) { pagination.formats = [] }
    return pagination
  }

  /// The formats in which the description's paths all mean something.
  fileprivate var playableFormats: [SyntheticBody.Format] {
    let paths = pagePaths + items.paths
    var formats: [SyntheticBody.Format] = []
    let isOnlyJSON =
      [.members, .columns].contains(items.arrangement) || items.paths[0].text.contains("/*/")
    if isOnlyJSON || !paths.contains(where: \.isOnlyXML) { formats.append(.json) }
    let isXML =
      !isOnlyJSON && items.paths[0].holdsXMLItems
      && paths.allSatisfy { $0.xml != nil }
      && Set((pagePaths + items.paths.prefix(1)).compactMap(\.xmlRoot)).count < 2
    if isXML { formats.append(.xml) }
    let declared = formats.filter { self.formats.contains($0 == .xml ? .xml : .json) }
    return declared.isEmpty ? formats : declared
  }
}

extension Pagination.ValueSource {
  fileprivate var pagePaths: [PagePath] {
    switch self {
    case .body(let path): [path]
    case .firstOf(let sources): sources.first?.pagePaths ?? []
    default: []
    }
  }
}

extension SyntheticListing {
  /// Every listing that fits the description, for each kind of request that it goes with.
  static func all(_ name: String, _ pagination: Pagination) -> [SyntheticListing] {
    let url = "https://api.test/{{offset}}/{cursor}{{limit}}{{start}}{{size}}"
    let bodies: [PageRequest.Body] = [.json([]), .form(""), .xml("")]
    let requests =
      [PageRequest(url: url)] + bodies.map { PageRequest(method: .post, url: url, body: $0) }
    var described: [Pagination] = []
    for request in requests {
      let fitted = pagination.fitted(to: request)
      if !described.contains(fitted) { described.append(fitted) }
    }
    return described.flatMap { fitted(name, $0) }
  }

  private static func fitted(_ name: String, _ pagination: Pagination) -> [SyntheticListing] {
    let routes =
      if case .firstOf(let routes) = pagination.next { routes } else {
        [Pagination.Route(pagination.next, send: pagination.send)]
      }
    return routes.flatMap { route in
      endings(pagination, route).flatMap { ending in
        pagination.playableFormats.flatMap { format in
          sizes(pagination, route, ending).map {
            SyntheticListing(
              name: name, pagination: pagination.answered(in: format), route: route, ending: ending,
              format: format,
              sizes: $0)
          }
        }
      }
    }.filter { listing in
      // Nothing at all, where a page without items is one that is not ready.
      let polls = pagination.policy.failure.contains {
        $0.kind == .notReady && $0.when.test == .isMissing
      }
      if case .lastPage = listing.ending, listing.sizes == [0], polls { return false }
      // One page without a way on is counted on from, where nothing says how much there is.
      return
        !(listing.ending == .noNext && listing.sizes == [1] && listing.countsOtherwise
        && !pagination.saysEnd)
    }
  }

  /// The endings that the description's rules notice.
  private static func endings(_ pagination: Pagination, _ route: Pagination.Route) -> [Ending] {
    let counts = route.next.firstCount != nil
    let givesTokens = !counts && !route.next.isFromItems
    let needs = pagination.needsFlag || pagination.needsTotal
    var endings: [Ending] = givesTokens ? [.noNext] : []
    for rule in pagination.end {
      switch rule {
      case .noNext(let sentinels): endings += givesTokens ? sentinels.map(Ending.sentinel) : []
      case .flag where !endings.contains(.flag): endings.append(.flag)
      case .total(let total) where !pagination.needsFlag && (counts || total.kind == .remaining):
        endings.append(.total)
      case .emptyPage where !needs: endings.append(.emptyPage)
      case .shortPage where !needs: endings.append(.shortPage)
      case .sameCursor where !needs && givesTokens && !route.send.followsLinks:
        endings.append(.sameCursor)
      case .noNewItems where counts: endings.append(.repetition)
      case .lastPage(let condition): endings.append(.lastPage(condition))
      // A flag that says more is a promise, which a status in the place of the page breaks.
      case .status(let codes, let condition) where !needs:
        endings += codes.map { Ending.status($0, condition) }
      default: break
      }
    }
    return endings
  }

  /// Full pages, a last one that is short, one page, and nothing; where the description allows it,
  /// also pages that are short or empty in the middle.
  private static func sizes(
    _ pagination: Pagination, _ route: Pagination.Route, _ ending: Ending
  ) -> [[Int]] {
    let length = pagination.size == nil ? 2 : 3
    var sizes = [[length, length, length], [length, length, 1], [1]]
    switch ending {
    case .status, .repetition: break
    default: sizes.append([0])
    }
    let counts = route.next.firstCount != nil || route.next.isFromItems
    let infers = pagination.end.contains(.shortPage)
    if !counts, !infers, !pagination.end.contains(.emptyPage) {
      sizes.append([length, 0, 1, 0, 0, length])
    }
    if !infers, !route.next.isPageNumber { sizes.append([length, 1, 2, length]) }
    return sizes
  }
}

extension Pagination.Placement {
  /// Whether a page says where the next one is, in a link or in the description of a request.
  var followsLinks: Bool { self == .url || self == .request }
}

extension Pagination.Next {
  fileprivate var pagePaths: [PagePath] {
    switch untransformed {
    case .body(let path), .offset(_, .body(let path)): [path]
    case .all(let sources): sources.values.flatMap(\.pagePaths)
    case .firstOf(let routes): routes.flatMap(\.next.pagePaths)
    default: []
    }
  }

  fileprivate var isPageNumber: Bool { if case .pageNumber = untransformed { true } else { false } }
}
