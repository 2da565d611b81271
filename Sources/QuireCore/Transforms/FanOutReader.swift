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
    /// Where it is asked for again.
    let position: Position
    /// Whether that is its anchor, from which the parents do not go on.
    let isAnchored: Bool
    /// Where the parents go on behind it; nil behind the last one.
    let after: Position?
  }

  private struct State: Sendable {
    /// Where the next page starts.
    var position: Position?
    var parents: Walk<Parent>?
    /// How far that had come when its last page was taken.
    var progress: WalkMachine.Progress?
    /// The anchor of the first child's parent, until that was asked for; and where the parents go on behind it.
    var anchor: Position?
    var behind: Position?
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
    let parent = child.parent
    let next =
      inner.map { Self.position(of: parent, child: $0) } ?? parent.after.map { Self.position($0) }
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
        Self.position(of: parent, child: $0)
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
    let start = try Self.parts(of: position)
    leave()
    let all = fanOut.parents
    let parents = (start.parents.map { all.resuming(from: $0) } ?? all).walk()
    state.withLock {
      $0 = State(
        position: position, parents: parents, progress: parents.progress, anchor: start.anchor,
        behind: start.parents, isOver: start.anchor != nil && start.parents == nil,
        childStart: start.child, notes: $0.notes)
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
      let (count, hasWaiting, anchor, isOver, most) = state.withLock {
        ($0.children.count, !$0.waiting.isEmpty, $0.anchor, $0.isOver, fanOut.mostOpen($0.notes))
      }
      if count >= most { return }
      if hasWaiting {
        do {
          try openNext()
        } catch {
          if count > 0 { return }
          throw error
        }
      } else if let anchor {
        try await readParent(at: anchor)
      } else if isOver || count > 0 {
        return
      } else {
        try await readParents()
      }
    }
  }

  private func readParent(at anchor: Position) async throws {
    let item = try await fanOut.parent(at: anchor) { page in
      state.withLock { $0.notes.read(page) }
    }
    state.withLock { state in
      state.anchor = nil
      state.waiting = [
        Waiting(item: item, position: anchor, isAnchored: true, after: state.behind)
      ]
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
      let anchor = page.anchor(ofItem: index)
      return Waiting(
        item: item, position: anchor ?? page.position(ofItem: index), isAnchored: anchor != nil,
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
      return position(of: child.parent, child: child.next)
    }
    if let parent = state.waiting.first {
      return position(of: parent, child: state.childStart)
    }
    if let anchor = state.anchor {
      return FanOutPlaces.position(anchor, state.childStart, behind: state.behind)
    }
    return state.isOver ? nil : state.parents?.progress.checkpoint.map { position($0) }
  }

  /// Where a parent's listing goes on, and the other parents behind it.
  private static func position(of parent: Waiting, child: Position?) -> Position {
    guard parent.isAnchored else { return position(parent.position, child: child) }
    return FanOutPlaces.position(parent.position, child, behind: parent.after)
  }

  /// `{"parent": …, "child": …}`, each with the members of a position: the parents go on behind that one.
  private static func position(_ parent: Position, child: Position? = nil) -> Position {
    var members = [JSONValue.Member("parent", parent.json)]
    if let child { members.append(.init("child", child.json)) }
    return Position(.object(members))
  }

  /// Where the parents go on, nil behind the last one, and where the listing of the first of them does, or that of
  /// one at an anchor in front of them.
  private static func parts(
    of position: Position
  ) throws -> (parents: Position?, anchor: Position?, child: Position?) {
    guard let value = position.value else {
      return (nil, nil, .place(nil, items: position.itemOffset))
    }
    if let parent = value["parent"] {
      let child = value["child"].map(Position.init(json:))
      return (Position(json: parent), nil, .place(child, items: position.itemOffset))
    }
    let places = try? FanOutPlaces(position)
    guard let places, places.open.count == 1, let first = places.open.first else {
      throw PageError(
        .positionMismatch,
        "The position is not one of a listing of listings: it was made by another one.", attempts: 0
      )
    }
    return (places.behind, first.parent, first.child)
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
