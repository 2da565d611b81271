/// The pages that a paginator has loaded and not delivered, and how far its consumers are.
///
/// Counts are those of the whole walk: `consumed` ≤ `delivered.count` ≤ `loaded`. Delivered items
/// count as consumed when a consumer asks for more, except the first item of each delivery, which
/// counts at once.
struct PageBuffer<Item: Sendable>: Sendable {
  private(set) var pages: [Page<Item>] = []
  /// The items and bytes of each page: every event reads them, and an array of generic pages is
  /// slow to read.
  private var sizes: [(items: Int, bytes: Int)] = []
  /// The number of items of the first page that are delivered.
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

  /// Whether there is something to deliver: a page, or items that a loop has left.
  var hasPages: Bool { !isEmpty || delivered.open.hasLeftovers }

  mutating func append(_ page: Page<Item>) {
    let size = (items: page.items.count, bytes: page.traffic.bytes)
    pages.append(page)
    sizes.append(size)
    loaded += size.items
    if size.items > 0 { lastPageCount = size.items }
    largestPage = max(largestPage, size.bytes)
  }

  /// Whether another page may be loaded besides `pending` ones. Its size is not known before, so it
  /// counts as large as the largest page so far.
  func hasRoom(for limits: LookAhead, pending: Int = 0, isBegun: Bool = false) -> Bool {
    let ahead = sizes.dropFirst(begun > 0 || isBegun ? 1 : 0)
    guard ahead.count + pending < limits.maxPages else { return false }
    let bytes = ahead.reduce(largestPage * (pending + 1)) { $0 + $1.bytes }
    return bytes <= limits.maxBytes
  }

  /// Counts everything that was delivered as consumed, because a consumer asks for more.
  mutating func markDeliveredConsumed() { consumed = max(consumed, delivered.consumed) }

  // MARK: Delivering

  /// Delivers the items that a loop has left, or the rest of the first page.
  mutating func takePage() -> Page<Item> {
    let page = delivered.open.takeLeftover() ?? take(unread)
    markDeliveredConsumed()
    return page
  }

  /// Delivers as many items as there are before the next page becomes due.
  mutating func takeItems(
    _ limits: LookAhead, while state: LookAhead.State, consumedCount: ConsumedCount?
  ) -> Page<Item> {
    var page = takeItems(limits, while: state)
    if let consumedCount { delivered.open.register(&page, count: consumedCount) }
    return page
  }

  private mutating func takeItems(_ limits: LookAhead, while state: LookAhead.State) -> Page<Item> {
    // Items that a loop has left come one by one, because each may make the next page due.
    if let page = delivered.open.takeLeftover(limit: 1) {
      consumed += 1
      return page
    }
    guard unread > 0 else { return takePage() }
    var progress = progress
    progress.consumed += 1
    var size = unread
    if state.isLoading {
      // The page that arrives moves the threshold, so the consumer has to ask again after every
      // item, unless that page takes the last room there is.
      if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
    } else if case .idle = state, hasRoom(for: limits, isBegun: true) {
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

  /// The number of items of the first page that are not delivered.
  private var unread: Int { (sizes.first?.items ?? 0) - begun }

  private mutating func take(_ count: Int) -> Page<Item> {
    let whole = pages[0]
    var page = whole.dropping(items: begun)
    page.cut(toItems: count)
    // Another loop may leave its part of the page unread; then the page is not consumed.
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

/// The pages and items that the consumers of a paginator got.
struct DeliveredPages<Item: Sendable>: Sendable {
  /// The number of pages, delivered in whole or in part.
  private(set) var pages = 0
  /// The number of items, including those that loops over items have not consumed yet.
  private(set) var count = 0
  /// The pages that loops over items are in the middle of.
  var open = OpenPages<Item>()
  /// The position behind the last delivered item.
  private var end: Position?
  /// Whether more parts of the last page follow.
  private var isWithinPage = false

  init(start: Position) { end = start }

  /// The number of items that consumers are done with or are handling.
  var consumed: Int { count - open.unread }

  /// The position at which a later walk continues behind the consumed items.
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
