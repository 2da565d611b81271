import QuireCore

/// The pages that a list holds of one run through its listing, how far they reach at both ends, and
/// how much the consumer has used.
///
/// Each page has an ordinal: 0 is the first page of the run, and pages before it are negative. A
/// page that a window dropped leaves a mark, so the known pages are `front`, `pages`, `back`. A run
/// that starts after the beginning of the listing (`ListStart.pages` > 0) counts pages before it
/// that were never loaded. Consumed and loaded items are counted from the run's start; items loaded
/// before it are counted in `prepended`.
struct ListContent<Item: Sendable>: Sendable {
  /// The state of the listing after the last page.
  enum Tail: Sendable {
    /// → `failed`, `exhausted`
    case open
    /// `isShown` once a loop or a caller got the error. → `open`, `exhausted`
    case failed(ListLoad, any Error, isShown: Bool)
    /// Final for this content.
    case exhausted
  }

  /// The state of the listing before the first page.
  enum Head: Sendable {
    /// → `failed`, `exhausted`
    case open
    /// → `open`, `exhausted`
    case failed(PageError)
    /// Final for this content.
    case exhausted
  }

  /// A dropped page: its position, its number of items and its fingerprint.
  struct Mark: Hashable, Sendable {
    var position: Position
    var count: Int
    var fingerprint: Int?
  }

  /// The page that a loop got last, and the content it belonged to.
  struct Place: Hashable, Sendable {
    var generation: Int
    /// The ordinal of the page.
    var page: Int
  }

  /// The number of contents that the list had before this one.
  let generation: Int
  private(set) var pages: [Page<Item>] = []
  private(set) var stamps: [PageStamp] = []
  /// The dropped pages at both ends, the nearest one last.
  private(set) var front: [Mark] = []
  private(set) var back: [Mark] = []
  /// The ordinal of the first page held.
  private(set) var first = 0
  /// The number of items between the run's start and the first page held; negative before the
  /// start.
  private(set) var heldStart = 0
  /// The number of the load that began this run.
  let run: Int
  /// The number of pages, and an estimate of the number of items, before the first page held. If
  /// the estimate was too low, it is negative until the start is reached.
  private(set) var before: (pages: Int, items: Int)
  /// The page number of the position where the list starts.
  private(set) var listStart: Int
  /// The number of pages between the list's start and the start of the run.
  private let passed: Int
  /// The number of items in a page, taken from the first page of the list.
  private(set) var pageSize: Int
  /// The index in `pages` of the page navigated to last; outside of its indices if that page was
  /// dropped.
  var current = 0
  var tail = Tail.open
  var head = Head.open
  /// A page that arrived after a reload had cancelled its load. The walk has passed it, so it is
  /// added if the reload fails.
  var late: (running: ListMachine<Item>.Running, page: LoadedPage<Item>)?
  /// Whether any page was loaded.
  private(set) var hasLoaded = false
  private(set) var consumed = 0
  /// The number of items loaded after the run's start, and the number loaded before it.
  private(set) var loaded = 0
  private(set) var prepended = 0
  private var lastPageCount = 0
  /// The ordinals of the parts that are not the last of their page: limits count all parts of a
  /// page as one.
  private var parts: [Int] = []
  /// The positions that precede the first known page and follow the last one.
  private var onward: (leading: Position?, trailing: Position?)
  /// The ordinal of the first page that the consumer has not begun, and the number of items before
  /// it.
  private var unbegun = (page: 0, items: 0)

  init(
    _ start: ListStart, generation: Int = 0, run: Int = 0, listStart: Int = 0, pageSize: Int = 0
  ) {
    before = (start.pages, start.items)
    self.generation = generation
    self.run = run
    self.listStart = listStart
    passed = start.pages - listStart
    self.pageSize = pageSize
  }

  /// Returns the content that replaces this one when a run begins at `start`.
  func replaced(at start: ListStart, run: Int) -> ListContent {
    let isElsewhere = start.pages > 0
    return ListContent(
      start, generation: generation + 1, run: run, listStart: isElsewhere ? listStart : 0,
      pageSize: isElsewhere ? pageSize : 0)
  }

  var progress: Progress {
    Progress(consumed: consumed, loaded: loaded, lastPage: lastPageCount)
  }

  var isExhausted: Bool {
    if case .exhausted = tail { true } else { false }
  }

  /// Whether the consumer has begun every page, so that another may be loaded ahead.
  var isBegun: Bool { unbegun.page >= known.upperBound }

  mutating func append(_ page: Page<Item>, _ stamp: PageStamp) {
    if !hasLoaded, pageSize == 0 { pageSize = page.items.count }
    if !hasLoaded { onward.leading = page.before }
    onward.trailing = page.next
    noteParts(page, at: known.upperBound)
    if back.isEmpty {
      pages.append(page)
      stamps.append(stamp)
    } else {
      back.insert(Mark(page), at: 0)
    }
    hasLoaded = true
    loaded += page.items.count
    if !page.items.isEmpty { lastPageCount = page.items.count }
  }

