/// The pages a paginator holds, and how far its consumers are.
///
/// Pages have numbers that stay with them: 0 is the first one loaded, those before the start are
/// negative. Counts are cumulative over the walk from page 0 on: `consumed` ≤ `handedOut` ≤
/// `loaded`. What was handed out is consumed when the consumer asks for more, but for the first item
/// of each helping: that one counts at once.
struct PageStore<Item: Sendable>: Sendable {
  /// An item's place.
  struct Place: Comparable {
    var page: Int
    var item = 0

    static func < (left: Place, right: Place) -> Bool {
      (left.page, left.item) < (right.page, right.item)
    }
  }

  let retention: Retention
  private(set) var pages: [Page<Item>] = []
  /// The number of the first page held.
  private(set) var firstPage = 0
  /// The first item that nobody got.
  private(set) var frontier = Place(page: 0)
  /// Where those are who read what others have read already.
  private var readers: [Int: Place] = [:]
  /// What loops over items are in the middle of, where nothing else remembers it.
  private var open = OpenPages<Item>()

  private(set) var consumed = 0
  private(set) var handedOut = 0
  private(set) var loaded = 0
  /// Items that were loaded before the start.
  private(set) var prepended = 0
  private var lastPageCount = 0
  private var largestPage = 0
  /// Whether a page was ever loaded.
  private(set) var hasLoaded = false

  /// Pages handed out, in whole or in part.
  private(set) var pagesHandedOut = 0
  /// Whether more parts of the page handed out last follow.
  private var isWithinPage = false
  /// Where what was handed out ends.
  private var end: Position?

  init(start: Position = .start, retention: Retention = .window) {
    self.retention = retention
    end = start
  }

  /// Where a later walk goes on behind what was taken.
  var checkpoint: Position? { open.checkpoint ?? end }

  /// Whether everything loaded was taken.
  var isRead: Bool { frontier.page == endPage && open.unread == 0 }

  /// Items handed out, but for those that loops have not taken yet.
  var taken: Int { handedOut - open.unread }

  var progress: Progress {
    Progress(consumed: consumed, loaded: loaded, lastPage: lastPageCount)
  }

  /// The number behind that of the last page.
  var endPage: Int { firstPage + pages.count }

  /// How many pages nobody has begun.
  var pagesAhead: Int { endPage - frontier.page - (frontier.item > 0 ? 1 : 0) }

  /// Whether a reader finds something to read.
  func hasPages(for reader: Int) -> Bool {
    open.hasLeftovers || place(of: reader).page < endPage
  }

  mutating func append(_ page: Page<Item>) {
    pages.append(page)
    hasLoaded = true
    loaded += page.items.count
    if !page.items.isEmpty { lastPageCount = page.items.count }
    largestPage = max(largestPage, page.traffic.bytes)
  }

  mutating func prepend(_ page: Page<Item>) {
    pages.insert(page, at: 0)
    firstPage -= 1
    prepended += page.items.count
  }

  /// Whether another page may be loaded besides `pending` ones. It is expected to be as large as the
  /// largest so far, because nobody knows.
  func hasRoom(for limits: LookAhead, pending: Int = 0, isBegun: Bool = false) -> Bool {
    let begun = frontier.item > 0 || isBegun ? 1 : 0
    let first = frontier.page - firstPage + begun
    guard pages.count - first + pending < limits.maxPages else { return false }
    var bytes = largestPage * (pending + 1)
    if first < pages.count { for page in pages[first...] { bytes += page.traffic.bytes } }
    return bytes <= limits.maxBytes
  }

  /// A reader asks for more: it is done with everything so far, unless it is behind others.
  mutating func catchUp(_ reader: Int) {
    if place(of: reader) == frontier { consumed = max(consumed, taken) }
  }

  /// The consumer says how far it is, counted from the first item. Pages it is done with are
  /// released, unless all are kept.
  mutating func report(consumed count: Int) {
    let count = min(count - prepended, loaded)
    while count > handedOut, let rest = unread {
      advance(by: min(count - handedOut, rest))
    }
    consumed = max(consumed, count)
  }
}

// MARK: - Handing out

extension PageStore {
  /// Hands out the rest of the reader's page.
  mutating func takePage(for reader: Int) -> Page<Item> {
    if let page = takeKnown(for: reader) { return page }
    let page = open.takeLeftover() ?? take(unread ?? 0, for: reader)
    consumed = max(consumed, taken)
    return page
  }

  /// Hands out as many items as the reader may have without the next page becoming due on the way.
  mutating func takeHelping(
    for reader: Int, _ limits: LookAhead, isLoading: Bool, isIdle: Bool
  ) -> Page<Item> {
    if let page = takeKnown(for: reader) { return page }
    // One by one, because each may make the next page due.
    if let page = open.takeLeftover(limit: 1) {
      consumed += 1
      return page
    }
    guard let rest = unread, rest > 0 else { return takePage(for: reader) }
    var progress = progress
    progress.consumed += 1
    var size = rest
    if isLoading {
      // Its arrival moves the threshold, so look again after every item, unless it takes the last
      // room there is.
      if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
    } else if isIdle, hasRoom(for: limits, isBegun: true) {
      if limits.threshold.isExceeded(progress) {
        if hasRoom(for: limits, pending: 1, isBegun: true) { size = 1 }
      } else if let due = limits.threshold.trigger(after: progress) {
        size = min(rest, due - progress.consumed)
      }
    }
    let page = take(size, for: reader)
    consumed = progress.consumed
    return page
  }

  /// The items of the frontier's page that nobody got; nil when there is no such page.
  private var unread: Int? {
    frontier.page < endPage ? pages[frontier.page - firstPage].items.count - frontier.item : nil
  }

  private func place(of reader: Int) -> Place {
    retention == .window ? frontier : readers[reader] ?? Place(page: firstPage)
  }

  /// The page of a reader that is behind the others; nil when it is not.
  private mutating func takeKnown(for reader: Int) -> Page<Item>? {
    let place = place(of: reader)
    guard place < frontier else { return nil }
    var page = pages[place.page - firstPage]
    if place.page == frontier.page {
      page.cut(toItems: frontier.item)
      readers[reader] = frontier
    } else {
      readers[reader] = Place(page: place.page + 1)
    }
    return page.dropping(items: place.item)
  }

  private mutating func take(_ count: Int, for reader: Int) -> Page<Item> {
    let begun = frontier.item
    var page = pages[frontier.page - firstPage].dropping(items: begun)
    page.cut(toItems: count)
    advance(by: count)
    if retention == .all { readers[reader] = frontier }
    return page
  }

  private mutating func advance(by count: Int) {
    let index = frontier.page - firstPage
    if frontier.item == 0 {
      if !isWithinPage { pagesHandedOut += 1 }
      isWithinPage = pages[index].hasMoreParts
    }
    handedOut += count
    frontier.item += count
    end = pages[index].position(afterItems: frontier.item)
    guard frontier.item >= pages[index].items.count else { return }
    frontier = Place(page: frontier.page + 1)
    if retention == .window {
      pages.removeFirst()
      firstPage += 1
    }
  }

  /// Hands `page` to a loop that notes which of its items it has taken. Where all pages are kept,
  /// every loop begins with the first one anyway.
  mutating func open(_ page: Page<Item>, mark: ItemMark) -> Page<Item> {
    retention == .window ? open.open(page, mark: mark) : page
  }

  mutating func forget(reader: Int, mark: ItemMark?) {
    readers[reader] = nil
    if let mark { open.leave(mark) }
  }
}
