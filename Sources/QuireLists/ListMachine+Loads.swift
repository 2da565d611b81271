import QuireCore

// The results of loads, and the waiters that get them.
extension ListMachine {
  /// Takes the answer of the load with this number, which has ended.
  mutating func finished(
    _ id: Int, _ answer: LoadedPage<Item>, at now: Duration? = nil
  ) -> Effects {
    var effects = Effects(hasEnded: true)
    switch activity {
    case .loading(let running) where running.id == id:
      activity = .idle
      settle(running, answer, &effects)
      // Looking ahead after a failure or cancellation could repeat the load forever.
      proceed(&effects, looksAhead: !answer.isFailure)
    case .cancelling(let running) where running.id == id:
      let isReplaced = isReloading
      activity = .idle
      if [.more, .before].contains(running.load), !answer.isFailure, !startsAnew {
        // The walk has passed this late page and would not read it again.
        if isReplaced {
          content.late = (running, answer)
        } else {
          settle(running, answer, &effects)
        }
      }
      proceed(&effects, looksAhead: !waiters.isEmpty)
    case .idle, .loading, .cancelling:
      preconditionFailure("A list's load \(id) ended while it was \(activity).")
    }
    lastChange = now
    if answer.isCancellation {
      triggers.after.answered(true)
      triggers.before.reset()
      triggers.filledAt = nil
    }
    announce(&effects)
    return effects
  }

  /// Whether the walk so far was abandoned, so that only a new first page can follow.
  private var startsAnew: Bool {
    if case .failed(.reload, _, _) = content.tail { true } else { false }
  }

  /// Whether a reload is running or waiting to run.
  var isReloading: Bool {
    if case .loading(let running) = activity, running.load == .reload { return true }
    return waiters.contains { $0.wish == .load(.reload) }
  }

  private mutating func settle(
    _ running: Running, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    let load = running.load
    if answer.isCancellation, case .failed(let error) = answer {
      return wake(.failed(error), &effects) { load == .before ? !$0.wantsMore : $0.wantsMore }
    }
    switch load {
    case .before:
      settleBefore(running, answer, &effects)
    case .more:
      settleAfter(running, answer, &effects)
    case .again(let ordinal, let isForLoop):
      settleAgain(ordinal, isForLoop, running, answer, &effects)
    case .reload:
      if case .page(let page, _) = answer, keeps(page) {
        return settleUnchanged(page, running, &effects)
      }
      if !answer.isFailure {
        startOver(at: ListStart(position: start), run: running.id, &effects)
      }
      settleAfter(running, answer, &effects)
    case .seek(let start):
      settleSeek(start, running, answer, &effects)
    }
  }

  /// Whether a reloaded first page equals the one held, so that the later pages, of which some came
  /// from a store, stay, and are loaded again when a view shows them.
  private func keeps(_ page: Page<Item>) -> Bool {
    guard let isSame, content.first == 0, content.front.isEmpty, let held = content.pages.first,
      content.stamps.contains(where: \.isStale), page.next == held.next
    else { return false }
    return page.isUnchanged || isSame(held, page)
  }

  private mutating func settleUnchanged(
    _ page: Page<Item>, _ running: Running, _ effects: inout Effects
  ) {
    content.hold(page, at: 0, PageStamp(load: running.id))
    content.expire(after: 0)
    if case .failed = content.tail { content.tail = .open }
    shown.settled = .content
    if content.isExhausted { shown.settled = isEmptyListing ? .empty : .exhausted }
    wake(.loaded(true), &effects) { $0.joins(.reload) }
  }

