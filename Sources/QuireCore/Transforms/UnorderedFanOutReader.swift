import Synchronization

/// Reads the listings of a listing's items, several at once, and gives each page as it comes.
///
/// A position has all listings that were begun and are not at their end, each with its own position, and where
/// the parents go on behind them.
final class UnorderedFanOutReader<Parent: Sendable, Item: Sendable>: ChildrenReader {
  /// A child's listing that was begun.
  private struct Child: Sendable {
    /// Which walk it is of all that were made. A read that was left may still end, so none has the number of
    /// another one.
    let number: Int
    /// Which listing it is of all that were begun, by which warnings name it.
    let listing: Int
    var walk: Walk<Item>
    let parent: Waiting
    /// Where it goes on; nil at its start.
    var next: Position?
    /// How far its walk had come when a page of it was delivered, at first when it was begun.
    var progress: WalkMachine.Progress
    var hasDelivered = false
    /// Its next page, on the way.
    var task: Task<Outcome, Never>?
    /// Whether that was cancelled from here. A source may throw the same error by itself.
    var isCancelled = false

    var place: (Position, Position?) { (parent.anchor, next) }

    /// Its parent, to begin its listing once more, from where it goes on.
    var begunAnew: Waiting {
      var waiting = parent
      (waiting.isBegun, waiting.start, waiting.listing) = (true, next, listing)
      return waiting
    }
  }

  /// A parent whose listing is not begun yet, and where its own begins.
  private struct Waiting: Sendable {
    let item: Parent
    /// Where the parents go on with it.
    let position: Position
    /// Where it is asked for again, once its listing was begun.
    let anchor: Position
    /// Whether it was begun by an earlier walk, and where it goes on then.
    var isBegun = false
    var start: Position?
    /// Its listing's number, where this walk has begun it before.
    var listing: Int?
  }

  private typealias Outcome = Result<Page<Item>?, any Error>

  /// What came of a child's next page.
  private struct Answer: Sendable {
    let number: Int
    let outcome: Outcome
    /// Whether the reading was cancelled from here.
    var isCancelled = false
  }

  private struct State: Sendable {
    /// Where the next page starts.
    var position: Position?
    var parents: Walk<Parent>?
    /// How far that had come when its last page was taken.
    var progress: WalkMachine.Progress?
    /// Whether the walk was left since the last read.
    var isLeft = false
    /// The listings of a position whose parents were not asked for yet: each parent and where its listing goes on.
    var unread: [(Position, Position?)] = []
    var waiting: [Waiting] = []
    /// Where the parents go on behind those that wait; nil behind the last one.
    var behind: Position?
    var children: [Child] = []
    /// Children whose next page has come, in the order of coming.
    var ready: [Answer] = []
    var waiter: Suspension<Void>?
    /// Where the first child is to begin, of a position at the start that counts items.
    var childStart: Position?
    /// How many walks of children were made.
    var walks = 0
    /// The limit of the whole that was reached, until the consumer gets it: nothing is asked for before.
    var refusal: PageError?
    var notes = FanOutNotes()

    /// Whether a child's next page is on its way, or is here.
    var isReading: Bool { children.contains { $0.task != nil } }

    /// Where all listings that were begun go on, but for one, and the parents behind them.
    func places(without number: Int? = nil) -> FanOutPlaces {
      let begun = waiting.filter { $0.isBegun }.map { ($0.anchor, $0.start) }
      return FanOutPlaces(
        open: children.filter { $0.number != number }.map { $0.place } + begun + unread,
        behind: waiting.first { !$0.isBegun }?.position ?? behind)
    }

    /// A limit of the whole was reached while a page was read.
    mutating func refuse(_ error: PageError) {
      guard let first = refusal else {
        refusal = error
        return
      }
      refusal?.traffic = first.traffic + error.traffic
    }
  }

  let fanOut: FanOut<Parent, Item>
  private let state = Mutex(State())

  init(_ fanOut: FanOut<Parent, Item>) { self.fanOut = fanOut }

  deinit { leave() }

  func read(at position: Position) async throws -> Page<Item>? {
    try fanOut.checkConcurrency()
    try begin(at: position)
    while true {
      if let page = try refused(at: position) { return page }
      do {
        if let page = try await nextPage() { return page }
      } catch let error as PageError where error.isLimit && WalkReading.isOverLimit {
        // What other children bring meanwhile was paid for, and is delivered first.
        state.withLock { $0.refuse(error) }
      }
    }
  }

  /// Waits for the next answer of a child; nil where that is no page of the whole.
  private func nextPage() async throws -> Page<Item>? {
    if state.withLock({ $0.refusal == nil }) {
      try await open()
      guard state.withLock({ !$0.children.isEmpty }) else {
        return Page.absent(after: state.withLock { $0.notes.takeTraffic() })
      }
      startReading()
    }
    let answer = try await nextAnswer()
    switch answer.outcome {
    // An earlier call was cancelled, which this one knows nothing of.
    case .failure(is CancellationError) where answer.isCancelled && !Task.isCancelled: return nil
    case .failure(let error): throw error
    case .success(let page):
      if let page, let delivered = deliver(page, of: answer.number) { return delivered }
      state.withLock { Self.remove(answer.number, &$0) }
      return nil
    }
  }

