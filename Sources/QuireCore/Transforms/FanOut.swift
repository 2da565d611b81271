extension Cursor {
  /// Returns the items of the listings that belong to this listing's items, one listing after the
  /// other, in order: the issues of all repositories, the comments of all issues.
  ///
  /// ```swift
  /// let comments = issues.flatMap(concurrency: 4) { issue in
  ///   client.cursor(of: Comment.self, at: issue.commentsURL, pagination: .github)
  /// }
  /// ```
  /// Up to `concurrency` of the children's listings are begun ahead, each by its first page, and
  /// delivered in order. Without `ordered` they are read at once, and each page is delivered when
  /// it comes: faster, if listings are long or slow. Default: 1, nothing is begun ahead. A
  /// `concurrency` below 1 is `invalidArgument`, thrown by the first `next()`. An error that
  /// `children` throws is `transformFailed`.
  ///
  /// A position covers both levels, and calls can be nested: a new process continues in the middle
  /// of a child's listing. Listings without items are skipped. A child's page keeps its metadata,
  /// and its traffic includes that of the parents' pages that were read for it. It has no total,
  /// because a child's total counts that child's listing alone.
  ///
  /// Warnings of the parents' and the children's walks are in the report, with `truncatedSource`
  /// for a listing with fewer items than its server had declared. The parents' limits on pages and
  /// items count parents; those of the result count children. A walk and its copies keep the counts
  /// and the deduplication keys of parents and children, however often the walk is left and
  /// continued. Positions keep neither, so that a walk from a stored position begins to count anew.
  ///
  /// Limits on bytes and requests have to allow a page of parents and one of a child; the error
  /// says so if no page came. With such limits, nothing is begun ahead before a page came or a
  /// listing was skipped.
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

/// The places of a listing of listings: the children's listings that were begun, and the parents
/// behind them.
///
/// Written as `{"open": [{"parent": …, "child": …}], "parents": …}`, or as `{"parent": …, "child":
/// …}` if the parents continue with the one whose listing was begun. Each place in it has the
/// members of a position.
struct FanOutPlaces: Sendable {
  var open: [(parent: Position, child: Position?)] = []
  /// The position of the parents whose listings were not begun; nil behind the last parent.
  var remainingParents: Position?
  /// The position in the listing of the first of these parents; nil at its start.
  var firstChildStart: Position?
}

extension FanOutPlaces {
  /// Reads a position; `start` is where the parents begin. In order, only one listing can be open.
  init(_ position: Position, of start: Position, isOrdered: Bool) throws {
    self.init()
    let count = position.itemOffset
    guard let value = position.value else {
      (remainingParents, firstChildStart) = (start, .place(nil, items: count))
      return
    }
    if let parent = value["parent"] {
      remainingParents = Position(json: parent)
      firstChildStart = .place(value["child"].map(Position.init(json:)), items: count)
      return
    }
    guard case .array(let children)? = value["open"], !isOrdered || children.count < 2 else {
      throw PageError(
        .positionMismatch,
        "The position does not belong to a flatMap whose listings are read "
          + "\(isOrdered ? "in order" : "at once"). Resume with the one that made it.",
        remedies: [Remedy(.position, ["start"])], attempts: 0)
    }
    open = children.enumerated().map { index, child in
      (
        Position(json: child["parent"] ?? .null),
        .place(child["child"].map(Position.init(json:)), items: index == 0 ? count : 0)
      )
    }
    remainingParents = value["parents"].map(Position.init(json:))
  }

  /// Returns the places with another open listing in front.
  func adding(_ parent: Position, _ child: Position?) -> FanOutPlaces {
    FanOutPlaces(open: [(parent: parent, child: child)] + open, remainingParents: remainingParents)
  }

  /// The places as a position; nil if nothing is left.
  var position: Position? {
    guard !open.isEmpty else {
      return remainingParents.map { Position(Self.place($0, firstChildStart)) }
    }
    var members = [
      JSONValue.Member("open", .array(open.map { Self.place($0.parent, $0.child) }))
    ]
    if let remainingParents { members.append(.init("parents", remainingParents.json)) }
    return Position(.object(members))
  }

  private static func place(_ parent: Position, _ child: Position?) -> JSONValue {
    var members = [JSONValue.Member("parent", parent.json)]
    if let child { members.append(.init("child", child.json)) }
    return .object(members)
  }
}

extension Page {
  /// Returns a child's page as one of the listing of listings.
  ///
  /// `place` turns a position in the child's listing into one of the whole. Items are counted by
  /// the child's own position, because the child alone knows its pages and their parts. `anchor`
  /// turns it into the position from which the child is read alone; nil if the child comes first at
  /// `place`.
  func ofWhole(
    at position: Position, next: Position?, identity: ListingIdentity?,
    place: @escaping @Sendable (Position) -> Position,
    anchor: (@Sendable (Position) -> Position)?
  ) -> Page {
    var page = self
    // These describe the child's listing alone.
    (page.total, page.head.endDoubt) = (nil, nil)
    // The report has them from the child's walk, with the name of its listing.
    page.warnings = []
    page.position = position
    page.next = next
    page.previous = nil
    page.closing = nil
    // The child's own walk compares its pages; two children may well have the same items.
    page.head.fingerprint = nil
    page.head.sample = nil
    // The failure is thrown by the read of the next page.
    page.nextFailure = nil
    page.head.origins = nil
    if let identity { page.head.belong(to: identity) }
    let (count, end) = (items.count, end)
    guard count > 0 else { return page }
    // The positions may outlast the page, and must not keep its items.
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
  /// Returns the position `count` items further on in a child's listing; nil is its start.
  static func place(_ place: Position?, items count: Int) -> Position? {
    guard count > 0 else { return place }
    let place = place ?? .start
    return place.at(itemOffset: place.itemOffset.plus(count))
  }
}

extension Walk {
  /// Returns the position at which the walk continues behind the page that it has just returned;
  /// nil if the walk is over, also by a limit. A doubt about the end has a position, too: the read
  /// there throws it.
  func checkpoint(behind page: Page<Item>) -> Position? {
    isOver ? nil : page.checkpoint ?? page.end
  }
}

/// The warnings and the traffic of the walks over parents and children, kept for the report of the
/// whole walk, which outlasts them.
struct FanOutNotes: Sendable {
  /// The name of the walk over parents in warnings.
  static let parents = "The parents' listing"

  /// Returns the name of a child's walk in warnings, by the number of its listing.
  static func child(_ number: Int?) -> String { "Listing \(number ?? 0) of flatMap" }

  private(set) var warnings: [WalkReport.Warning] = []
  /// The number of children's listings that were begun.
  private var begun = 0
  /// Whether a page of the whole walk was delivered.
  private(set) var hasDelivered = false
  /// Whether a listing or a page without items was skipped since then.
  private(set) var hasSkipped = false
  /// The traffic that no page of the whole walk has reported yet.
  private var traffic = WalkReport.Traffic.zero
  /// The adjustments that no page of the whole walk has reported yet.
  private var adjustments: [WalkReport.Adjustment] = []

  /// Returns the number of a listing that is begun.
  mutating func began() -> Int {
    begun += 1
    return begun
  }

  mutating func delivered() { (hasDelivered, hasSkipped) = (true, false) }

  /// Notes that a listing has ended, or that a page of parents has no items.
  mutating func noteSkipped() { hasSkipped = true }

  /// Adds the traffic and the adjustments of a page that is not delivered itself: a page of
  /// parents, or the empty last page of a child.
  mutating func addUndelivered(_ page: Page<some Any>) {
    traffic += page.traffic
    note(page.head.adjustments)
    // The whole walk counts the items of children only.
    (traffic.items, traffic.badItems, traffic.duplicates) = (0, 0, 0)
  }

  /// Finishes a walk if it is over, and keeps its warnings under `name`.
  mutating func noteEnd(of walk: Walk<some Sendable>, _ name: String) {
    guard walk.isOver else { return }
    walk.settle()
    let end = walk.takeEnd()
    traffic += end.traffic
    note(end.adjustments)
    var report = WalkReport()
    report.warnings = warnings
    report.warn(walk.report.warnings(from: name))
    warnings = report.warnings
  }

  private mutating func note(_ new: [WalkReport.Adjustment]) {
    adjustments = Array((adjustments + new).suffix(WalkReport.mostAdjustments))
  }

  mutating func takeTraffic() -> WalkReport.Traffic {
    defer { traffic = .zero }
    return traffic
  }

  /// Adds what was noted since the last page to one that is delivered.
  mutating func report<Item>(in page: inout Page<Item>) {
    page.traffic += takeTraffic()
    if !adjustments.isEmpty { page.head.adjustments = adjustments + page.head.adjustments }
    adjustments = []
  }
}