  /// Records whether more parts follow the last known page.
  private mutating func noteParts(_ page: Page<Item>, at ordinal: Int) {
    if parts.last == ordinal { parts.removeLast() }
    if page.hasMoreParts { parts.append(ordinal) }
  }

  mutating func prepend(_ page: Page<Item>, _ stamp: PageStamp) {
    let isCounted = before.pages > front.count
    prepended += page.items.count
    onward.leading = page.before
    if front.isEmpty {
      pages.insert(page, at: 0)
      stamps.insert(stamp, at: 0)
      first -= 1
      heldStart -= page.items.count
      current += 1
    } else {
      front.insert(Mark(page), at: 0)
      if !isCounted { before = (before.pages + 1, before.items + page.items.count) }
    }
    if !isCounted {
      // Page numbers now count from the new page.
      listStart += 1
    } else if front.isEmpty {
      before = (before.pages - 1, before.items - page.items.count)
    }
  }

  /// An estimate of the number of items before the first page held, at least 0.
  var itemsBefore: Int { max(0, before.items) }

  /// Notes that the first known page is the first of the listing, and corrects the estimates before
  /// it.
  mutating func reachStart() {
    head = .exhausted
    before = (front.count, front.reduce(0) { $0 + $1.count })
  }

  /// Records how many items are consumed, counted from the first known one.
  mutating func report(consumed count: Int) { note(consumed: max(0, count) - prepended) }

  /// Records how many items are consumed, counted from the run's start.
  mutating func note(consumed count: Int) {
    let count = min(count, loaded)
    while unbegun.items < count, begin() {}
    consumed = max(consumed, count)
  }

  /// Marks the next page as begun.
  private mutating func begin() -> Bool {
    guard known.contains(unbegun.page) else { return false }
    unbegun = (unbegun.page + 1, unbegun.items + count(of: unbegun.page))
    return true
  }

  // MARK: The window

  /// The ordinals of the pages held, and of the pages held or dropped.
  var held: Range<Int> { first..<first + pages.count }
  var known: Range<Int> { first - front.count..<first + pages.count + back.count }

  /// Whether a page was loaded and then dropped.
  func isDropped(_ ordinal: Int) -> Bool { known.contains(ordinal) && !held.contains(ordinal) }

  func mark(of ordinal: Int) -> Mark {
    if ordinal < first { return front[front.count - (first - ordinal)] }
    if held.contains(ordinal) { return Mark(pages[ordinal - first]) }
    return back[back.count - 1 - (ordinal - held.upperBound)]
  }

  private func count(of ordinal: Int) -> Int { mark(of: ordinal).count }

  func position(of ordinal: Int) -> Position { mark(of: ordinal).position }

  /// Returns the start of a walk at the page with this ordinal, and the number of pages and items
  /// before it. Pages that a jump skipped count as if they were as long as the first one.
  func start(_ position: Position, at ordinal: Int) -> ListStart {
    let between = min(first, ordinal)..<max(first, ordinal)
    let items = between.reduce(0) { $0 + count(of: $1) }
    return ListStart(
      position: position, pages: passed + ordinal - parts.count(where: { $0 < ordinal }),
      items: passed * pageSize + heldStart + (ordinal < first ? -items : items))
  }

  /// Holds a known page that was loaded again. If it is next to the pages held, it joins them;
  /// otherwise it replaces them.
  mutating func hold(_ page: Page<Item>, at ordinal: Int, _ stamp: PageStamp) {
    let old = count(of: ordinal)
    let growth = page.items.count - old
    if ordinal == known.upperBound - 1 { noteParts(page, at: ordinal) }
    if ordinal < 0 { prepended += growth } else { loaded += growth }
    if 0..<unbegun.page ~= ordinal { unbegun.items += growth }
    consumed = min(consumed, loaded)
    if ordinal < first - 1 || ordinal > held.upperBound { dropAll(around: ordinal) }
    if held.contains(ordinal) {
      pages[ordinal - first] = page
      stamps[ordinal - first] = stamp
    } else if ordinal < first {
      front.removeLast()
      pages.insert(page, at: 0)
      stamps.insert(stamp, at: 0)
      first -= 1
      heldStart -= old
      before = (before.pages - 1, before.items - old)
      current += 1
    } else {
      back.removeLast()
      pages.append(page)
      stamps.append(stamp)
    }
    if ordinal < 0 { heldStart -= growth }
  }

  /// Marks the pages after this one as stale: they may have changed since they were loaded.
  mutating func expire(after ordinal: Int) {
    for index in stamps.indices where first + index > ordinal { stamps[index].isStale = true }
  }

