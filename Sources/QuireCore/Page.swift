/// One page of a listing, with everything needed to continue after it.
public struct Page<Item: Sendable>: Sendable {
  /// The items, in the server's order. A page without items does not end the walk.
  public var items: [Item]

  /// Everything but the items, shared between copies until one of them is changed, because pages
  /// are moved and copied often.
  private var shared: PageHead.Shared

  /// Creates a page of `items`; without `next` it is the last page.
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

  /// Creates a page of `items` with an existing head.
  package init(_ items: [Item], head: PageHead) {
    self.init(items, sharing: PageHead.Shared(head))
  }

  private init(_ items: [Item], sharing shared: PageHead.Shared) {
    self.items = items
    self.shared = shared
  }

  /// Returns the page with other items and everything else kept.
  ///
  /// If the number of items differs, positions inside the page count the new items.
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
  /// Returns a placeholder for a page that does not exist, because the listing ended before it. It
  /// carries only the traffic of the answer that ended the listing, and what was adjusted for it.
  package static func absent(
    after traffic: WalkReport.Traffic, _ adjustments: [WalkReport.Adjustment] = []
  ) -> Page<Item> {
    var page = Page<Item>([])
    page.traffic = traffic
    page.head.adjustments = adjustments
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

  /// The error in the page's continuation, such as a server that says that more follows but not
  /// where; nil if `next` can be trusted.
  ///
  /// The page itself is complete: the walk delivers it, and throws this error from the `next()`
  /// after it.
  public var nextFailure: PageError? {
    get { head.nextFailure }
    set { head.nextFailure = newValue }
  }

  /// Whether this is part of a page that is still arriving. `next` then lies inside the page, after
  /// the items so far. Only walks that ask for items as they arrive deliver parts.
  public package(set) var hasMoreParts: Bool {
    get { head.hasMoreParts }
    set { head.hasMoreParts = newValue }
  }

  /// Whether the server answered that the page has not changed since the last read (304). A walk
  /// delivers it without items and with the `next` of the last read; a list fills in the items that
  /// it keeps. Only lists, and walks that keep validators, get such pages.
  public package(set) var isUnchanged: Bool {
    get { head.isUnchanged }
    set { head.isUnchanged = newValue }
  }

  /// Where the page before this one starts, if the server says so.
  public var previous: Position? {
    get { head.previous }
    set { head.previous = newValue }
  }

  /// The position passed to `PageSource.close(at:)` if this is the last page of the walk; nil
  /// stands for `next`.
  ///
  /// For sources whose server holds something that `next` does not name, or that outlives the last
  /// page.
  public var closing: Position? {
    get { head.closing }
    set { head.closing = newValue }
  }

  /// The total the server declared with this page.
  public var total: Total? {
    get { head.total }
    set { head.total = newValue }
  }

  /// The warnings that this page gives rise to; the walk collects them in its report.
  public var warnings: [WalkReport.Warning] {
    get { head.warnings }
    set { head.warnings = newValue }
  }

  /// The values that the source attached to the page, found by their type.
  public var metadata: PageMetadata {
    _read { yield head.metadata }
    _modify { yield &head.metadata }
  }

  /// The bytes and requests spent on fetching the page.
  public var traffic: WalkReport.Traffic {
    _read { yield head.traffic }
    _modify { yield &head.traffic }
  }

  /// The counter in which a loop over items notes how many it has consumed; nil where items are not
  /// counted.
  @usableFromInline var consumedCount: ConsumedCount? {
    get { head.consumedCount }
    set { head.consumedCount = newValue }
  }
}

/// Everything a page carries but its items. `Page` exposes the public part under the same names.
package struct PageHead: Sendable {
  package var index = 0
  package var position = Position.start
  package var next: Position?
  package var nextFailure: PageError?
  package var hasMoreParts = false
  package var isUnchanged = false
  /// Whether this stands for a page that does not exist; see `Page.absent(after:)`.
  package var isAbsent = false
  /// The validators for a conditional request; only on pages that a consumer keeps.
  package var version: PageVersion?
  /// A hash of the items as the server sent them, the same in every process, because positions hold
  /// it; nil when unknown.
  package var fingerprint: Int?
  /// The format of the listing's pages in the words of its source, which positions hold; nil when
  /// unknown.
  package var form: String?
  /// Hashes of some items' members, which recognise the items even if some members change; nil when
  /// unknown.
  package var sample: PageSample?
  /// The identity, as in `PageReader.identity(of:)`, of the request that was answered after
  /// redirects; nil without redirects.
  package var answeredIdentity: Int?
  /// The number of pages that the source can read at the same time; nil if it does not say.
  package var readsAtOnce: Int?
  package var previous: Position?
  /// Whether the server has pages before the first page of the listing as it was asked for, so that
  /// a total counts more items than a walk can see.
  package var startsMidway = false
  /// Whether the listing begins anew with this page, because its cursor had expired: all items come
  /// again. Of a page in parts, only the first part says so.
  package var beginsAnew = false
  package var closing: Position?
  package var total: Total?
  package var metadata = PageMetadata()
  package var traffic = WalkReport.Traffic()
  package var warnings: [WalkReport.Warning] = []
  package var adjustments: [WalkReport.Adjustment] = []
  /// The error thrown after this page if it is the last one and the server declared more items than
  /// it sent; nil if such an end is no more doubtful than usual.
  package var endDoubt: PageError?
  /// Where the items lie, when they do not follow one another from `position` on.
  package var origins: [ItemOrigins]?
  /// Called by the reader that read the page on a guess, once it is asked for; nil on other pages.
  package var onDelivery: (@Sendable () -> Void)?
  /// The receipts to confirm once the page is consumed.
  package var receipts: [PageReceipt] = []
  var consumedCount: ConsumedCount?

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

/// Metadata that tells the items of its page from those of other pages.
package protocol ItemIdentifying: Sendable {
  /// A digest of the members that identify the items, the same in every process; nil if an item has
  /// none. On demand, because it reads the whole page.
  var itemsIdentity: UInt64? { get }
}

/// Values that came with a page besides its items, found by their type.
///
/// A source attaches values, and the consumer asks for them: `page.metadata[Envelope.self]`.
/// Transforms keep them.
public struct PageMetadata: Sendable {
  /// Unsorted: there are so few entries that looking at each is the fastest way to find one.
  private var entries: [Entry] = []

  private struct Entry: Sendable {
    let type: ObjectIdentifier
    var value: any Sendable
  }

  /// Creates metadata without values.
  public init() {}

  /// Creates metadata with one value.
  package init<Value: Sendable>(_ value: consuming Value) {
    entries = [Entry(type: ObjectIdentifier(Value.self), value: value)]
  }

  /// What identifies the items of the page; nil if nothing does.
  var itemsIdentity: UInt64? {
    entries.lazy.compactMap { $0.value as? any ItemIdentifying }.first?.itemsIdentity
  }

  /// The attached value of that type; nil when the source attached none.
  public subscript<Value: Sendable>(type: Value.Type) -> Value? {
    get { entries.first { $0.type == ObjectIdentifier(type) }?.value as? Value }
    set {
      entries.removeAll { $0.type == ObjectIdentifier(type) }
      if let newValue { entries.append(Entry(type: ObjectIdentifier(type), value: newValue)) }
    }
  }
}