  /// What is given for a limit that was reached, once no child's page is on its way; nil before, and without one.
  private func refused(at position: Position) throws -> Page<Item>? {
    try state.withLock { state -> Page<Item>? in
      guard !state.isReading, let refusal = state.refusal.take() else { return nil }
      let next = state.places().position
      let page = try fanOut.page(
        behindPassedAt: position, next: next, refusal: refusal, &state.notes)
      state.position = next
      return page
    }
  }

  // MARK: Children

  /// Takes up where the position says, unless that is where the last page ended.
  private func begin(at position: Position) throws {
    let isNext = state.withLock { state in
      guard state.parents != nil, state.position == position else { return false }
      if state.isLeft { Self.putBack(&state) }
      return true
    }
    if isNext { return }
    leave()
    let places = try FanOutPlaces(position)
    let all = fanOut.parents
    let parents = (position.value == nil ? all : all.resuming(from: places.behind ?? all.start))
      .walk()
    state.withLock {
      $0 = State(
        position: position, parents: parents, progress: parents.progress,
        unread: places.open.map { ($0.parent, $0.child) }, behind: places.behind,
        childStart: position.value == nil ? .place(nil, items: position.itemOffset) : nil,
        walks: $0.walks, notes: $0.notes)
    }
  }

  /// The walk was left, which has closed what its children held. Those of which nothing was delivered are begun
  /// anew.
  private static func putBack(_ state: inout State) {
    state.isLeft = false
    state.refusal = nil
    let others = state.children.filter { !$0.hasDelivered }
    state.children.removeAll { !$0.hasDelivered }
    state.ready.removeAll { answer in others.contains { $0.number == answer.number } }
    state.waiting.insert(contentsOf: others.map { $0.begunAnew }, at: 0)
  }

  /// Begins listings until there are as many as may be.
  private func open() async throws {
    while true {
      let (hasRoom, hasWaiting, unread, behind) = state.withLock {
        (
          $0.children.count < fanOut.mostOpen($0.notes), !$0.waiting.isEmpty, $0.unread.first,
          $0.behind
        )
      }
      guard hasRoom else { return }
      if hasWaiting {
        try openNext()
      } else if let (parent, child) = unread {
        try await readParent(at: parent, of: child)
      } else if behind != nil {
        try await readParents()
      } else {
        return
      }
    }
  }

  /// The parent of a listing of the position, which goes on at `start`.
  private func readParent(at position: Position, of start: Position?) async throws {
    let item = try await fanOut.parent(at: position) { page in
      state.withLock { $0.notes.read(page) }
    }
    state.withLock { state in
      state.unread.removeFirst()
      state.waiting.append(
        Waiting(item: item, position: position, anchor: position, isBegun: true, start: start))
    }
  }

  private func readParents() async throws {
    guard let parents = state.withLock({ $0.parents }) else { return }
    guard let page = try await parents.next(isolation: nil) else {
      state.withLock {
        $0.behind = nil
        $0.progress = parents.progress
        $0.notes.noteEnd(of: parents, FanOutNotes.parents)
      }
      return
    }
    let waiting = page.items.enumerated().map { index, item in
      let position = page.position(ofItem: index)
      return Waiting(
        item: item, position: position, anchor: page.anchor(ofItem: index) ?? position)
    }
    state.withLock {
      $0.waiting += waiting
      $0.progress = parents.progress
      $0.behind = parents.checkpoint(behind: page)
      $0.notes.read(page)
      if waiting.isEmpty { $0.notes.passed() }
    }
  }

  private func openNext() throws {
    let (parent, start) = state.withLock { ($0.waiting[0], $0.waiting[0].start ?? $0.childStart) }
    let walk = try fanOut.walk(of: parent.item, from: start)
    state.withLock { state in
      state.waiting.removeFirst()
      state.childStart = nil
      state.walks += 1
      let listing = parent.listing ?? state.notes.began()
      state.children.append(
        Child(
          number: state.walks, listing: listing, walk: walk, parent: parent, next: start,
          progress: walk.progress))
    }
  }

  /// Lets each child read its next page that is not on its way yet.
  private func startReading() {
    for child in state.withLock({ $0.children }) where child.task == nil {
      let task = Task { [weak self, walk = child.walk, number = child.number] in
        let outcome: Outcome
        do {
          outcome = .success(try await walk.next(isolation: nil))
        } catch {
          outcome = .failure(error)
        }
        self?.came(outcome, of: number)
        return outcome
      }
      state.withLock { state in
        guard let index = state.children.firstIndex(where: { $0.number == child.number }) else {
          return
        }
        state.children[index].task = task
      }
    }
  }

