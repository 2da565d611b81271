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
  /// declared. The parents' limits on pages and items count parents; those of the result count children. One
  /// walk and its copies keep count of the limits, and of the keys, of parents and children, however often it is
  /// left and gone on with; positions keep neither, so that a walk from a stored one begins to count anew. Limits
  /// on bytes and requests have to allow a page of parents and one of a child, and the error says so where nothing
  /// came; with them nothing is begun ahead before a page came or a listing was passed over. A `concurrency` below
  /// 1 is `invalidArgument`, thrown by the first `next()`. Default: 1, nothing is begun ahead.
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

  /// How many listings may be open at once. Those begun ahead of the first page could take what a limit allows for
  /// it: the walk would get nowhere, and neither would one that is resumed; behind a listing without items both have got further.
  func mostOpen(_ notes: FanOutNotes) -> Int {
    notes.hasDelivered || notes.hasPassed || !WalkReading.isLimited ? concurrency : 1
  }

  /// The parent of a listing that is to go on, asked for again: only its item leads to its listing.
  func parent(at position: Position, _ note: (Page<Parent>) -> Void) async throws -> Parent {
    let page = try await parents.resuming(from: position).walk().next(isolation: nil)
    if let page { note(page) }
    guard let item = page?.items.first else {
      throw PageError(
        .positionMismatch,
        "A listing that was being read has no parent any more: the parents' listing has changed.")
    }
    return item
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
  /// whole: what counts items is the child's own position, which alone knows its pages and their parts. `anchor`
  /// is where the child alone is read; nil where it comes first at `place`.
  func page(
    _ childPage: Page<Item>, at position: Position, next: Position?, _ notes: inout FanOutNotes,
    place: @escaping @Sendable (Position) -> Position,
    anchor: (@Sendable (Position) -> Position)? = nil
  ) -> Page<Item> {
    var page = childPage
    page.traffic = page.traffic + notes.takeTraffic()
    notes.delivered()
    // They are about the child's listing alone.
    (page.total, page.head.endDoubt) = (nil, nil)
    page.position = position
    page.head.origins = origins(ofItemsIn: childPage, at: position, next: next, place, anchor)
    page.next = next
    page.previous = nil
    page.closing = nil
    // The child's own walk compares its pages; two children may well have the same items.
    page.head.fingerprint = nil
    page.head.sample = nil
    // Its failure comes with the page that is asked for next.
    page.nextFailure = nil
    if let identity = parents.identity { page.head.belong(to: identity) }
    return page
  }

  /// What is given where a limit of the whole was reached. Listings without items that were passed over until
  /// then are not read again by a walk that is resumed: a page leads behind them, to `next`, before the error.
  func page(
    behindPassedAt position: Position, next: Position?, refusal: PageError,
    _ notes: inout FanOutNotes
  ) throws -> Page<Item> {
    var refusal = refusal
    refusal.traffic = refusal.traffic + notes.takeTraffic()
    guard notes.hasPassed else {
      if !notes.hasDelivered, WalkReading.isLimited {
        refusal.noteWithoutProgress(
          "flatMap reads a page of parents and one of a child before its first item")
      }
      throw refusal
    }
    notes.delivered()
    var page = Page<Item>([], next: next)
    page.position = position
    page.traffic = refusal.traffic
    if let identity = parents.identity { page.head.belong(to: identity) }
    return page
  }

  private func origins(
    ofItemsIn page: Page<Item>, at position: Position, next: Position?,
    _ place: @escaping @Sendable (Position) -> Position,
    _ anchor: (@Sendable (Position) -> Position)?
  ) -> [ItemOrigins]? {
    let (count, end) = (page.items.count, page.end)
    guard count > 0 else { return nil }
    // The positions may outlast the page, and its items must not.
    var places = page.withItems([Item]())
    places.head.origins = page.head.origins
    return [
      ItemOrigins(
        page: position.page, offsets: Array(0..<count),
        places: ItemPlaces { [places, identity = parents.identity] index in
          var position =
            index < count ? place(places.position(ofItem: index)) : next ?? place(end)
          position.listing = identity
          return position
        } anchor: { [places, identity = parents.identity] index in
          let own = places.anchor(ofItem: index)
          var position = anchor.map { $0(own ?? places.position(ofItem: index)) } ?? own.map(place)
          position?.listing = identity
          return position
        })
    ]
  }
}

/// Reads the listings of a listing's items, in order or at once.
protocol ChildrenReader<Item>: PageReader {
  associatedtype Parent: Sendable
  var fanOut: FanOut<Parent, Item> { get }
  var notes: FanOutNotes { get }
}

extension ChildrenReader {
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { notes.warnings }
  var identity: ListingIdentity? { fanOut.parents.identity }
  /// Walks over parents and children close what they hold when they are left.
  func close(at position: Position?) async { leave() }
  var needsClosing: Bool { false }
  /// Parents and children guard themselves against loops.
  var repeatedPositions: Position.Repetition { fanOut.parents.repeatedPositions }
  var allowsLookAhead: Bool { true }
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
  /// Where the walk goes on behind the page that it has just given; nil where it is over, be it by a limit. A
  /// doubt about the end is raised there, too, by the read that comes next.
  func checkpoint(behind page: Page<Item>) -> Position? {
    isOver ? nil : page.checkpoint ?? page.end
  }
}

/// What the walks over parents and children leave for the report of the whole, which outlasts them.
struct FanOutNotes: Sendable {
  /// What to call the walk over parents.
  static let parents = "The parents' listing"

  private(set) var warnings: [WalkReport.Warning] = []
  /// Listings of children that were begun.
  private(set) var begun = 0
  /// Whether a page of the whole was delivered.
  private(set) var hasDelivered = false
  /// Whether something without items was passed over since.
  private(set) var hasPassed = false
  /// What pages of parents have cost that no page of the whole has told yet.
  private var traffic = WalkReport.Traffic(requests: 0)

  mutating func began() -> Int {
    begun += 1
    return begun
  }

  /// The last `count` listings were put back, and are begun anew.
  mutating func putBack(_ count: Int) { begun -= count }

  mutating func delivered() { (hasDelivered, hasPassed) = (true, false) }

  /// A listing has no more, or a page of parents has no items.
  mutating func passed() { hasPassed = true }

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
    traffic = traffic + walk.takeEndTraffic()
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