  /// Settles the load of a known page. A page that no longer exists becomes one without items.
  private mutating func settleAgain(
    _ ordinal: Int, _ isForLoop: Bool, _ running: Running, _ answer: LoadedPage<Item>,
    _ effects: inout Effects
  ) {
    let isTrailing = ordinal >= content.held.upperBound
    let isLeading = ordinal < content.first
    func isMeant(_ waiter: Waiter) -> Bool {
      let isBeside =
        waiter.wish == .load(.more) && isTrailing || waiter.wish == .load(.before) && isLeading
      return !isForLoop && (isBeside || waiter.wish == .load(running.load))
    }
    var again = Page<Item>([])
    switch answer {
    case .failed(let error):
      if !isForLoop { view.failures[ordinal] = PageError(ofSource: error) }
      let load = running.load
      let meant = waiters.filter { isMeant($0) || self.again(for: $0) == load }.map(\.ticket)
      return wake(.failed(error), &effects) { meant.contains($0.ticket) }
    case .page(let page, _): again = content.own(page, at: ordinal)
    case .end: again.position = content.position(of: ordinal)
    }
    view.failures[ordinal] = nil
    if isForLoop { return deliver(again, ordinal, &effects) }
    let old = content.mark(of: ordinal)
    content.hold(again, at: ordinal, PageStamp(load: running.id))
    link(ordinal, from: old, &effects)
    trim(at: isLeading ? .trailing : .leading, for: ordinal)
    if isLeading { triggers.before.answered(true) } else { triggers.after.answered(true) }
    wake(.loaded(true), &effects) { isMeant($0) }
  }

  /// Follows the links of a page that was loaded again.
  private mutating func link(
    _ ordinal: Int, from old: ListContent<Item>.Mark, _ effects: inout Effects
  ) {
    let page = content.pages[ordinal - content.first]
    let isChanged = page.head.fingerprint.map { $0 != old.fingerprint } ?? true
    let ends = content.link(from: ordinal, isChanged: isChanged)
    for (end, target) in ends {
      switch (end, target) {
      case (.trailing, let next?):
        let from = content.start(next, at: content.known.upperBound)
        effects.continues.append((.trailing, from, nil))
        content.tail = .open
      case (.trailing, nil): if page.nextFailure == nil { content.tail = .exhausted }
      case (.leading, let before?):
        let from = content.start(page.position, at: ordinal)
        effects.continues.append((.leading, from, before))
        content.head = .open
      case (.leading, nil): content.head = .exhausted
      }
    }
    guard !ends.isEmpty, !hasFailedToReload else { return }
    shown.settled = .content
    if content.isExhausted { settleEnd(&effects) }
  }

  /// Delivers a page to loops without holding it.
  private mutating func deliver(_ page: Page<Item>, _ ordinal: Int, _ effects: inout Effects) {
    guard waiters.contains(where: { waits($0, for: ordinal) }) else { return }
    let meant = waiters.filter { waits($0, for: ordinal) }.map(\.ticket)
    wake(.page(page, content.begin(ordinal)), &effects) { meant.contains($0.ticket) }
  }

  /// Whether a loop waits for this page.
  private func waits(_ waiter: Waiter, for ordinal: Int) -> Bool {
    guard case .page(let place) = waiter.wish else { return false }
    return content.ordinal(after: place) == ordinal
  }

  /// Drops pages that exceed the window after this page was added, except those that the view shows
  /// and the pages next to them. If the view is too far from the new page to keep both, it counts
  /// as having moved there.
  private mutating func trim(at end: Threshold.End, for ordinal: Int) {
    guard let window = options.window else { return }
    let isAlone = content.held == ordinal..<ordinal + 1
    if let visible = view.visible, !visible.contains(ordinal), isAlone || !hasRoom(for: ordinal) {
      view.visible = ordinal...ordinal
    }
    content.trim(to: window, at: end, keeping: kept)
  }

  /// The pages that the view shows, and one page on either side.
  private var kept: ClosedRange<Int>? {
    view.visible.map { $0.lowerBound - 1...$0.upperBound + 1 }
  }

  /// Whether a page fits into the window beside the pages to keep.
  func hasRoom(for ordinal: Int) -> Bool {
    guard let window = options.window, let kept else { return true }
    return content.fits(ordinal, beside: kept, in: window)
  }

  private mutating func settleAfter(
    _ running: Running, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    let load = running.load
    switch answer {
    case .page(let page, let isLast):
      settlePage(page, isLast: isLast, running, &effects)
      wake(.loaded(true), &effects) { $0.joins(load) }
    case .end:
      content.tail = .exhausted
      if !content.hasLoaded { content.head = .exhausted }
      settleEnd(&effects)
      wake(.loaded(false), &effects) { $0.joins(load) }
    case .failed(let error):
      settleLate(&effects)
      if load == .reload, options.onReload == .clearOnFailure { clear(&effects) }
      let error = error as? PageError ?? PageError(ofSource: error)
      shown.settled =
        load == .reload || !content.hasLoaded ? .loadingError(error) : .loadingMoreError(error)
      if load == .reload, content.hasLoaded {
        // The content stays: only callers that joined the reload get the error.
        return wake(.failed(error), &effects) { $0.joins(load) }
      }
      let isShown = waiters.contains(where: \.isLoop)
      content.tail = .failed(load, error, isShown: isShown)
      wake(.failed(error), &effects) { [content] in $0.wantsMore || !content.hasLoaded }
    }
  }

