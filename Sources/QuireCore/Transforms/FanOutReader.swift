import Synchronization

/// Reads the listings of a listing's items.
final class FanOutReader<Parent: Sendable, Item: Sendable>: ChildrenReader {
  /// A child's listing that was begun.
  private struct Child: Sendable {
    let number: Int
    var walk: Walk<Item>
    let parent: Waiting
    /// Where it goes on; nil at its start.
    var next: Position?
    /// How far its walk had come when a page of it was delivered, at first when it was begun.
    var progress: WalkMachine.Progress
    var hasDelivered = false
    /// Its next page, on the way or there.
    var page: Task<Page<Item>?, any Error>?
  }

  /// A parent whose listing is not begun yet.
  private struct Waiting: Sendable {
    let item: Parent
    let position: Position
    /// Where the parents go on behind it; nil behind the last one.
    let after: Position?
  }

  private struct State: Sendable {
    /// Where the next page starts.
    var position: Position?
    var parents: Walk<Parent>?
    /// How far that had come when its last page was taken.
    var progress: WalkMachine.Progress?
    /// The rest of a page of parents.
    var waiting: [Waiting] = []
    var isOver = false
    /// Whether the walk was left since the last read.
    var isLeft = false
    var children: [Child] = []
    /// Where the first child is to begin, other than at its start.
    var childStart: Position?
    var notes = FanOutNotes()
  }

  let fanOut: FanOut<Parent, Item>
  private let state = Mutex(State())

  init(_ fanOut: FanOut<Parent, Item>) { self.fanOut = fanOut }

  deinit { leave() }

  func read(at position: Position) async throws -> Page<Item>? {
    try fanOut.checkConcurrency()
    try begin(at: position)
    do {
      return try await nextPage(at: position)
    } catch let error as PageError where error.isLimit && WalkReading.isOverLimit {
      return try state.withLock { state -> Page<Item> in
        let next = Self.place(in: state)
        let page = try fanOut.page(
          behindPassedAt: position, next: next, refusal: error, &state.notes)
        state.position = next
        return page
      }
    }
  }

  private func nextPage(at position: Position) async throws -> Page<Item>? {
    while true {
      try await open()
      guard let child = state.withLock({ $0.children.first }) else {
        return Page.absent(after: state.withLock { $0.notes.takeTraffic() })
      }
      if let page = try await next(of: child) {
        let inner = child.walk.checkpoint(behind: page)
        if inner != nil || !page.items.isEmpty {
          return deliver(page, of: child, goingOnAt: inner, at: position)
        }
        state.withLock { $0.notes.read(page) }
      }
      finish(child)
    }
  }

  private func next(of child: Child) async throws -> Page<Item>? {
    let task =
      child.page ?? Task { [walk = child.walk] in try await walk.next(isolation: nil) }
    state.withLock { state in
      if !state.children.isEmpty { state.children[0].page = task }
    }
    do {
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    } catch {
      // Asking again asks the walk again, which goes on with the same page.
      state.withLock { state in
        if !state.children.isEmpty { state.children[0].page = nil }
      }
      throw error
    }
  }

  /// The child's page as one of the whole, with the place behind it.
  private func deliver(
    _ page: Page<Item>, of child: Child, goingOnAt inner: Position?, at position: Position
  ) -> Page<Item> {
    let parent = child.parent.position
    let next =
      inner.map { Self.position(parent, child: $0) }
      ?? child.parent.after.map { Self.position($0) }
    let progress = child.walk.progress
    var page = page
    // A limit may have ended the child's listing there.
    if inner == nil {
      page.hasMoreParts = false
      finish(child)
    }
    return state.withLock { state in
      state.position = next
      if inner != nil, !state.children.isEmpty {
        state.children[0].page = nil
        state.children[0].next = inner
        state.children[0].progress = progress
        state.children[0].hasDelivered = true
      }
      return fanOut.page(page, at: position, next: next, &state.notes) {
        Self.position(parent, child: $0)
      }
    }
  }

  /// The first child has no more; with the last one nor have the parents.
  private func finish(_ child: Child) {
    state.withLock { state in
      state.notes.passed()
      state.notes.noteEnd(of: child.walk, "Listing \(child.number) of flatMap")
      if !state.children.isEmpty { state.children.removeFirst() }
      if let parents = state.parents, state.children.isEmpty, state.waiting.isEmpty {
        state.notes.noteEnd(of: parents, FanOutNotes.parents)
      }
    }
  }

  /// Takes up where the position says, unless that is where the last page ended.
  private func begin(at position: Position) throws {
    let isNext = state.withLock { state in
      guard state.parents != nil, state.position == position else { return false }
      if state.isLeft { Self.putBack(&state) }
      return true
    }
    if isNext { return }
    let (parent, child) = try Self.parts(of: position)
    leave()
    let parents = fanOut.parents.resuming(from: parent).walk()
    state.withLock {
      $0 = State(
        position: position, parents: parents, progress: parents.progress, childStart: child,
        notes: $0.notes)
    }
  }

