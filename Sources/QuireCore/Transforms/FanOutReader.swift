import Synchronization

extension Cursor {
  /// The items of the listings that belong to this one's items, one listing after the other, in order: the
  /// issues of all repositories, the comments of all issues.
  ///
  /// ```swift
  /// let comments = issues.flatMap(concurrency: 4) { issue in
  ///   client.cursor(of: Comment.self, at: issue.commentsURL, pagination: .github)
  /// }
  /// ```
  /// Up to `concurrency` listings are begun ahead, each by its first page, and waited for in order; without
  /// `ordered` they are read at once, and each page comes when it is there: faster, where children are long or
  /// slow. A position covers both levels, and calls can be nested: a new process goes on in the middle of a
  /// child's listing. Listings without items are passed over. What `children` throws is
  /// `transformFailed`. A child's page keeps its metadata, and its traffic has that of the parents' pages that
  /// were read for it; its total is its own listing's, and not given. What the walks of parents and children
  /// have to warn of is in the report, `truncatedSource` for a listing with fewer items than its server had
  /// declared. The parents' limits on pages and items count parents; those of the result count children. A
  /// `concurrency` below 1 is `invalidArgument`, thrown by the first `next()`. Default: 1, nothing is begun
  /// ahead.
  public func flatMap<Child: Sendable>(
    concurrency: Int = 1, ordered: Bool = true,
    _ children: @escaping @Sendable (Item) throws -> Cursor<Child>
  ) -> Cursor<Child> {
    let parents = self
    var limits = limits
    (limits.pages, limits.items) = (nil, nil)
    return Cursor<Child>(limits: limits, clock: clock) { _ in
      let fanOut = FanOut(parents: parents, concurrency: concurrency, makeChildren: children)
      guard ordered else { return UnorderedFanOutReader(fanOut) }
      return FanOutReader(fanOut)
    }
  }
}

/// Listings of a listing's items, as both readers of them know it.
struct FanOut<Parent: Sendable, Item: Sendable>: Sendable {
  let parents: Cursor<Parent>
  let concurrency: Int
  let makeChildren: @Sendable (Parent) throws -> Cursor<Item>

  func checkConcurrency() throws {
    guard concurrency < 1 else { return }
    throw PageError(
      .invalidArgument,
      "flatMap(concurrency: \(concurrency)) cannot work; give a concurrency of 1 or more.",
      attempts: 0)
  }

  /// A walk through the listing of an item, from its start or another position on.
  func walk(of parent: Parent, from start: Position?) throws -> Walk<Item> {
    let cursor: Cursor<Item>
    do {
      cursor = try makeChildren(parent)
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "The closure given to flatMap failed: \(error)", underlying: error)
    }
    return (start.map { cursor.resuming(from: $0) } ?? cursor).walk()
  }

  /// A child's page as one of the whole. `place` makes a position in the child's listing into one of the
  /// whole: what counts items is the child's own position, which alone knows its pages and their parts.
  func page(
    _ childPage: Page<Item>, at position: Position, next: Position?, _ notes: inout FanOutNotes,
    place: @escaping @Sendable (Position) -> Position
  ) -> Page<Item> {
    var page = childPage
    page.traffic = page.traffic + notes.takeTraffic()
    // They are about the child's listing alone.
    (page.total, page.endDoubt) = (nil, nil)
    page.position = position
    page.origins = origins(ofItemsIn: childPage, at: position, next: next, place)
    page.next = next
    page.previous = nil
    page.closing = nil
    // The child's own walk compares its pages; two children may well have the same items.
    page.fingerprint = nil
    page.sample = nil
    // Its failure comes with the page that is asked for next.
    page.nextFailure = nil
    if let identity = parents.identity { page.head.belong(to: identity) }
    return page
  }

  private func origins(
    ofItemsIn page: Page<Item>, at position: Position, next: Position?,
    _ place: @escaping @Sendable (Position) -> Position
  ) -> [ItemOrigins]? {
    let (count, end) = (page.items.count, page.end)
    guard count > 0 else { return nil }
    // The positions may outlast the page, and its items must not.
    var places = page.withItems([Item]())
    places.origins = page.origins
    return [
      ItemOrigins(
        page: position.page, offsets: Array(0..<count),
        places: ItemPlaces { [places, identity = parents.identity] index in
          var position =
            index < count ? place(places.position(ofItem: index)) : next ?? place(end)
          position.listing = identity
          return position
        })
    ]
  }
}

extension Position {
  /// The place so many items on, in a child's listing; nil is its start.
  static func place(_ place: Position?, items count: Int) -> Position? {
    guard count > 0 else { return place }
    let place = place ?? .start
    let (sum, isTooLarge) = place.itemOffset.addingReportingOverflow(count)
    return place.at(itemOffset: isTooLarge ? .max : sum)
  }
}

extension Walk {
  /// Where the walk goes on behind the page that it has just given; nil where it is over. A doubt about the end
  /// is raised there, too, by the read that comes next.
  func checkpoint(behind page: Page<Item>) -> Position? {
    page.checkpoint ?? (isOver ? nil : page.end)
  }
}

/// What the walks over parents and children leave for the report of the whole, which outlasts them.
struct FanOutNotes: Sendable {
  /// What to call the walk over parents.
  static let parents = "The parents' listing"

  private(set) var warnings: [WalkReport.Warning] = []
  /// Listings of children that were begun.
  private(set) var begun = 0
  /// What pages of parents have cost that no page of the whole has told yet.
  private var traffic = WalkReport.Traffic(requests: 0)

