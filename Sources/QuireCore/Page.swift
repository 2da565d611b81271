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

  /// A page of `items` and what is known besides.
  package init(_ items: [Item], head: PageHead) {
    self.init(items, sharing: PageHead.Shared(head))
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
    if items.count != self.items.count { page.head.origins = nil }
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

extension Page {
  /// No page: the listing ended before it, by an answer that took this.
  package static func absent(after traffic: WalkReport.Traffic) -> Page<Item> {
    var page = Page<Item>([])
    page.traffic = traffic
    page.head.isAbsent = true
    return page
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

  /// What is wrong with the continuation, such as a server that says more follows and not where.
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

  /// Whether the server said that the page is what it was the last time (304): it has no items here, and leads
  /// where it led then. Only walks that keep validators have such pages, and lists, where it has its items.
  public package(set) var isUnchanged: Bool {
    get { head.isUnchanged }
    set { head.isUnchanged = newValue }
  }

  /// Where the page before this one starts, where the server says so.
  public var previous: Position? {
    get { head.previous }
    set { head.previous = newValue }
  }

  /// What `PageSource.close(at:)` is told if this is the last page of the walk; nil for `next`.
  ///
  /// For sources whose server holds something that `next` does not name, or that outlasts the
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

  /// What came with the page besides its items.
  public var metadata: PageMetadata {
    _read { yield head.metadata }
    _modify { yield &head.metadata }
  }

  /// What fetching the page took.
  public var traffic: WalkReport.Traffic {
    _read { yield head.traffic }
    _modify { yield &head.traffic }
  }

  /// Where a loop over the items notes how many it has taken; nil where that is not counted.
  @usableFromInline var mark: ItemMark? {
    get { head.mark }
    set { head.mark = newValue }
  }
}

/// Everything a page carries but its items. What is public has a name on the page, too.
package struct PageHead: Sendable {
  package var index = 0
  package var position = Position.start
  package var next: Position?
  package var nextFailure: PageError?
  package var hasMoreParts = false
  package var isUnchanged = false
  /// Whether there is no page: the listing ended before it, and all that is known is what that answer took.
  package var isAbsent = false
  /// By what the page can be asked for anew; only of pages that a consumer keeps.
  package var version: PageVersion?
  /// A hash of what the server sent as items, the same for the same items within a process; nil when
  /// unknown.
  package var fingerprint: Int?
  /// What some of the items hold, by which to know them again though a member of them changes; nil
  /// when unknown.
  package var sample: PageSample?
  /// The identity of the request that was answered in the end, where redirects led to another one; as
  /// `PageReader.identity(of:)` gives it.
  package var address: Int?
  /// How many pages the source can be asked for at the same time; nil when it does not say.
  package var readsAtOnce: Int?
  package var previous: Position?
  /// Whether the first page of the listing, as it was asked for, is not the first that the server
  /// has, so that a total counts more than a walk can see.
  package var startsMidway = false
  package var closing: Position?
  package var total: Total?
  package var metadata = PageMetadata()
  package var traffic = WalkReport.Traffic()
  package var warnings: [WalkReport.Warning] = []
  package var adjustments: [WalkReport.Adjustment] = []
  /// What is raised after this page if it is the last one and the server declared more items than
  /// came; nil where the page's end is no more doubtful than any other.
  package var endDoubt: PageError?
  /// Where the items lie, when they do not follow one another from `position` on.
  package var origins: [ItemOrigins]?
  /// What is to be noted once the page is consumed.
  package var receipts: [PageReceipt] = []
  var mark: ItemMark?

  package init() {}

  /// A head that copies of a page share.
  //
  // SAFETY: changed only through a unique reference; see `Page.head`.
  final class Shared: @unchecked Sendable {
    // Unchecked for the same reason, as the storage of arrays is.
    @exclusivity(unchecked) var head: PageHead

    init(_ head: PageHead) { self.head = head }
  }
}

/// What came with a page besides its items, found by type.
///
/// A source attaches values, the consumer asks for them: `page.metadata[Envelope.self]`. Transforms
/// carry them along.
public struct PageMetadata: Sendable {
  /// So few that looking at each of them is the fastest way to find one.
  private var entries: [Entry] = []

  private struct Entry: Sendable {
    let type: ObjectIdentifier
    var value: any Sendable
  }

  /// No metadata.
  public init() {}

  /// The attached value of that type; nil when the source attached none.
  public subscript<Value: Sendable>(type: Value.Type) -> Value? {
    get { entries.first { $0.type == ObjectIdentifier(type) }?.value as? Value }
    set {
      entries.removeAll { $0.type == ObjectIdentifier(type) }
      if let newValue { entries.append(Entry(type: ObjectIdentifier(type), value: newValue)) }
    }
  }
}

extension Page {
  /// Where a walk goes on once the first `count` items are handled: inside this page, or at
  /// `checkpoint` when all are.
  ///
  /// Store it to resume at exactly the next item. O(1) for pages as the source sent them.
  public func position(afterItems count: Int) -> Position? {
    if count >= items.count { return checkpoint }
    return count <= 0 ? position : position(ofItem: count)
  }

  /// Where a later walk goes on once the whole page is handled: at `next`, or, where that is
  /// broken (`nextFailure`), at the end of this page, so that a later walk raises the failure, too.
  ///
  /// Nil where nothing is left. The opposite does not hold: where the end of a listing is an answer of
  /// its own, such as a 404 behind the last page, its last page leads there. `WalkReport.checkpoint`
  /// is nil then, once the walk has ended.
  public var checkpoint: Position? { nextFailure == nil ? next : end }

  /// The end of this page, as a position inside it: reading there fetches the page again, for its
  /// `next` and for what was added since.
  var end: Position {
    guard !items.isEmpty else { return position }
    if let run = head.origins?.last, let places = run.places {
      return places.position((run.offsets.last ?? -1) + 1)
    }
    var last = position(ofItem: items.count - 1)
    last.itemOffset += 1
    return last
  }

  func position(ofItem index: Int) -> Position {
    guard let origins = head.origins else {
      return position.at(itemOffset: position.itemOffset + index)
    }
    var rest = index
    for run in origins {
      if rest < run.offsets.count {
        return run.position(at: rest)
      }
      rest -= run.offsets.count
    }
    return position
  }

  /// Where a walk finds the item before all others; nil where that is the item's position.
  ///
  /// In what order several listings are read as one may differ from one time to the next: what follows a position
  /// is certain there, and which of it comes first is not. What follows the anchor is not what follows the item.
  func anchor(ofItem index: Int) -> Position? {
    var rest = index
    for run in head.origins ?? [] {
      if rest < run.offsets.count { return run.places?.anchor(run.offsets[rest]) }
      rest -= run.offsets.count
    }
    return nil
  }

  /// Keeps the first `count` items; the page then leads to the first of the others.
  mutating func cut(toItems count: Int) {
    guard count < items.count else { return }
    next = position(afterItems: count)
    nextFailure = nil
    // The rest of the page may never be delivered.
    if !head.receipts.isEmpty { head.receipts = [] }
    keep(0..<count)
  }

  /// The page without what it has from `place` on, where that lies within it; it leads there then.
  package func endingAt(_ place: Position) -> Page {
    let end = items.indices.first { index in
      let own = position(ofItem: index)
      return own.page == place.page && own.itemOffset >= place.itemOffset
    }
    guard let end else { return self }
    var page = self
    page.cut(toItems: end)
    page.next = place
    return page
  }

  /// The page without its first `count` items, starting where they end.
  func dropping(items count: Int) -> Page {
    guard count > 0 else { return self }
    var page = self
    if count < items.count { page.position = position(ofItem: count) }
    page.keep(min(count, items.count)..<items.count)
    return page
  }

  /// Keeps these items, and remembers where they lie.
  private mutating func keep(_ kept: Range<Int>) {
    if head.origins != nil { head.origins = origins(ofItems: Array(kept)) }
    items = Array(items[kept])
  }

  /// The origins of the items at these indices, which ascend.
  package func origins(ofItems indices: [Int]) -> [ItemOrigins] {
    guard let runs = head.origins else {
      return [
        ItemOrigins(page: position.page, offsets: indices.map { position.itemOffset + $0 })
      ]
    }
    var rest = indices[...]
    var start = 0
    return runs.compactMap { run in
      let own = rest.prefix { $0 < start + run.offsets.count }
      let offsets = own.map { run.offsets[$0 - start] }
      rest = rest.dropFirst(own.count)
      start += run.offsets.count
      return offsets.isEmpty ? nil : run.with(offsets: offsets)
    }
  }
}
