import Synchronization

/// Reads the listings of a listing's items: in order, each begun ahead by its first page, or at
/// once, each page when it comes.
final class FanOutReader<Parent: Sendable, Item: Sendable>: PageReader {
  /// A parent, its positions, and the place at which its listing begins.
  private struct ParentItem: Sendable {
    let item: Parent
    /// The position at which the parents continue with this one.
    let position: Position
    /// The position from which this parent is read again, if it is not `position`.
    let anchor: Position?
    /// The position at which the parents continue behind this one; nil behind the last one.
    let after: Position?
    /// The number of its listing among those that were begun, which warnings name; nil if it was
    /// not begun.
    var listing: Int?
    /// The position at which its listing continues; nil at its start.
    var start: Position?

    /// The position from which the parent is read again once its listing was begun.
    var place: Position { anchor ?? position }
  }

  /// A child's listing that was begun.
  private struct Child: Sendable {
    /// The number of its walk among all that were made. No number is used twice, because a read
    /// that was left may still end.
    let number: Int
    /// The parent, from which the listing can be begun anew where it continues.
    var parent: ParentItem
    var walk: Walk<Item>
    /// The progress of its walk when a page of it was delivered, at first when it was begun.
    var progress: WalkMachine.Progress
    var hasDelivered = false
    /// The read of its next page, which runs or has ended.
    var task: Task<Outcome, Never>?
    /// Whether this reader cancelled that read. A source may throw a `CancellationError` of its
    /// own.
    var isCancelled = false
  }

  private typealias Outcome = Result<Page<Item>?, any Error>

  private struct State: Sendable {
    /// The position of the next page.
    var position: Position?
    var parents: Walk<Parent>?
    /// The progress of `parents` when its last page was taken.
    var progress: WalkMachine.Progress?
    /// Whether the walk was left since the last read.
    var isLeft = false
    /// The open listings of a position whose parents were not read again yet, and the position of
    /// the parents behind those that wait.
    var places = FanOutPlaces()
    /// Parents whose listings are not begun yet.
    var waiting: [ParentItem] = []
    var children: [Child] = []
    /// Children whose next page has come, in the order of arrival.
    var ready: [(number: Int, outcome: Outcome)] = []
    var waiter: Suspension<Void>?
    /// The number of children's walks that were made.
    var walks = 0
    /// The error of an outer walk's limit that was reached, until the consumer gets it. Nothing is
    /// requested before that.
    var refusal: PageError?
    var notes = FanOutNotes()
  }

  let identity: ListingIdentity?
  private let parents: Cursor<Parent>
  private let concurrency: Int
  private let isOrdered: Bool
  private let makeChildren: @Sendable (Parent) throws -> Cursor<Item>
  private let state = Mutex(State())

  init(
    _ parents: Cursor<Parent>, concurrency: Int, isOrdered: Bool,
    makeChildren: @escaping @Sendable (Parent) throws -> Cursor<Item>
  ) {
    self.parents = parents
    identity = parents.identity
    self.concurrency = concurrency
    self.isOrdered = isOrdered
    self.makeChildren = makeChildren
  }

  deinit { leave() }

  func read(at position: Position) async throws -> Page<Item>? {
    guard concurrency >= 1 else {
      throw PageError(
        .invalidArgument,
        "flatMap(concurrency: \(concurrency)) cannot work; give a concurrency of 1 or more.",
        attempts: 0)
    }
    try begin(at: position)
    while true {
      if let page = try refused(at: position) { return page }
      do {
        if let page = try await nextPage(at: position) { return page }
      } catch let error as PageError where error.isLimit && WalkReading.isOverLimit {
        state.withLock { state in
          var refusal = state.refusal ?? error
          if let first = state.refusal { refusal.traffic = first.traffic + error.traffic }
          state.refusal = refusal
        }
      } catch let error as PageError {
        var failure = error
        failure.traffic += state.withLock { $0.notes.takeTraffic() }
        throw failure
      }
    }
  }

  /// Waits for the next answer of a child; returns nil if it is no page of the whole walk.
  private func nextPage(at position: Position) async throws -> Page<Item>? {
    if state.withLock({ $0.refusal == nil }) {
      try await open()
      guard state.withLock({ !$0.children.isEmpty }) else {
        var page = Page<Item>.absent(after: .zero)
        state.withLock { $0.notes.report(in: &page) }
        return page
      }
      startReading()
    }
    let number = try await answered()
    return try state.withLock { try take(number, at: position, &$0) }
  }

  // MARK: Beginning

