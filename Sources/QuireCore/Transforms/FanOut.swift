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
      FanOutReader(
        parents, concurrency: concurrency, isOrdered: ordered, makeChildren: children)
    }
  }
}

/// Where listings of listings go on that were begun, and the parents behind them: `{"open": [{"parent": …,
/// "child": …}], "parents": …}`, or `{"parent": …, "child": …}` where the parents go on with the one whose listing goes
/// on. Each place in there has the members of a position.
struct FanOutPlaces: Sendable {
  var open: [(parent: Position, child: Position?)] = []
  /// Where the parents go on that are not begun; nil behind the last one.
  var behind: Position?
  /// Where the listing of the first of these does; nil at its start.
  var childStart: Position?

  init(
    open: [(Position, Position?)] = [], behind: Position? = nil, childStart: Position? = nil
  ) {
    (self.open, self.behind, self.childStart) = (open, behind, childStart)
  }

  /// What a position says; `start` is where the parents begin. In order, one listing can be open.
  init(_ position: Position, of start: Position, isOrdered: Bool) throws {
    let count = position.itemOffset
    guard let value = position.value else {
      (behind, childStart) = (start, .place(nil, items: count))
      return
    }
    if let parent = value["parent"] {
      behind = Position(json: parent)
      childStart = .place(value["child"].map(Position.init(json:)), items: count)
      return
    }
    guard case .array(let children)? = value["open"], !isOrdered || children.count < 2 else {
      throw PageError(
        .positionMismatch,
        "The position is not one of a listing of listings that is read \(isOrdered ? "in order" : "at once"): "
          + "it was made by another one.", attempts: 0)
    }
    open = children.enumerated().map { index, child in
      (
        Position(json: child["parent"] ?? .null),
        .place(child["child"].map(Position.init(json:)), items: index == 0 ? count : 0)
      )
    }
    behind = value["parents"].map(Position.init(json:))
  }

  /// The same with a listing in front that is open, too.
  func adding(_ parent: Position, _ child: Position?) -> FanOutPlaces {
    FanOutPlaces(open: [(parent, child)] + open, behind: behind)
  }

  /// Nil where nothing is left.
  var position: Position? {
    guard !open.isEmpty else { return behind.map { Position(Self.place($0, childStart)) } }
    var members = [
      JSONValue.Member("open", .array(open.map { Self.place($0.parent, $0.child) }))
    ]
    if let behind { members.append(.init("parents", behind.json)) }
    return Position(.object(members))
  }

  private static func place(_ parent: Position, _ child: Position?) -> JSONValue {
    var members = [JSONValue.Member("parent", parent.json)]
    if let child { members.append(.init("child", child.json)) }
    return .object(members)
  }
}

extension Page {
  /// A child's page as one of a listing of listings. `place` makes a position in the child's listing into one of the
  /// whole: what counts items is the child's own position, which alone knows its pages and their parts. `anchor`
  /// is where the child alone is read; nil where it comes first at `place`.
  func ofWhole(
    at position: Position, next: Position?, identity: ListingIdentity?,
    place: @escaping @Sendable (Position) -> Position,
    anchor: (@Sendable (Position) -> Position)?
  ) -> Page {
    var page = self
    // They are about the child's listing alone.
    (page.total, page.head.endDoubt) = (nil, nil)
    page.position = position
    page.next = next
    page.previous = nil
    page.closing = nil
    // The child's own walk compares its pages; two children may well have the same items.
    page.head.fingerprint = nil
    page.head.sample = nil
    // Its failure comes with the page that is asked for next.
    page.nextFailure = nil
    page.head.origins = nil
    if let identity { page.head.belong(to: identity) }
    let (count, end) = (items.count, end)
    guard count > 0 else { return page }
    // The positions may outlast the page, and its items must not.
    var places = withItems([Item]())
    places.head.origins = head.origins
    page.head.origins = [
      ItemOrigins(
        page: position.page, offsets: Array(0..<count),
        places: ItemPlaces { [places] index in
          var position =
            index < count ? place(places.position(ofItem: index)) : next ?? place(end)
          position.listing = identity
          return position
        } anchor: { [places] index in
          let own = places.anchor(ofItem: index)
          var position = anchor.map { $0(own ?? places.position(ofItem: index)) } ?? own.map(place)
          position?.listing = identity
          return position
        })
    ]
    return page
  }
}

extension Position {
  /// The place so many items on, in a child's listing; nil is its start.
  static func place(_ place: Position?, items count: Int) -> Position? {
    guard count > 0 else { return place }
    let place = place ?? .start
    return place.at(itemOffset: place.itemOffset.plus(count))
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
  private var begun = 0
  /// Whether a page of the whole was delivered.
  private(set) var hasDelivered = false
  /// Whether something without items was passed over since.
  private(set) var hasPassed = false
  /// What pages of parents have cost that no page of the whole has told yet.
  private var traffic = WalkReport.Traffic(requests: 0)

  /// Returns the number of a listing that is begun.
  mutating func began() -> Int {
    begun += 1
    return begun
  }

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
