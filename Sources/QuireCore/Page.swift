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
  public var nextFailure: PageError?

  /// Where the page before this one starts, where the server says so.
  public var previous: Position?

  /// The total the server declared with this page.
  public var total: Total?

  /// What came with the page besides its items.
  public var metadata = PageMetadata()

  /// What fetching the page took.
  public var traffic = Traffic()

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
  public func withItems<Other: Sendable>(_ items: [Other]) -> Page<Other> {
    var page = Page<Other>(items, next: next, previous: previous, total: total)
    page.nextFailure = nextFailure
    page.index = index
    page.position = position
    page.metadata = metadata
    page.traffic = traffic
    return page
  }
}

/// What fetching a page took on the wire.
public struct Traffic: Hashable, Sendable {
  /// Decoded bytes of the bodies that made up the page.
  public var bytes: Int
  /// Requests sent, retries and redirects included.
  public var requests: Int
  /// How many of the requests repeated a failed one.
  public var retries: Int
  /// Items that were set aside because they could not be decoded.
  public var badItems: Int

  public init(bytes: Int = 0, requests: Int = 1, retries: Int = 0, badItems: Int = 0) {
    self.bytes = bytes
    self.requests = requests
    self.retries = retries
    self.badItems = badItems
  }

  /// The sum of two fetches.
  public static func + (left: Traffic, right: Traffic) -> Traffic {
    Traffic(
      bytes: left.bytes + right.bytes, requests: left.requests + right.requests,
      retries: left.retries + right.retries, badItems: left.badItems + right.badItems)
  }
}