  mutating func began() -> Int {
    begun += 1
    return begun
  }

  /// A page came that is none of the whole: of parents, or of a child that has no more.
  mutating func read(_ page: Page<some Any>) {
    traffic = traffic + page.traffic
    // What the whole counts are items of children.
    (traffic.items, traffic.badItems, traffic.duplicates) = (0, 0, 0)
  }

  /// A walk may be over; then it is closed, and what it has to say is kept. `name` is what to call it.
  mutating func noteEnd(of walk: Walk<some Sendable>, _ name: String) {
    guard walk.isOver else { return }
    walk.settle()
    var report = WalkReport()
    report.warnings = warnings
    report.warn(walk.report.warnings(from: name))
    warnings = report.warnings
  }

  mutating func takeTraffic() -> WalkReport.Traffic {
    defer { traffic = WalkReport.Traffic(requests: 0) }
    return traffic
  }
}

/// Reads the listings of a listing's items.
final class FanOutReader<Parent: Sendable, Item: Sendable>: PageReader {
  /// A child's listing that was begun.
  private struct Child: Sendable {
    let number: Int
    let walk: Walk<Item>
    /// Where its parent lies, and where the parents go on behind it; nil behind the last one.
    let parent: Position
    let after: Position?
    /// Its next page, on the way or there.
    var page: Task<Page<Item>?, any Error>?
  }

  /// A parent whose listing is not begun yet.
  private struct Waiting: Sendable {
    let item: Parent
    let position: Position
    let after: Position?
  }

  private struct State: Sendable {
    /// Where the next page starts.
    var position: Position?
    var parents: Walk<Parent>?
    /// The rest of a page of parents.
    var waiting: [Waiting] = []
    var isOver = false
    var children: [Child] = []
    /// Where the first child is to begin, other than at its start.
    var childStart: Position?
    var notes = FanOutNotes()
  }

  private let fanOut: FanOut<Parent, Item>
  private let state = Mutex(State())

  init(_ fanOut: FanOut<Parent, Item>) { self.fanOut = fanOut }

  deinit { leave() }

  func read(at position: Position) async throws -> Page<Item>? {
    try fanOut.checkConcurrency()
    try begin(at: position)
    while true {
      try await open()
      guard let child = state.withLock({ $0.children.first }) else { return nil }
      if let page = try await next(of: child) {
        let inner = child.walk.checkpoint(behind: page)
        if inner != nil || !page.items.isEmpty {
          return deliver(page, of: child, goingOnAt: inner, at: position)
        }
        state.withLock { $0.notes.read(page) }
      }
      finish(child, nil)
    }
  }

  private func next(of child: Child) async throws -> Page<Item>? {
    let task =
      child.page ?? Task { [walk = child.walk] in try await walk.next(isolation: nil) }
    state.withLock { $0.children[0].page = task }
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
    let next =
      inner.map { Self.position(child.parent, child: $0) }
      ?? child.after.map { Self.position($0) }
    if inner == nil { finish(child, next) }
    return state.withLock { state in
      state.position = next
      if inner != nil { state.children[0].page = nil }
      return fanOut.page(page, at: position, next: next, &state.notes) {
        Self.position(child.parent, child: $0)
      }
    }
  }

  /// The first child has no more; without a place behind it nor have the parents.
  private func finish(_ child: Child, _ next: Position?) {
    state.withLock { state in
      state.notes.noteEnd(of: child.walk, "Listing \(child.number) of flatMap")
      if !state.children.isEmpty { state.children.removeFirst() }
      state.position = next
      if let parents = state.parents, state.children.isEmpty, state.waiting.isEmpty {
        state.notes.noteEnd(of: parents, FanOutNotes.parents)
      }
    }
  }

  /// Takes up where the position says, unless that is where the last page ended.
  private func begin(at position: Position) throws {
    if state.withLock({ $0.parents != nil && $0.position == position }) { return }
    let (parent, child) = try Self.parts(of: position)
    leave()
    let parents = fanOut.parents.resuming(from: parent).walk()
    state.withLock {
      $0 = State(
        position: position, parents: parents, childStart: child, notes: $0.notes)
    }
  }

  /// Begins listings until there are as many as may be. Parents are read only where no child is left, and
  /// what goes wrong with a later child waits until it is the first.
  private func open() async throws {
    while true {
      let (count, hasWaiting, isOver) = state.withLock {
        ($0.children.count, !$0.waiting.isEmpty, $0.isOver)
      }
      if count >= fanOut.concurrency { return }
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
      $0.notes.read(page)
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
          number: state.notes.began(), walk: walk, parent: parent.position, after: parent.after,
          page: isAhead ? Task { try await walk.next(isolation: nil) } : nil))
    }
  }

  // MARK: Positions

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

  func leave() {
    let tasks = state.withLock { state in
      let tasks = state.children.compactMap(\.page)
      state = State(notes: state.notes)
      return tasks
    }
    for task in tasks { task.cancel() }
  }

  func copy() -> any PageReader<Item> { FanOutReader(fanOut) }

  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] {
    state.withLock { $0.notes.warnings }
  }

  /// Walks over parents and children close what they hold when they are left.
  func close(at position: Position?) async { leave() }
  var needsClosing: Bool { false }
  var repeatedPositions: Position.Repetition { .refused }
  var allowsLookAhead: Bool { true }
  var identity: ListingIdentity? { fanOut.parents.identity }
}