  private func came(_ outcome: Outcome, of number: Int) {
    let waiter = state.withLock { state -> Suspension<Void>? in
      guard state.children.contains(where: { $0.number == number }) else { return nil }
      state.ready.append(Answer(number: number, outcome: outcome))
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume(returning: ())
  }

  private func nextAnswer() async throws -> Answer {
    while true {
      let waiter = Suspension<Void>()
      let ready = state.withLock { state -> Answer? in
        guard !state.ready.isEmpty else {
          state.waiter = waiter
          return nil
        }
        var answer = state.ready.removeFirst()
        if let index = state.children.firstIndex(where: { $0.number == answer.number }) {
          answer.isCancelled = state.children[index].isCancelled
          state.children[index].task = nil
          state.children[index].isCancelled = false
        }
        return answer
      }
      if let ready { return ready }
      do {
        try await waiter.value()
      } catch {
        for task in state.withLock({ Self.cancel(&$0) }) { task.cancel() }
        throw error
      }
    }
  }

  /// What is on the way is wanted no more: what is to be cancelled, outside of the lock.
  private static func cancel(_ state: inout State) -> [Task<Outcome, Never>] {
    for index in state.children.indices where state.children[index].task != nil {
      state.children[index].isCancelled = true
    }
    return state.children.compactMap { $0.task }
  }

  /// A child has no more; with the last one nor have the parents.
  private static func remove(_ number: Int, _ state: inout State) {
    guard let index = state.children.firstIndex(where: { $0.number == number }) else { return }
    let child = state.children.remove(at: index)
    state.notes.passed()
    state.notes.noteEnd(of: child.walk, "Listing \(child.listing) of flatMap")
    if let parents = state.parents, state.children.isEmpty, state.waiting.isEmpty {
      state.notes.noteEnd(of: parents, FanOutNotes.parents)
    }
  }

  // MARK: Pages

  /// The child's page as one of the whole, with the place behind it; nil for one without items that ends its
  /// listing.
  private func deliver(_ page: Page<Item>, of number: Int) -> Page<Item>? {
    state.withLock { state -> Page<Item>? in
      guard let index = state.children.firstIndex(where: { $0.number == number }) else {
        return nil
      }
      let child = state.children[index]
      let inner = child.walk.checkpoint(behind: page)
      guard inner != nil || !page.items.isEmpty else {
        state.notes.read(page)
        return nil
      }
      let (parent, others) = (child.parent.anchor, state.places(without: number))
      let place = { @Sendable (own: Position?) -> Position in
        var all = others
        all.open.insert((parent, own), at: 0)
        return all.position ?? .start
      }
      state.children[index].next = inner
      state.children[index].progress = child.walk.progress
      state.children[index].hasDelivered = true
      var page = page
      if inner == nil {
        // A limit may have ended the child's listing there.
        page.hasMoreParts = false
        Self.remove(number, &state)
      }
      let after = state.places().position
      state.position = after
      return fanOut.page(
        page, at: place(child.next), next: after, &state.notes, place: place,
        anchor: { FanOutPlaces.position(parent, $0, behind: nil) })
    }
  }

  // MARK: The rest

  /// Closes what the walks over parents and children hold. They are kept, with what they count, for a walk that
  /// is gone on with.
  func leave() {
    let (tasks, parents, children, waiter) = state.withLock { state in
      state.isLeft = true
      return (Self.cancel(&state), state.parents, state.children, state.waiter.take())
    }
    for task in tasks { task.cancel() }
    for child in children { child.walk.abandon() }
    parents?.abandon()
    waiter?.resume(throwing: CancellationError())
  }

  func copy() -> any PageReader<Item> {
    let copy = UnorderedFanOutReader(fanOut)
    var state = state.withLock { $0 }
    // Where parents are being read, nothing of them has come.
    guard let progress = state.progress, let parents = state.parents?.copy(at: progress) else {
      return copy
    }
    state.parents = parents
    state.waiter = nil
    if state.isLeft { Self.putBack(&state) }
    let (children, ready) = (state.children, Set(state.ready.map { $0.number }))
    state.children = []
    var arriving: [(Int, Task<Outcome, Never>)] = []
    for var child in children {
      if ready.contains(child.number) {
        child.walk = child.walk.copy()
      } else if let walk = child.walk.copy(at: child.progress) {
        (child.walk, child.task, child.isCancelled) = (walk, nil, false)
      } else if let task = child.task {
        // Its page has come, and both have it.
        child.walk = child.walk.copy()
        arriving.append((child.number, task))
      } else {
        state.waiting.insert(child.begunAnew, at: 0)
        continue
      }
      state.children.append(child)
    }
    copy.state.withLock { [state] in $0 = state }
    for (number, task) in arriving {
      Task { [weak copy] in copy?.came(await task.value, of: number) }
    }
    return copy
  }

  var notes: FanOutNotes { state.withLock { $0.notes } }
  /// Another child may come first the next time.
  var repeatedPositions: Position.Repetition { .allowed }
}