  /// Prepares to read at `position`: continues if the last page ended there, else begins anew.
  private func begin(at position: Position) throws {
    let isNext = state.withLock { state in
      guard state.parents != nil, state.position == position else { return false }
      if state.isLeft { Self.putBack(&state) }
      return true
    }
    if isNext { return }
    leave()
    let places = try FanOutPlaces(position, of: parents.start, isOrdered: isOrdered)
    let start = position.value == nil ? nil : places.remainingParents
    let walk = (start.map { parents.resuming(from: $0) } ?? parents).walk()
    state.withLock {
      $0 = State(
        position: position, parents: walk, progress: walk.progress, places: places,
        walks: $0.walks, notes: $0.notes)
    }
  }

  /// Puts back the children that have delivered nothing, to be begun anew: the walk was left, which
  /// closed what the server held for them.
  private static func putBack(_ state: inout State) {
    state.isLeft = false
    state.refusal = nil
    let others = state.children.filter { !$0.hasDelivered }
    state.children.removeAll { !$0.hasDelivered }
    state.ready.removeAll { answer in others.contains { $0.number == answer.number } }
    state.waiting.insert(contentsOf: others.map { $0.parent }, at: 0)
  }

  /// Begins listings until as many are open as may be. In order, parents are read only if no child
  /// is left, and the error of a later child waits until that child is the first.
  private func open() async throws {
    while true {
      let (count, hasWaiting, places, most) = state.withLock {
        ($0.children.count, !$0.waiting.isEmpty, $0.places, mostOpen($0.notes))
      }
      guard count < most else { return }
      if hasWaiting {
        do {
          try openNext()
        } catch {
          if isOrdered, count > 0 { return }
          throw error
        }
      } else if let (parent, child) = places.open.first {
        try await readParent(at: parent, of: child)
      } else if places.remainingParents != nil, !isOrdered || count == 0 {
        try await readParents()
      } else {
        return
      }
    }
  }

  /// Returns how many listings may be open at once. Several could use up a limit before the first
  /// page is delivered, and a resumed walk would get no further. Once a listing without items was
  /// skipped, it would.
  private func mostOpen(_ notes: FanOutNotes) -> Int {
    notes.hasDelivered || notes.hasSkipped || !WalkReading.isLimited ? concurrency : 1
  }

  /// Reads the parent of an open listing, which continues at `start`: only the parent's item leads
  /// to its listing.
  private func readParent(at position: Position, of start: Position?) async throws {
    let page = try await parents.resuming(from: position).walk().next(isolation: nil)
    try state.withLock { state in
      if let page { state.notes.addUndelivered(page) }
      guard let item = page?.items.first else {
        throw PageError(
          .positionMismatch,
          "A listing that was being read has no parent any more: the parents' listing has changed.",
          remedies: [Remedy(.position, ["start"])])
      }
      state.places.open.removeFirst()
      state.waiting.append(
        ParentItem(
          item: item, position: position, anchor: position, after: state.places.remainingParents,
          listing: state.notes.began(), start: start))
    }
  }

  private func readParents() async throws {
    guard let walk = state.withLock({ $0.parents }) else { return }
    guard let page = try await walk.next(isolation: nil) else {
      state.withLock {
        $0.places.remainingParents = nil
        $0.progress = walk.progress
        $0.notes.noteEnd(of: walk, FanOutNotes.parents)
      }
      return
    }
    let behind = walk.checkpoint(behind: page)
    let waiting = page.items.enumerated().map { index, item in
      ParentItem(
        item: item, position: page.position(ofItem: index), anchor: page.anchor(ofItem: index),
        after: index + 1 < page.items.count ? page.position(afterItems: index + 1) : behind)
    }
    state.withLock {
      $0.waiting += waiting
      $0.progress = walk.progress
      $0.places.remainingParents = behind
      $0.notes.addUndelivered(page)
      if waiting.isEmpty { $0.notes.noteSkipped() }
    }
  }