  /// Returns the page without the items that the next part of the same source page has.
  func own(_ page: Page<Item>, at ordinal: Int) -> Page<Item> {
    guard known.contains(ordinal + 1) else { return page }
    let next = position(of: ordinal + 1)
    return next.itemOffset > 0 ? page.endingAt(next) : page
  }

  /// Updates the neighbor of a page that was loaded again and may have other links now. If the page
  /// changed, the neighbor is stale. Returns the ends of the known pages that link elsewhere now,
  /// with the new links.
  mutating func link(from ordinal: Int, isChanged: Bool) -> [(end: Threshold.End, to: Position?)] {
    let page = pages[ordinal - first]
    var ends: [(Threshold.End, Position?)] = []
    if ordinal == known.upperBound - 1, Self.isElsewhere(page.next, onward.trailing, isChanged) {
      onward.trailing = page.next
      ends.append((.trailing, page.next))
    }
    if ordinal == known.lowerBound, Self.isElsewhere(page.before, onward.leading, isChanged) {
      onward.leading = page.before
      ends.append((.leading, page.before))
    }
    let neighbour = ordinal < 0 ? ordinal - 1 : ordinal + 1
    guard let target = ordinal < 0 ? page.previous : page.next else { return ends }
    if held.contains(neighbour), isChanged, pages[neighbour - first].position != target {
      pages[neighbour - first].position = target
      stamps[neighbour - first].isStale = true
    } else if neighbour < first, !front.isEmpty {
      front[front.count - (first - neighbour)].position = target
    } else if neighbour >= held.upperBound, !back.isEmpty {
      back[back.count - 1 - (neighbour - held.upperBound)].position = target
    }
    return ends
  }

  /// Whether a link leads elsewhere than before. An unchanged page may have another token for the
  /// same place.
  private static func isElsewhere(_ now: Position?, _ then: Position?, _ isChanged: Bool) -> Bool {
    now != then && (isChanged || now == nil || then == nil)
  }

  /// Drops all pages held, so that the page with this ordinal can be held.
  private mutating func dropAll(around ordinal: Int) {
    while first < ordinal, !pages.isEmpty { dropFirst() }
    while !pages.isEmpty { dropLast() }
    // Without pages, only the marks have to be moved across.
    while first < ordinal, let mark = back.popLast() {
      front.append(mark)
      step(mark.count, by: 1)
    }
    while first > ordinal, let mark = front.popLast() {
      back.append(mark)
      step(-mark.count, by: -1)
    }
  }

  private mutating func step(_ items: Int, by pages: Int) {
    first += pages
    heldStart += items
    before = (before.pages + pages, before.items + items)
    current -= pages
  }

  private mutating func dropFirst() {
    let page = pages.removeFirst()
    stamps.removeFirst()
    front.append(Mark(page))
    step(page.items.count, by: 1)
  }

  private mutating func dropLast() {
    stamps.removeLast()
    if let page = pages.popLast() { back.append(Mark(page)) }
  }

  /// Drops pages at one end until the rest fits into the window, or the next page to drop is in
  /// `kept`.
  mutating func trim(
    to window: ListWindow, at end: Threshold.End, keeping kept: ClosedRange<Int>?
  ) {
    var bytes = window.bytes == nil ? 0 : pages.reduce(0) { $0 + $1.traffic.bytes }
    while pages.count > window.pages ?? .max || bytes > window.bytes ?? .max, pages.count > 1 {
      let ordinal = end == .leading ? first : held.upperBound - 1
      if let kept, kept.contains(ordinal) { return }
      bytes -= pages[ordinal - first].traffic.bytes
      if end == .leading { dropFirst() } else { dropLast() }
    }
  }

  /// Whether a page, the pages to keep, and all pages between them fit into the window. A page next
  /// to the pages to keep always fits.
  func fits(_ ordinal: Int, beside kept: ClosedRange<Int>, in window: ListWindow) -> Bool {
    if (kept.lowerBound - 1...kept.upperBound + 1).contains(ordinal) { return true }
    let kept = kept.clamped(to: known.lowerBound...max(known.lowerBound, known.upperBound - 1))
    let needed = min(ordinal, kept.lowerBound)...max(ordinal, kept.upperBound)
    if needed.count > window.pages ?? .max { return false }
    guard let limit = window.bytes else { return true }
    // A page that is not loaded counts as large as the last one.
    let sizes = needed.map { number in
      (held.contains(number) ? pages[number - first] : pages.last)?.traffic.bytes ?? 0
    }
    return sizes.reduce(0, +) <= limit
  }

