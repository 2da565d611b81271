/// The pages that a paginator has loaded and not delivered, and how far its consumers are.
///
/// Counts are of the whole walk: `consumed` ≤ `delivered.count` ≤ `loaded`. What was delivered is
/// consumed when a consumer asks for more, but for the first item of each delivery: that one counts at
/// once.
struct PageBuffer<Item: Sendable>: Sendable {
  private(set) var pages: [Page<Item>] = []
  /// Items and bytes of each of them: every event asks, and an array of generic pages answers slowly.
  private var sizes: [(items: Int, bytes: Int)] = []
  /// How many items of the first page are delivered.
  private var begun = 0
  private(set) var delivered: DeliveredPages<Item>
  private(set) var consumed = 0
  private(set) var loaded = 0
  private var lastPageCount = 0
  private var largestPage = 0

  init(start: Position) { delivered = DeliveredPages(start: start) }

  var progress: Progress {
    Progress(consumed: consumed, loaded: loaded, lastPage: lastPageCount)
  }

  var isEmpty: Bool { sizes.isEmpty }

  /// Whether a consumer finds something: a page, or what a loop over items has left of one.
  var hasPages: Bool { !isEmpty || delivered.open.hasLeftovers }

  mutating func append(_ page: Page<Item>) {
    let size = (items: page.items.count, bytes: page.traffic.bytes)
    pages.append(page)
    sizes.append(size)
    loaded += size.items
    if size.items > 0 { lastPageCount = size.items }
    largestPage = max(largestPage, size.bytes)
  }

  /// Whether another page may be loaded besides `pending` ones. It is expected to be as large as the
  /// largest so far; its size is not known before.
  func hasRoom(for limits: LookAhead, pending: Int = 0, isBegun: Bool = false) -> Bool {
    let ahead = sizes.dropFirst(begun > 0 || isBegun ? 1 : 0)
    guard ahead.count + pending < limits.maxPages else { return false }
    let bytes = ahead.reduce(largestPage * (pending + 1)) { $0 + $1.bytes }
    return bytes <= limits.maxBytes
  }

  /// A consumer asks for more: it is done with everything so far.
  mutating func catchUp() { consumed = max(consumed, delivered.consumed) }

  // MARK: Delivering

  /// Delivers the rest of the first page.
  mutating func takePage() -> Page<Item> {
    let page = delivered.open.takeLeftover() ?? take(unread)
    catchUp()
    return page
  }

  /// Delivers as many items as there are before the next page becomes due.
  mutating func takeItems(
    _ limits: LookAhead, isLoading: Bool, isIdle: Bool, mark: ItemMark?
  ) -> Page<Item> {
    let page = takeItems(limits, isLoading: isLoading, isIdle: isIdle)
    return mark.map { delivered.open.open(page, mark: $0) } ?? page
  }

  private mutating func takeItems(
    _ limits: LookAhead, isLoading: Bool, isIdle: Bool
  ) -> Page<Item> {
    // One by one, because each may make the next page due.
    if let page = delivered.open.takeLeftover(limit: 1) {
      consumed += 1
      return page
    }
    guard unread > 0 else { return takePage() }
    var progress = progress
    progress.consumed += 1
    var size = unread
    if isLoading {
      // Its arrival moves the threshold, so look again after every item, unless it takes the last
      // room there is.
      if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
    } else if isIdle, hasRoom(for: limits, isBegun: true) {
      if limits.threshold.isExceeded(progress) {
        if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
      } else if let due = limits.threshold.trigger(after: progress) {
        size = min(size, due - progress.consumed)
      }
    }
    let page = take(size)
    consumed = progress.consumed
    return page
  }

  /// The items of the first page that are not delivered.
  private var unread: Int { (sizes.first?.items ?? 0) - begun }

  private mutating func take(_ count: Int) -> Page<Item> {
    let whole = pages[0]
    var page = whole.dropping(items: begun)
    page.cut(toItems: count)
    // Another loop may leave its part of the page unread.
    let isShared = begun > 0 && delivered.open.unread > 0
    if isShared, !page.head.receipts.isEmpty { page.head.receipts = [] }
    delivered.note(count, of: whole, from: begun)
    begun += count
    if begun >= whole.items.count {
      pages.remove(at: 0)
      sizes.remove(at: 0)
      begun = 0
    }
    return page
  }
}

/// What the consumers of a paginator have.
struct DeliveredPages<Item: Sendable>: Sendable {
  /// Pages, in whole or in part.
  private(set) var pages = 0
  /// Items, those included that loops over items have not consumed yet.
  private(set) var count = 0
  /// What loops over items are in the middle of.
  var open = OpenPages<Item>()
  /// Where it ends.
  private var end: Position?
  /// Whether more parts of the last page follow.
  private var isWithinPage = false

  init(start: Position) { end = start }

  /// Items that a consumer is done with, or has in hand.
  var consumed: Int { count - open.unread }

  /// Where a later walk goes on behind what was consumed.
  var checkpoint: Position? { open.checkpoint ?? end }

  fileprivate mutating func note(_ items: Int, of page: Page<Item>, from begun: Int) {
    if begun == 0 {
      if !isWithinPage { pages += 1 }
      isWithinPage = page.hasMoreParts
    }
    count += items
    end = page.position(afterItems: begun + items)
  }
}