  /// The walk was left, which has closed what its children held. Those of which nothing was delivered are begun
  /// anew; only the first one can be another.
  private static func putBack(_ state: inout State) {
    state.isLeft = false
    let kept = state.children.prefix { $0.hasDelivered }
    let others = state.children.dropFirst(kept.count)
    if kept.isEmpty { state.childStart = others.first?.next ?? state.childStart }
    state.waiting.insert(contentsOf: others.map { $0.parent }, at: 0)
    state.children = Array(kept)
    state.notes.putBack(others.count)
  }

  /// Begins listings until there are as many as may be. Parents are read only where no child is left, and
  /// what goes wrong with a later child waits until it is the first.
  private func open() async throws {
    while true {
      let (count, hasWaiting, isOver, most) = state.withLock {
        ($0.children.count, !$0.waiting.isEmpty, $0.isOver, fanOut.mostOpen($0.notes))
      }
      if count >= most { return }
      if hasWaiting {
        do {
          try openNext()
        } catch {
          if count > 0 { return }
          throw error
        }
      } else if isOver || count > 0 {
        return
      } else {
        try await readParents()
      }
    }
  }

  private func readParents() async throws {
    guard let parents = state.withLock({ $0.parents }) else { return }
    guard let page = try await parents.next(isolation: nil) else {
      state.withLock {
        $0.isOver = true
        $0.progress = parents.progress
        $0.notes.noteEnd(of: parents, FanOutNotes.parents)
      }
      return
    }
    let behind = parents.checkpoint(behind: page)
    let waiting = page.items.enumerated().map { index, item in
      Waiting(
        item: item, position: page.position(ofItem: index),
        after: index + 1 < page.items.count ? page.position(afterItems: index + 1) : behind)
    }
    state.withLock {
      $0.waiting = waiting
      $0.progress = parents.progress
      $0.notes.read(page)
      if waiting.isEmpty { $0.notes.passed() }
    }
  }

  private func openNext() throws {
    let (parent, start) = state.withLock { ($0.waiting[0], $0.childStart) }
    let walk = try fanOut.walk(of: parent.item, from: start)
    state.withLock { state in
      state.waiting.removeFirst()
      state.childStart = nil
      let isAhead = !state.children.isEmpty
      state.children.append(
        Child(
          number: state.notes.began(), walk: walk, parent: parent, next: start,
          progress: walk.progress,
          page: isAhead ? Task { try await walk.next(isolation: nil) } : nil))
    }
  }

  // MARK: Positions

  /// Where the walk stands: at the listing that is read next.
  private static func place(in state: State) -> Position? {
    if let child = state.children.first {
      return position(child.parent.position, child: child.next)
    }
    if let parent = state.waiting.first {
      return position(parent.position, child: state.childStart)
    }
    return state.parents?.progress.checkpoint.map { position($0) }
  }

  /// `{"parent": …, "child": …}`, each with the members of a position.
  private static func position(_ parent: Position, child: Position? = nil) -> Position {
    var members = [JSONValue.Member("parent", parent.json)]
    if let child { members.append(.init("child", child.json)) }
    return Position(.object(members))
  }

  private static func parts(of position: Position) throws -> (parent: Position, child: Position?) {
    guard let value = position.value else {
      return (.start, .place(nil, items: position.itemOffset))
    }
    guard let parent = value["parent"] else {
      throw PageError(
        .positionMismatch,
        "The position is not one of a listing of listings: it was made by another one.", attempts: 0
      )
    }
    let child = value["child"].map(Position.init(json:))
    return (Position(json: parent), .place(child, items: position.itemOffset))
  }

  // MARK: The rest

  /// Closes what the walks over parents and children hold. They are kept, with what they count, for a walk that
  /// is gone on with.
  func leave() {
    let (parents, children) = state.withLock { state in
      state.isLeft = true
      return (state.parents, state.children)
    }
    for child in children {
      child.page?.cancel()
      child.walk.abandon()
    }
    parents?.abandon()
  }

  func copy() -> any PageReader<Item> {
    let copy = FanOutReader(fanOut)
    var state = state.withLock { $0 }
    // Where parents are being read, nothing of them has come.
    guard let progress = state.progress, let parents = state.parents?.copy(at: progress) else {
      return copy
    }
    state.parents = parents
    if state.isLeft { Self.putBack(&state) }
    for index in state.children.indices {
      let child = state.children[index]
      if let walk = child.walk.copy(at: child.progress) {
        state.children[index].walk = walk
        state.children[index].page = nil
      } else {
        // Its page has come, and both have it.
        state.children[index].walk = child.walk.copy()
      }
    }
    copy.state.withLock { [state] in $0 = state }
    return copy
  }

  var notes: FanOutNotes { state.withLock { $0.notes } }
}
