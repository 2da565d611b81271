/// The loaded pages that are not yet handed out, and how far the consumer is.
///
/// Counts are cumulative over the walk: `consumed` ≤ `handedOut` ≤ `loaded`. What was handed out is
/// consumed when the consumer asks for more, but for the first item of each helping: that one counts
/// at once.
struct PageWindow<Item: Sendable>: Sendable {
  private(set) var pages: [Page<Item>] = []
  private(set) var consumed = 0
  private(set) var handedOut = 0
  private(set) var loaded = 0
  /// Items of the first page that were handed out. The page is begun when there are any.
  private var begun = 0
  private var largestPage = 0

  /// Pages handed out, in whole or in part.
  private(set) var pagesHandedOut = 0
  /// Whether more parts of the page handed out last follow.
  private var isWithinPage = false
  /// Where a later walk goes on behind what was handed out.
  private(set) var checkpoint: Position?

  let start: Position

  init(start: Position) {
    self.start = start
    checkpoint = start
  }

  var isEmpty: Bool { pages.isEmpty }

  /// How many pages nobody has begun.
  var pagesAhead: Int { pages.count - (begun > 0 ? 1 : 0) }

  mutating func append(_ page: Page<Item>) {
    pages.append(page)
    loaded += page.items.count
    largestPage = max(largestPage, page.traffic.bytes)
  }

  /// Whether another page may be loaded besides `pending` ones. It is expected to be as large as the
  /// largest so far, because nobody knows.
  func hasRoom(for limits: LookAhead, pending: Int = 0, isBegun: Bool = false) -> Bool {
    let unbegun = pages.dropFirst(begun > 0 || isBegun ? 1 : 0)
    let bytes = unbegun.reduce(0) { $0 + $1.traffic.bytes }
    return unbegun.count + pending < limits.maxPages
      && bytes + largestPage * (pending + 1) <= limits.maxBytes
  }

  /// The consumer asks for more: it is done with everything so far.
  mutating func catchUp() { consumed = handedOut }

  /// Hands out the rest of the first page.
  mutating func takePage() -> Page<Item> {
    let page = take(pages[0].items.count - begun)
    consumed = handedOut
    return page
  }

  /// Hands out as many items as the consumer may have without the next page becoming due on the way.
  mutating func takeHelping(_ limits: LookAhead, isLoading: Bool, isIdle: Bool) -> Page<Item> {
    let rest = pages[0].items.count - begun
    guard rest > 0 else { return takePage() }
    let first = consumed + 1
    var size = rest
    if isLoading {
      // Its arrival moves the threshold, so look again after every item, unless it takes the last
      // room there is.
      if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
    } else if isIdle, hasRoom(for: limits, isBegun: true) {
      if limits.threshold.isExceeded(consumed: first, loaded: loaded) {
        if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
      } else if let due = limits.threshold.trigger(after: first, loaded: loaded) {
        size = min(rest, due - first)
      }
    }
    let page = take(size)
    consumed = first
    return page
  }

  /// The consumer says how far it is, counted from the start of the walk. Pages it is done with are
  /// released.
  mutating func report(consumed count: Int) {
    let count = min(count, loaded)
    while count > handedOut, !pages.isEmpty {
      _ = take(min(count - handedOut, pages[0].items.count - begun))
    }
    consumed = max(consumed, count)
  }

  private mutating func take(_ count: Int) -> Page<Item> {
    if begun == 0 {
      if !isWithinPage { pagesHandedOut += 1 }
      isWithinPage = pages[0].hasMoreParts
    }
    var page = pages[0].dropping(items: begun)
    handedOut += count
    checkpoint = page.position(afterItems: count)
    if begun + count == pages[0].items.count {
      pages.removeFirst()
      begun = 0
    } else {
      begun += count
      page.cut(toItems: count)
    }
    return page
  }
}