  /// Returns the ordinal of the next page to load for a view of these pages, except failed pages:
  /// first a visible page that was dropped, then a dropped page next to the visible ones, then a
  /// visible page that is stale. Nil if there is none.
  func wanted(by visible: ClosedRange<Int>, without failed: some Sequence<Int>) -> Int? {
    let near = visible.clamped(to: known.lowerBound...max(known.lowerBound, known.upperBound - 1))
    guard !pages.isEmpty else { return nil }
    if !held.overlaps(near.lowerBound..<near.upperBound + 1) {
      return near.first { !failed.contains($0) }
    }
    let (next, before) = (held.upperBound, first - 1)
    if near.upperBound >= next - 1, !back.isEmpty, !failed.contains(next) { return next }
    if near.lowerBound <= first, !front.isEmpty, !failed.contains(before) { return before }
    return near.first {
      held.contains($0) && !failed.contains($0) && stamps[$0 - first].isStale
    }
  }

  /// Returns the ordinals of the pages that have these items, counted from the run's start; nil if
  /// no page is held.
  func ordinals(ofItems items: Range<Int>) -> ClosedRange<Int>? {
    guard !pages.isEmpty else { return nil }
    let lower = page(ofItem: items.lowerBound).ordinal
    return lower...max(lower, page(ofItem: max(items.lowerBound, items.upperBound - 1)).ordinal)
  }

  /// Returns the ordinal of the page that has an item, counted from the run's start, or of the
  /// nearest page; and the number of that page's first item.
  private func page(ofItem item: Int) -> (ordinal: Int, start: Int) {
    var (ordinal, start) = (first, heldStart)
    while item < start, ordinal > known.lowerBound {
      ordinal -= 1
      start -= count(of: ordinal)
    }
    while ordinal < known.upperBound - 1, item >= start + count(of: ordinal) {
      start += count(of: ordinal)
      ordinal += 1
    }
    return (ordinal, start)
  }

  // MARK: Finding pages

  /// Returns the ordinal of the next page for a loop: the first known page for a new loop, and for
  /// one whose last page belonged to an earlier content.
  func ordinal(after place: Place?) -> Int {
    place.map { $0.generation == generation ? $0.page + 1 : known.lowerBound } ?? known.lowerBound
  }

  /// Returns the next page for a loop, and counts it as consumed; nil if the page is not held.
  mutating func page(after place: Place?) -> (Page<Item>, Place)? {
    let ordinal = ordinal(after: place)
    guard held.contains(ordinal) else { return nil }
    return (pages[ordinal - first], begin(ordinal))
  }

  /// Counts a page, and all pages before it, as consumed by a loop. Returns the loop's new place.
  mutating func begin(_ ordinal: Int) -> Place {
    if ordinal >= unbegun.page {
      while unbegun.page <= ordinal, begin() {}
      consumed = max(consumed, unbegun.items)
    }
    return Place(generation: generation, page: ordinal)
  }

  /// Returns the index in `pages` that a command asks for, which may be out of bounds; nil for an
  /// item after the last known one.
  func index(for command: PageCommand) -> Int? {
    switch command {
    case .next: current + 1
    case .previous: current - 1
    case .page(let number): max(0, number) - before.pages
    case .item(let item): index(ofItem: max(0, item) - before.items)
    }
  }

  private func index(ofItem item: Int) -> Int? {
    let item = item + heldStart
    let (ordinal, start) = page(ofItem: item)
    if item < start { return -front.count - 1 }
    return known.contains(ordinal) && item < start + count(of: ordinal) ? ordinal - first : nil
  }

  /// Returns the ordinal of the page that a command asks for if the page was dropped; nil
  /// otherwise.
  func dropped(for command: PageCommand) -> Int? {
    guard let index = index(for: command), isDropped(first + index) else { return nil }
    return first + index
  }

  /// Returns the number of the page that a command asks for if the page is too far away to be
  /// loaded next: neither known nor the one after the last. Nil otherwise, and after the end of the
  /// listing.
  func distantPage(for command: PageCommand) -> Int? {
    let number: Int
    if let index = index(for: command) {
      if case .item(let item) = command, index < -front.count, pageSize > 0 {
        number = max(0, item) / pageSize
      } else {
        number = before.pages + index
      }
    } else if case .item(let item) = command, pageSize > 0 {
      number = item / pageSize
    } else {
      return nil
    }
    let isNear = (-front.count...pages.count + back.count).contains(number - before.pages)
    return number < 0 || isNear || isExhausted && number > before.pages ? nil : number
  }
}

extension Page {
  /// The position before this page: the start of its own source page, if this one begins within it.
  var before: Position? { position.itemOffset > 0 ? position.page : previous }
}

extension ListContent.Mark {
  init(_ page: Page<Item>) {
    self.init(
      position: page.position, count: page.items.count, fingerprint: page.head.fingerprint)
  }
}