  /// Settles a jump to a page. If there is no such page, nothing changes.
  private mutating func settleSeek(
    _ start: ListStart, _ running: Running, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    let seeker = waiters.first { $0.hasSought }?.ticket
    switch answer {
    case .page(let page, let isLast) where !page.items.isEmpty || !isLast:
      startOver(at: start, run: running.id, &effects)
      settlePage(page, isLast: isLast, running, &effects)
    case .page, .end:
      wake(.end, &effects) { $0.ticket == seeker }
    case .failed(let error):
      wake(.failed(error), &effects) { $0.ticket == seeker }
    }
  }

  private mutating func settleLate(_ effects: inout Effects) {
    guard let (running, answer) = content.late else { return }
    content.late = nil
    settle(running, answer, &effects)
  }

  private mutating func settlePage(
    _ page: Page<Item>, isLast: Bool, _ running: Running, _ effects: inout Effects
  ) {
    let isFirst = !content.hasLoaded
    let ordinal = content.known.upperBound
    content.append(page, PageStamp(load: running.id))
    if content.isDropped(ordinal) { deliver(page, ordinal, &effects) }
    if content.held.contains(ordinal) { trim(at: .leading, for: ordinal) }
    triggers.after.answered(true)
    // An empty page leaves the content as long as before, so the same offset has to count again.
    if page.items.isEmpty { triggers.reset() }
    if isFirst { content.head = page.before == nil ? .exhausted : .open }
    content.tail = isLast ? .exhausted : .open
    if isLast, isEmptyListing { return settleEnd(&effects) }
    effects.events.append(isFirst ? .reloaded(page) : .appended(page))
    shown.settled = .content
    announce(shown.settled, &effects)
    if isLast { settleEnd(&effects) }
  }

  private mutating func settleBefore(
    _ running: Running, _ answer: LoadedPage<Item>, _ effects: inout Effects
  ) {
    switch answer {
    case .page(let page, let isLast):
      content.prepend(page, PageStamp(load: running.id))
      if content.front.isEmpty { trim(at: .trailing, for: content.first) }
      if isLast { content.reachStart() } else { content.head = .open }
      triggers.before.answered(true)
      if page.items.isEmpty { triggers.reset() }
      effects.events.append(.prepended(page, shift: page.items.count))
      wake(.loaded(true), &effects) { !$0.wantsMore }
    case .end:
      content.reachStart()
      wake(.loaded(false), &effects) { !$0.wantsMore }
    case .failed(let error):
      content.head = .failed(PageError(ofSource: error))
      wake(.failed(error), &effects) { !$0.wantsMore }
    }
  }

  var isEmptyListing: Bool {
    content.loaded + content.prepended + content.itemsBefore == 0
      && !options.deliversEmptyFirstPage
  }

  private mutating func settleEnd(_ effects: inout Effects) {
    // Content that is shorter than its viewport may be filled from the other end.
    triggers.filledAt = nil
    if isEmptyListing {
      effects.events.append(.cleared)
      shown.settled = .empty
    } else {
      shown.settled = .exhausted
    }
  }

  /// Drops everything that was loaded, because the first page of a new run replaces it.
  private mutating func startOver(at start: ListStart, run: Int, _ effects: inout Effects) {
    content = content.replaced(at: start, run: run)
    view = View()
    triggers.reset()
    options.loadsAhead = true
    effects.adoptsRun = true
  }