  private func openNext() throws {
    var (parent, start) = state.withLock { ($0.waiting[0], $0.places.firstChildStart) }
    parent.start = parent.start ?? start
    let cursor: Cursor<Item>
    do {
      cursor = try makeChildren(parent.item)
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "The closure given to flatMap failed: \(error)", underlying: error)
    }
    let walk = (parent.start.map { cursor.resuming(from: $0) } ?? cursor).walk()
    state.withLock { [parent] state in
      state.waiting.removeFirst()
      state.places.firstChildStart = nil
      state.walks += 1
      var child = Child(
        number: state.walks, parent: parent, walk: walk, progress: walk.progress)
      child.parent.listing = parent.listing ?? state.notes.began()
      state.children.append(child)
    }
  }

  // MARK: Reading

  /// Starts the read of the next page of each child whose page is not being read.
  private func startReading() {
    state.withLock { state in
      for index in state.children.indices where state.children[index].task == nil {
        let child = state.children[index]
        state.children[index].task = Task { [weak self, walk = child.walk, number = child.number] in
          let outcome: Outcome
          do {
            outcome = .success(try await walk.next(isolation: nil))
          } catch {
            outcome = .failure(error)
          }
          self?.came(outcome, of: number)
          return outcome
        }
      }
    }
  }

  private func came(_ outcome: Outcome, of number: Int) {
    let waiter = state.withLock { state -> Suspension<Void>? in
      guard state.children.contains(where: { $0.number == number }) else { return nil }
      state.ready.append((number, outcome))
      return state.waiter.take()
    }
    waiter?.resume(returning: ())
  }

  /// Waits until the next page is here: in order the first child's, else any. Returns the child's
  /// number.
  private func answered() async throws -> Int {
    while true {
      let waiter = Suspension<Void>()
      let number = state.withLock { state -> Int? in
        let first = state.children.first?.number
        let next = state.ready.first { !isOrdered || $0.number == first }
        if next == nil { state.waiter = waiter }
        return next?.number
      }
      if let number { return number }
      do {
        try await waiter.value()
      } catch {
        let tasks = state.withLock { state in
          state.waiter = nil
          return Self.cancel(&state)
        }
        for task in tasks { task.cancel() }
        throw error
      }
    }
  }

  /// Marks the running reads as cancelled, and returns them to be cancelled outside of the lock.
  private static func cancel(_ state: inout State) -> [Task<Outcome, Never>] {
    for index in state.children.indices where state.children[index].task != nil {
      state.children[index].isCancelled = true
    }
    return state.children.compactMap { $0.task }
  }

  /// Takes a child's answer; returns nil if it is no page of the whole walk.
  private func take(
    _ number: Int, at position: Position, _ state: inout State
  ) throws -> Page<Item>? {
    guard let place = state.ready.firstIndex(where: { $0.number == number }),
      let index = state.children.firstIndex(where: { $0.number == number })
    else { return nil }
    let outcome = state.ready.remove(at: place).outcome
    let wasCancelled = state.children[index].isCancelled
    (state.children[index].task, state.children[index].isCancelled) = (nil, false)
    switch outcome {
    // An earlier call was cancelled and this one is not: the page is read again.
    case .failure(is CancellationError) where wasCancelled && !Task.isCancelled: return nil
    case .failure(let error): throw error
    case .success(let page?):
      let inner = state.children[index].walk.checkpoint(behind: page)
      if inner != nil || !page.items.isEmpty {
        return deliver(page, of: index, goingOnAt: inner, at: position, &state)
      }
      state.notes.addUndelivered(page)
    case .success(nil): break
    }
    Self.finish(index, &state)
    return nil
  }

  /// Removes a child that has ended. With the last child, the parents' walk is finished if it is
  /// over.
  private static func finish(_ index: Int, _ state: inout State) {
    let child = state.children.remove(at: index)
    state.notes.noteSkipped()
    state.notes.noteEnd(of: child.walk, FanOutNotes.child(child.parent.listing))
    if let parents = state.parents, state.children.isEmpty, state.waiting.isEmpty {
      state.notes.noteEnd(of: parents, FanOutNotes.parents)
    }
  }

  // MARK: Pages

  /// Returns the child's page as one of the whole walk, with the position behind it.
  private func deliver(
    _ page: Page<Item>, of index: Int, goingOnAt inner: Position?, at position: Position,
    _ state: inout State
  ) -> Page<Item> {
    let parent = state.children[index].parent
    let others = places(in: state, without: index)
    let place = { @Sendable [isOrdered] (own: Position?) -> Position in
      let places = isOrdered ? Self.places(from: parent, own) : others.adding(parent.place, own)
      return places.position ?? .start
    }
    let alone = { @Sendable (own: Position) -> Position in
      FanOutPlaces(open: [(parent.place, own)]).position ?? .start
    }
    let start = isOrdered ? position : place(parent.start)
    state.children[index].parent.start = inner
    state.children[index].progress = state.children[index].walk.progress
    state.children[index].hasDelivered = true
    var page = page
    if inner == nil {
      // A limit may have ended the child's listing there.
      page.hasMoreParts = false
      Self.finish(index, &state)
    }
    state.position = places(in: state).position
    state.notes.report(in: &page)
    state.notes.delivered()
    return page.ofWhole(
      at: start, next: state.position, identity: identity, place: { place($0) },
      anchor: isOrdered ? nil : alone)
  }

  /// Answers for an outer walk's limit that was reached: throws its error, or returns an empty
  /// page. Returns nil without such a limit, and while pages are arriving that can be delivered,
  /// because they were paid for.
  ///
  /// The empty page comes before the error if listings without items were skipped: its `next` lies
  /// behind them, so that a resumed walk does not read them again.
  private func refused(at position: Position) throws -> Page<Item>? {
    try state.withLock { state -> Page<Item>? in
      guard isOrdered || !state.children.contains(where: { $0.task != nil }),
        var refusal = state.refusal.take()
      else { return nil }
      refusal.traffic += state.notes.takeTraffic()
      guard state.notes.hasSkipped else {
        if !state.notes.hasDelivered, WalkReading.isLimited {
          refusal.noteWithoutProgress(
            "flatMap reads a page of parents and one of a child before its first item")
        }
        throw refusal
      }
      state.notes.delivered()
      state.position = places(in: state).position
      var page = Page<Item>([], next: state.position)
      page.position = position
      page.traffic = refusal.traffic
      state.notes.report(in: &page)
      if let identity { page.head.belong(to: identity) }
      return page
    }
  }

  // MARK: Positions

  /// Returns the places of the walk, without those of one child: the listing that is read next or,
  /// without order, all that were begun.
  private func places(in state: State, without index: Int? = nil) -> FanOutPlaces {
    if isOrdered {
      guard let parent = state.children.first?.parent ?? state.waiting.first else {
        return state.places
      }
      let start = parent.start ?? state.places.firstChildStart
      // No page of its listing was read: the parents continue here, in the order that they have
      // then.
      let isUnread = start == nil && parent.anchor != parent.position
      return isUnread
        ? FanOutPlaces(remainingParents: parent.position) : Self.places(from: parent, start)
    }
    let children = state.children.indices.filter { $0 != index }.map { state.children[$0].parent }
    let begun = children + state.waiting.filter { $0.listing != nil }
    var places = state.places
    places.open = begun.map { ($0.place, $0.start) } + places.open
    places.remainingParents =
      state.waiting.first { $0.listing == nil }?.position ?? places.remainingParents
    return places
  }

  /// Returns the places of a parent's listing from a position on, and of the parents behind it.
  private static func places(from parent: ParentItem, _ start: Position?) -> FanOutPlaces {
    guard let anchor = parent.anchor else {
      return FanOutPlaces(remainingParents: parent.position, firstChildStart: start)
    }
    return FanOutPlaces(open: [(anchor, start)], remainingParents: parent.after)
  }

  // MARK: The rest

  /// Closes what the walks over parents and children hold at the server. The walks are kept, with
  /// what they count, in case reading continues. Nothing is closed while a read waits: it belongs
  /// to a loop that has come back.
  func leave() {
    let (tasks, parents, children) = state.withLock { state in
      if state.waiter != nil { return ([Task<Outcome, Never>](), Walk<Parent>?.none, [Child]()) }
      state.isLeft = true
      return (Self.cancel(&state), state.parents, state.children)
    }
    for task in tasks { task.cancel() }
    for child in children { child.walk.abandon() }
    parents?.abandon()
  }

  func copy() -> any PageReader<Item> {
    let copy = FanOutReader(
      parents, concurrency: concurrency, isOrdered: isOrdered, makeChildren: makeChildren)
    var state = state.withLock { $0 }
    // A page of parents is still on its way to this reader: the copy begins anew at its position.
    guard let progress = state.progress, let parents = state.parents?.copy(at: progress) else {
      return copy
    }
    state.parents = parents
    state.waiter = nil
    if state.isLeft { Self.putBack(&state) }
    var arriving: [(Int, Task<Outcome, Never>)] = []
    for index in state.children.indices {
      let child = state.children[index]
      if state.ready.contains(where: { $0.number == child.number }) {
        state.children[index].walk = child.walk.copy()
      } else if let walk = child.walk.copy(at: child.progress) {
        state.children[index].walk = walk
        (state.children[index].task, state.children[index].isCancelled) = (nil, false)
      } else {
        // The child's page has come, and both readers get it.
        state.children[index].walk = child.walk.copy()
        if let task = child.task { arriving.append((child.number, task)) }
      }
    }
    copy.state.withLock { [state] in $0 = state }
    for (number, task) in arriving {
      Task { [weak copy] in copy?.came(await task.value, of: number) }
    }
    return copy
  }

  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] {
    let (notes, parents, children) = state.withLock { ($0.notes, $0.parents, $0.children) }
    let open =
      [parents?.report.warnings(from: FanOutNotes.parents) ?? []]
      + children.map { $0.walk.report.warnings(from: FanOutNotes.child($0.parent.listing)) }
    return notes.warnings + open.joined()
  }

  /// Walks over parents and children close what they hold when they are left.
  func close(at position: Position?) async { leave() }
  var needsClosing: Bool { false }
  /// Parents and children guard themselves against loops. Without order, positions may repeat,
  /// because another child may come first the next time.
  var repeatedPositions: Position.Repetition { isOrdered ? parents.repeatedPositions : .allowed }
  var allowsLookAhead: Bool { true }
}
