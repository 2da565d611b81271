import QuireCore

/// What a list holds of one run through its listing: the pages, how far they reach at both ends, and
/// how far the consumer is.
///
/// A page of the run has an ordinal: 0 where the run began, negative in front of it. Those that a window
/// dropped are known by their marks, so that pages held lie between marks: `front`, `pages`, `back`. A run
/// that begins elsewhere (`ListStart.pages` > 0) counts pages in front of it that it never saw. Items are
/// consumed and loaded after the run's start; those in front of it are `prepended`.
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

  /// A page that was dropped: where it starts, how many items it had, and which.
  struct Mark: Hashable, Sendable {
    var position: Position
    var count: Int
    var fingerprint: Int?
  }

  /// Which page of which content a loop got last.
  struct Place: Hashable, Sendable {
    var generation: Int
    /// Its ordinal.
    var page: Int
  }

  /// How often the content was replaced before.
  let generation: Int
  private(set) var pages: [Page<Item>] = []
  private(set) var stamps: [PageStamp] = []
  /// The pages that were dropped at both ends, the nearest last.
  private(set) var front: [Mark] = []
  private(set) var back: [Mark] = []
  /// The ordinal of the first page held.
  private(set) var first = 0
  /// How many items lie between the run's start and the first page held; negative in front of it.
  private(set) var heldStart = 0
  /// The load that began this run.
  let run: Int
  /// How many pages, and about how many items, lie before the first one held. An estimate may turn out too
  /// small, and is negative then until the start is reached.
  private(set) var before: (pages: Int, items: Int)
  /// The number of the page at the position where the list starts.
  private(set) var listStart: Int
  /// How many pages lie between that and where the run began.
  private let passed: Int
  /// How many items a page has, by the first one loaded where the list starts.
  private(set) var pageSize: Int
  /// Which of `pages` was navigated to last; beyond them where it was dropped.
  var current = 0
  var tail = Tail.open
  var head = Head.open
  /// A page that came although a reload had cancelled its load. The walk is beyond it, so it is added
  /// after all where the reload fails.
  var late: (running: ListMachine<Item>.Running, page: LoadedPage<Item>)?
  /// Whether a page was ever loaded.
  private(set) var hasLoaded = false
  private(set) var consumed = 0
  /// Items loaded from the run's start on, and in front of it.
  private(set) var loaded = 0
  private(set) var prepended = 0
  private var lastPageCount = 0
  /// The ordinals, from 0 on, of those pages of which more parts follow: limits count all parts as one page.
  private var parts: [Int] = []
  /// Where the first and the last page known lead on.
  private var onward: (leading: Position?, trailing: Position?)
  /// The first page after the run's start that is not begun, and the items before it.
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

  /// The content that follows this one when a run begins at `start`.
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

  /// Whether every page after the run's start is begun, so that another one may be loaded ahead.
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

  /// Notes whether more parts follow the last page known.
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
      // What was counted from 0 is counted from the new page.
      listStart += 1
    } else if front.isEmpty {
      before = (before.pages - 1, before.items - page.items.count)
    }
  }

  /// About how many items lie before the first page held.
  var itemsBefore: Int { max(0, before.items) }

  /// No page lies before those known: what was counted there is as many as they are.
  mutating func reachStart() {
    head = .exhausted
    before = (front.count, front.reduce(0) { $0 + $1.count })
  }

  /// The consumer says how many items it is done with, counted from the first one known.
  mutating func report(consumed count: Int) { note(consumed: count - prepended) }

  /// The consumer is done with so many items behind the run's start.
  private mutating func note(consumed count: Int) {
    let count = min(count, loaded)
    while unbegun.items < count, begin() {}
    consumed = max(consumed, count)
  }

  /// Notes that the first page not begun is.
  private mutating func begin() -> Bool {
    guard known.contains(unbegun.page) else { return false }
    unbegun = (unbegun.page + 1, unbegun.items + count(of: unbegun.page))
    return true
  }

  // MARK: The window

  /// The ordinals of pages that are held, and of those that are held or dropped.
  var held: Range<Int> { first..<first + pages.count }
  var known: Range<Int> { first - front.count..<first + pages.count + back.count }

  /// Whether a page was loaded, and was dropped since.
  func isDropped(_ ordinal: Int) -> Bool { known.contains(ordinal) && !held.contains(ordinal) }

  func mark(of ordinal: Int) -> Mark {
    if ordinal < first { return front[front.count - (first - ordinal)] }
    if held.contains(ordinal) { return Mark(pages[ordinal - first]) }
    return back[back.count - 1 - (ordinal - held.upperBound)]
  }

  private func count(of ordinal: Int) -> Int { mark(of: ordinal).count }

  func position(of ordinal: Int) -> Position { mark(of: ordinal).position }

  /// A walk that begins with the page of this ordinal, and how much of the listing lies between the list's start
  /// and it: pages that a jump has passed count as if they were as long as the first one.
  func start(_ position: Position, at ordinal: Int) -> ListStart {
    let between = min(first, ordinal)..<max(first, ordinal)
    let items = between.reduce(0) { $0 + count(of: $1) }
    return ListStart(
      position: position, pages: passed + ordinal - parts.count(where: { $0 < ordinal }),
      items: passed * pageSize + heldStart + (ordinal < first ? -items : items))
  }

  /// A known page was loaded again: beside the pages held it joins them, far from them it takes their
  /// place.
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

  /// A page that was loaded again, without what the one behind it has of the same page of the source.
  func own(_ page: Page<Item>, at ordinal: Int) -> Page<Item> {
    guard known.contains(ordinal + 1) else { return page }
    let next = position(of: ordinal + 1)
    return next.itemOffset > 0 ? page.endingAt(next) : page
  }

  /// A page that was loaded again may lead elsewhere than it did: the one behind it is found there, and is
  /// stale where this one has changed. Returns the ends at which what is known leads elsewhere now.
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

  /// A page that has not changed may name the same place by another token.
  private static func isElsewhere(_ now: Position?, _ then: Position?, _ isChanged: Bool) -> Bool {
    now != then && (isChanged || now == nil || then == nil)
  }

  /// Drops everything held, so that a page elsewhere can be held.
  private mutating func dropAll(around ordinal: Int) {
    while first < ordinal, !pages.isEmpty { dropFirst() }
    while !pages.isEmpty { dropLast() }
    // No page is held: where the next one comes is only a matter of marks.
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

  /// Drops pages at one end until what is held fits into the window, or what is next is to be kept.
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

  /// Whether a page, and all between it and what is kept, fit into the window; one beside that always does.
  func fits(_ ordinal: Int, beside kept: ClosedRange<Int>, in window: ListWindow) -> Bool {
    if (kept.lowerBound - 1...kept.upperBound + 1).contains(ordinal) { return true }
    let kept = kept.clamped(to: known.lowerBound...max(known.lowerBound, known.upperBound - 1))
    let needed = min(ordinal, kept.lowerBound)...max(ordinal, kept.upperBound)
    if needed.count > window.pages ?? .max { return false }
    guard let limit = window.bytes else { return true }
    // One that has not come yet is as large as the last one.
    let sizes = needed.map { number in
      (held.contains(number) ? pages[number - first] : pages.last)?.traffic.bytes ?? 0
    }
    return sizes.reduce(0, +) <= limit
  }

  /// The page that a view of these pages needs next, but for those that failed: one it shows, then one beside it,
  /// then one that is stale.
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

  /// The pages that have these items, counted from the run's start.
  func ordinals(ofItems items: Range<Int>) -> ClosedRange<Int>? {
    guard !pages.isEmpty else { return nil }
    let lower = page(ofItem: items.lowerBound).ordinal
    return lower...max(lower, page(ofItem: max(items.lowerBound, items.upperBound - 1)).ordinal)
  }

  /// The page that has an item, counted from the run's start, or the nearest; and its first item.
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

  /// A view shows these items: up to there they are consumed.
  mutating func show(_ items: Range<Int>) { note(consumed: items.upperBound) }

  // MARK: Finding pages

  /// The ordinal of the page after `place` for a loop.
  func ordinal(after place: Place?) -> Int {
    place.map { $0.generation == generation ? $0.page + 1 : known.lowerBound } ?? known.lowerBound
  }

  /// The page after `place` for a loop, which counts as consumed; nil where it is not held.
  mutating func page(after place: Place?) -> (Page<Item>, Place)? {
    let ordinal = ordinal(after: place)
    guard held.contains(ordinal) else { return nil }
    return (pages[ordinal - first], begin(ordinal))
  }

  /// A loop gets this page.
  mutating func begin(_ ordinal: Int) -> Place {
    if ordinal >= unbegun.page {
      while unbegun.page <= ordinal, begin() {}
      consumed = max(consumed, unbegun.items)
    }
    return Place(generation: generation, page: ordinal)
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
    let item = item + heldStart
    let (ordinal, start) = page(ofItem: item)
    if item < start { return -front.count - 1 }
    return known.contains(ordinal) && item < start + count(of: ordinal) ? ordinal - first : nil
  }

  /// The ordinal of the page that a command means where it was dropped.
  func dropped(for command: PageCommand) -> Int? {
    guard let index = index(for: command), isDropped(first + index) else { return nil }
    return first + index
  }

  /// The number of the page that a command means where it is neither known nor the one behind the last:
  /// one to seek.
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
  /// Where what comes before this page starts: in the same page of the source, where this one begins within it.
  var before: Position? { position.itemOffset > 0 ? position.page : previous }
}

extension ListContent.Mark {
  init(_ page: Page<Item>) {
    self.init(
      position: page.position, count: page.items.count, fingerprint: page.fingerprint)
  }
}

/// Which load brought a page; one that came from a store is stale until it is loaded again.
package struct PageStamp: Hashable, Sendable {
  package var load: Int
  package var isStale = false
}

/// What a list loads: a page at one of its ends, a page that is known, or the first page of a new run.
enum ListLoad: Hashable, Sendable {
  case more, before, reload
  /// A page that was dropped or is stale, by its ordinal; a loop only passes by.
  case again(Int, isForLoop: Bool = false)
  /// Begins a run at a page that is not held.
  case seek(ListStart)

  /// Whether it brings nothing to the end of what is held.
  var isBeside: Bool {
    switch self {
    case .before, .again: true
    case .more, .reload, .seek: false
    }
  }

  /// Whether a walk of its own is needed.
  var isNewRun: Bool {
    switch self {
    case .more, .before, .again: false
    case .reload, .seek: true
    }
  }
}

/// Where a run or a walk begins.
struct ListStart: Hashable, Sendable {
  var position: Position
  /// How many pages lie before it.
  var pages = 0
  /// How many items these have, as far as pages have one size.
  var items = 0
}