  /// Shows pages from a store in place of a first load. They are stale.
  mutating func seeded(
    _ pages: [Page<Item>], isSame: @escaping @Sendable (Page<Item>, Page<Item>) -> Bool
  ) -> Effects {
    var effects = Effects()
    guard case .idle = activity, !content.hasLoaded, let first = pages.first, let last = pages.last
    else { return effects }
    self.isSame = isSame
    for page in pages { content.append(page, PageStamp(load: loads, isStale: true)) }
    trim(at: .trailing, for: content.first)
    content.head = first.before == nil ? .exhausted : .open
    content.tail = last.next == nil ? .exhausted : .open
    effects.events.append(.reloaded(first))
    shown.settled = .content
    announce(shown.settled, &effects)
    if last.next == nil { settleEnd(&effects) }
    announce(&effects)
    return effects
  }

  /// Drops everything that was loaded.
  mutating func clear(_ effects: inout Effects) {
    content = content.replaced(at: ListStart(position: start), run: loads)
    view = View()
    triggers.reset()
    options.loadsAhead = true
    effects.events.append(.cleared)
  }

  // MARK: Waiters

  /// Serves the waiters, and then starts the load that is wanted or due.
  private mutating func proceed(_ effects: inout Effects, looksAhead: Bool) {
    if !isReloading {
      settleLate(&effects)
      serveLoops(&effects)
      serveNavigations(&effects)
      wake(.loaded(false), &effects) { [content] in
        if case .load(.again(let ordinal, _)) = $0.wish { return !content.known.contains(ordinal) }
        return false
      }
      if content.isExhausted {
        let ended = waiters.filter { $0.isLoop && again(for: $0) == nil }.map(\.ticket)
        wake(.end, &effects) { ended.contains($0.ticket) }
        if content.back.isEmpty { wake(.loaded(false), &effects) { $0.wish == .load(.more) } }
      }
      if case .exhausted = content.head, content.front.isEmpty {
        wake(.loaded(false), &effects) { $0.wish == .load(.before) }
      }
    }
    demandLoad(&effects)
    if looksAhead { lookAhead(&effects) }
  }

  private mutating func serveLoops(_ effects: inout Effects) {
    var waiting: [Waiter] = []
    for waiter in waiters {
      if case .page(let last) = waiter.wish, let (page, place) = content.page(after: last) {
        effects.wake.append((waiter.ticket, .page(page, place)))
      } else {
        waiting.append(waiter)
      }
    }
    waiters = waiting
  }

  /// Serves commands in order until one has to wait.
  mutating func serveNavigations(_ effects: inout Effects) {
    while let index = waiters.firstIndex(where: \.isNavigation),
      let outcome = serve(waiters[index])
    {
      effects.wake.append((waiters.remove(at: index).ticket, outcome))
    }
  }

  /// Returns the outcome of a command; nil if it has to wait for pages.
  private mutating func serve(_ waiter: Waiter) -> Outcome? {
    guard case .navigate(let command) = waiter.wish,
      content.hasLoaded || content.isExhausted, !isReloading
    else { return nil }
    if content.pages.isEmpty { return .end }
    let index = content.index(for: command)
    if let index, content.pages.indices.contains(index) {
      content.current = index
      return .page(content.pages[index], nil)
    }
    if content.dropped(for: command) != nil { return nil }
    if seek(for: waiter) != nil { return nil }
    // A page this far away would take too long to reach one page at a time.
    if !waiter.hasSought, let number = content.distantPage(for: command),
      number - content.before.pages - content.pages.count > Position.farthestPage
    {
      return .end
    }
    return index.map { $0 < 0 } ?? false || content.isExhausted ? .end : nil
  }

  mutating func wake(
    _ outcome: Outcome, _ effects: inout Effects, _ isMeant: (Waiter) -> Bool
  ) {
    for waiter in waiters where isMeant(waiter) { effects.wake.append((waiter.ticket, outcome)) }
    waiters.removeAll(where: isMeant)
  }
}

extension ListMachine.Waiter {
  var isNavigation: Bool {
    if case .navigate = wish { true } else { false }
  }

  var isLoop: Bool {
    if case .page = wish { true } else { false }
  }

  /// Whether the waiter wants this load; a reload also serves a wish for the next page.
  func joins(_ load: ListLoad) -> Bool {
    wish == .load(load) || load == .reload && wish == .load(.more)
  }

  /// Whether the waiter wants anything but the page before the first one.
  var wantsMore: Bool { wish != .load(.before) }
}
