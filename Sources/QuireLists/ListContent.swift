import QuireCore

/// What a list holds of one run through its listing: the pages, how far they reach at both ends, and
/// how far the consumer is.
///
/// Pages are counted from the first one known, whether it is held or not; a run that begins elsewhere
/// (`ListStart.pages` > 0) knows of the pages in front of it. Items are consumed and loaded after the run's
/// start; those in front of it are `prepended`.
struct ListContent<Item: Sendable>: Sendable {
  /// What lies behind the last page.
  enum Tail: Sendable {
    /// → `failed`, `exhausted`
    case open
    /// `isShown` once a loop or a caller got the error. → `open`, `exhausted`
    case failed(ListLoad, any Error, isShown: Bool)
    /// Final for this content.
    case exhausted
  }

  /// What lies before the first page.
  enum Head: Sendable {
    /// → `failed`, `exhausted`
    case open
    /// → `open`, `exhausted`
    case failed(PageError)
    /// Final for this content.
    case exhausted
  }

  /// Which page of which content a loop got last.
  struct Place: Hashable, Sendable {
    var generation: Int
    /// Counted from the run's start; negative in front of it.
    var page: Int
  }

  /// How often the content was replaced before.
  let generation: Int
  private(set) var pages: [Page<Item>] = []
  /// How many pages, and about how many items, lie before the first one held.
  private(set) var before: (pages: Int, items: Int)
  /// The number of the page at the position where the list starts.
  private(set) var listStart: Int
  /// How many items a page has, by the first one loaded where the list starts.
  private(set) var pageSize: Int
  /// Which of `pages` was navigated to last.
  var current = 0
  var tail = Tail.open
  var head = Head.open
  /// A page that came although a reload had cancelled its load. The walk is beyond it, so it is added
  /// after all where the reload fails.
  var late: (load: ListLoad, page: LoadedPage<Item>)?
  /// Whether a page was ever loaded.
  private(set) var hasLoaded = false
  private(set) var consumed = 0
  /// Items loaded from the run's start on, and in front of it.
  private(set) var loaded = 0
  private(set) var prepended = 0
  private var prependedPages = 0
  private var lastPageCount = 0
  /// The first page after the run's start that is not begun, and the items before it.
  private var unbegun = (page: 0, items: 0)

  init(_ start: ListStart, generation: Int = 0, listStart: Int = 0, pageSize: Int = 0) {
    before = (start.pages, start.items)
    self.generation = generation
    self.listStart = listStart
    self.pageSize = pageSize
  }

  /// The content that follows this one when a run begins at `start`.
  func replaced(at start: ListStart) -> ListContent {
    let isElsewhere = start.pages > 0
    return ListContent(
      start, generation: generation + 1, listStart: isElsewhere ? listStart : 0,
      pageSize: isElsewhere ? pageSize : 0)
  }

  var progress: Progress {
    Progress(consumed: consumed, loaded: loaded, lastPage: lastPageCount)
  }

  var isExhausted: Bool {
    if case .exhausted = tail { true } else { false }
  }

  /// Whether every page after the run's start is begun, so that another one may be loaded ahead.
  var isBegun: Bool { unbegun.page == pages.count - prependedPages }

  mutating func append(_ page: Page<Item>) {
    if !hasLoaded, pageSize == 0 { pageSize = page.items.count }
    pages.append(page)
    hasLoaded = true
    loaded += page.items.count
    if !page.items.isEmpty { lastPageCount = page.items.count }
  }

  mutating func prepend(_ page: Page<Item>) {
    pages.insert(page, at: 0)
    prependedPages += 1
    prepended += page.items.count
    current += 1
    if before.pages > 0 {
      before = (before.pages - 1, max(0, before.items - page.items.count))
    } else {
      // What was counted from 0 is counted from the new page.
      listStart += 1
    }
  }

  /// The consumer says how many items it is done with, counted from the first one held.
  mutating func report(consumed count: Int) {
    let count = min(count - prepended, loaded)
    while unbegun.items < count, begin() {}
    consumed = max(consumed, count)
  }

  /// Notes that the first page not begun is.
  private mutating func begin() -> Bool {
    let index = unbegun.page + prependedPages
    guard index < pages.count else { return false }
    unbegun = (unbegun.page + 1, unbegun.items + pages[index].items.count)
    return true
  }

  // MARK: Finding pages

  /// The page after `place` for a loop, which counts as consumed; nil where it is not loaded.
  mutating func page(after place: Place?) -> (Page<Item>, Place)? {
    let index =
      place.map { $0.generation == generation ? $0.page + prependedPages + 1 : 0 } ?? 0
    guard index < pages.count else { return nil }
    let place = Place(generation: generation, page: index - prependedPages)
    if place.page >= unbegun.page {
      while unbegun.page <= place.page, begin() {}
      consumed = max(consumed, unbegun.items)
    }
    return (pages[index], place)
  }

  /// Which of `pages` a command means, whether there is one or not; nil for an item behind the last.
  func index(for command: PageCommand) -> Int? {
    switch command {
    case .next: current + 1
    case .previous: current - 1
    case .page(let number): max(0, number) - before.pages
    case .item(let item): index(ofItem: max(0, item) - before.items)
    }
  }

  private func index(ofItem item: Int) -> Int? {
    var rest = item
    if rest < 0 { return -1 }
    for (index, page) in pages.enumerated() {
      if rest < page.items.count { return index }
      rest -= page.items.count
    }
    return nil
  }

  /// The number of the page that a command means where it is neither held nor the one behind the last:
  /// one to seek.
  func distantPage(for command: PageCommand) -> Int? {
    let number: Int
    if let index = index(for: command) {
      if case .item(let item) = command, index < 0, pageSize > 0 {
        number = max(0, item) / pageSize
      } else {
        number = before.pages + index
      }
    } else if case .item(let item) = command, pageSize > 0 {
      number = item / pageSize
    } else {
      return nil
    }
    let isNear = (0...pages.count).contains(number - before.pages)
    return number < 0 || isNear || isExhausted && number > before.pages ? nil : number
  }
}

/// What a list loads: a page at one of its ends, or the first page of a new run.
enum ListLoad: Hashable, Sendable {
  case more, before, reload
  /// Begins a run at a page that is not held.
  case seek(ListStart)

  /// Whether a walk of its own is needed.
  var isNewRun: Bool {
    switch self {
    case .more, .before: false
    case .reload, .seek: true
    }
  }
}

/// Where a run begins.
struct ListStart: Hashable, Sendable {
  var position: Position
  /// How many pages lie before it.
  var pages = 0
  /// How many items these have, as far as pages have one size.
  var items = 0
}
