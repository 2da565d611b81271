/// One page of a listing, with everything needed to go on after it.
public struct Page<Item: Sendable>: Sendable {
  /// The items in the server's order. An empty page is a page; it does not end the walk.
  public var items: [Item]

  /// The page's place in its walk, from 0. The walk fills it in.
  public package(set) var index: Int = 0

  /// Where this page starts. The walk fills it in.
  public package(set) var position: Position = .start

  /// Where the next page starts; nil on the last page.
  public var next: Position?

  /// What is wrong with the way on, such as a server that says more follows and not where.
  ///
  /// The page itself is whole: the walk delivers it and throws this on the `next()` after it.
  public var nextFailure: PageError? {
    get { wayOn?.failure }
    set { wayOn = newValue.map(BrokenWayOn.init) }
  }

  /// In a box, because it is large and rare, and pages are moved about a lot.
  private var wayOn: BrokenWayOn?

  /// Where the page before this one starts, where the server says so.
  public var previous: Position?

  /// The total the server declared with this page.
  public var total: Total?

  /// What came with the page besides its items.
  public var metadata = PageMetadata()

  /// What fetching the page took.
  public var traffic = Traffic()

  /// Where the items lie, when they do not follow one another from `position` on.
  package var origins: [ItemOrigins]?

  /// A page of `items`, followed by the page at `next`, or by nothing.
  public init(
    _ items: [Item], next: Position? = nil, previous: Position? = nil, total: Total? = nil
  ) {
    self.items = items
    self.next = next
    self.previous = previous
    self.total = total
  }

  /// The same page around other items; everything but the items is kept.
  ///
  /// Positions inside the page count the new items if there are more or fewer of them than before.
  public func withItems<Other: Sendable>(_ items: [Other]) -> Page<Other> {
    var page = Page<Other>(items, next: next, previous: previous, total: total)
    page.nextFailure = nextFailure
    page.index = index
    page.position = position
    page.metadata = metadata
    page.traffic = traffic
    if items.count == self.items.count { page.origins = origins }
    return page
  }
}

private final class BrokenWayOn: Sendable {
  let failure: PageError

  init(_ failure: PageError) { self.failure = failure }
}
