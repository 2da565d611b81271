/// One page of a listing, with everything needed to go on after it.
public struct Page<Item: Sendable>: Sendable {
  /// The items in the server's order. An empty page is a page; it does not end the walk.
  public var items: [Item]

  /// Everything but the items, shared between copies until one of them is changed: pages are
  /// moved about a lot.
  private var shared: PageHead.Shared

  /// A page of `items`, followed by the page at `next`, or by nothing.
  public init(
    _ items: [Item], next: Position? = nil, previous: Position? = nil, total: Total? = nil
  ) {
    self.items = items
    var head = PageHead()
    head.next = next
    head.previous = previous
    head.total = total
    shared = PageHead.Shared(head)
  }

  private init(_ items: [Item], sharing shared: PageHead.Shared) {
    self.items = items
    self.shared = shared
  }

  /// The same page around other items; everything but the items is kept.
  ///
  /// Positions inside the page count the new items if there are more or fewer of them than before.
  public func withItems<Other: Sendable>(_ items: [Other]) -> Page<Other> {
    var page = Page<Other>(items, sharing: shared)
    if items.count != self.items.count { page.origins = nil }
    return page
  }

  /// Everything but the items.
  package var head: PageHead {
    _read { yield shared.head }
    _modify {
      if !isKnownUniquelyReferenced(&shared) { shared = PageHead.Shared(shared.head) }
      yield &shared.head
    }
  }
}

// MARK: - What a page carries besides its items

extension Page {
  /// The page's place in its walk, from 0. The walk fills it in.
  public package(set) var index: Int {
    get { head.index }
    set { head.index = newValue }
  }

  /// Where this page starts. The walk fills it in.
  public package(set) var position: Position {
    get { head.position }
    set { head.position = newValue }
  }

  /// Where the next page starts; nil on the last page.
  public var next: Position? {
    get { head.next }
    set { head.next = newValue }
  }

  /// What is wrong with the way on, such as a server that says more follows and not where.
  ///
  /// The page itself is whole: the walk delivers it and throws this on the `next()` after it.
  public var nextFailure: PageError? {
    get { head.nextFailure }
    set { head.nextFailure = newValue }
  }

  /// Whether this is a part of a page of which more is still arriving; `next` then lies inside the
  /// page, behind the items so far. Only walks that ask for items as they arrive have such pages.
  public package(set) var hasMoreParts: Bool {
    get { head.hasMoreParts }
    set { head.hasMoreParts = newValue }
  }

  /// A hash of what the server sent as items, the same for the same items within a process; nil when
  /// unknown.
  package var fingerprint: Int? {
    get { head.fingerprint }
    set { head.fingerprint = newValue }
  }

  /// What some of the items hold, by which to know them again though a member of them changes; nil
  /// when unknown.
  package var sample: PageSample? {
    get { head.sample }
    set { head.sample = newValue }
  }

  /// The identity of the request that was answered in the end, where redirects led to another one; as
  /// `RequestingSource` says.
  package var address: Int? {
    get { head.address }
    set { head.address = newValue }
  }

  /// Where the page before this one starts, where the server says so.
  public var previous: Position? {
    get { head.previous }
    set { head.previous = newValue }
  }

  /// Whether the first page of the listing, as it was asked for, is not the first that the server
  /// has, so that a total counts more than a walk can see.
  package var startsMidway: Bool {
    get { head.startsMidway }
    set { head.startsMidway = newValue }
  }

  /// What `PageSource.close(at:)` is told if this is the last page of the walk; nil for `next`.
  ///
  /// For sources whose server holds something that the way on does not name, or that outlasts the
  /// last page.
  public var closing: Position? {
    get { head.closing }
    set { head.closing = newValue }
  }

  /// The total the server declared with this page.
  public var total: Total? {
    get { head.total }
    set { head.total = newValue }
  }

  /// What the page makes doubtful; the walk's report gathers it.
  public var warnings: [WalkReport.Warning] {
    get { head.warnings }
    set { head.warnings = newValue }
  }

  /// What is raised after this page if it is the last one and the server declared more items than
  /// came; nil where the page's end is no more doubtful than any other.
  package var endDoubt: PageError? {
    get { head.endDoubt }
    set { head.endDoubt = newValue }
  }

  /// What came with the page besides its items.
  public var metadata: PageMetadata {
    _read { yield head.metadata }
    _modify { yield &head.metadata }
  }

  /// What fetching the page took.
  public var traffic: Traffic {
    _read { yield head.traffic }
    _modify { yield &head.traffic }
  }

  /// Where a loop over the items notes how many it has taken; nil when nobody wants to know.
  @usableFromInline var mark: ItemMark? {
    get { head.mark }
    set { head.mark = newValue }
  }

  /// Where the items lie, when they do not follow one another from `position` on.
  package var origins: [ItemOrigins]? {
    get { head.origins }
    set { head.origins = newValue }
  }
}
