public import QuireCore
public import QuireLists

extension ListModel {
  /// The content of a model at one moment: items, state, errors, totals and flags that belong
  /// together.
  public struct Snapshot: Sendable {
    /// The items, filtered, in order, and with local edits.
    public internal(set) var items = ListItems<Item>()
    /// The snapshot of the list that the items come from: pages, state, errors, totals, flags, and
    /// the numbers of items before and after the pages held.
    public internal(set) var list: ListSnapshot<Item>
    /// The number of edits that the server has not confirmed.
    public internal(set) var pendingEdits = 0
    /// Whether a filter is set.
    public internal(set) var isFiltered = false
    /// Whether an order is set, so that items are not in the order of their pages.
    var isOrdered = false
    /// The number of loaded items that the filter hides.
    public internal(set) var hidden = 0
    /// The error of the store's last operation; nil if it succeeded.
    public internal(set) var storeError: (any Error)?
    let id: @Sendable (Item) -> ID
    let isEqual: @Sendable (Item, Item) -> Bool

    /// Returns this snapshot with its difference from an earlier one of the same model.
    public func change(from earlier: Snapshot) -> Change {
      Change(
        snapshot: self,
        difference: ListDifference(from: earlier.items, to: items, id: id, isEqual: isEqual),
        earlier: earlier)
    }
  }

  /// A snapshot and its difference from the previous one.
  public struct Change: Sendable {
    /// The new snapshot.
    public let snapshot: Snapshot
    /// The difference from the previous snapshot, in indexes of items.
    public let difference: ListDifference<ID>
    let earlier: Snapshot

    /// Returns the new number of the row that was `row` before the change. Rows are counted from
    /// the start of the listing, including rows before the items. A view that keeps this row in
    /// place does not jump.
    ///
    /// A row whose item is not held keeps its place in the listing. For a removed item, returns the
    /// row of the next item that stayed.
    public func row(of row: Int) -> Int {
      let index = row - earlier.expectedBefore
      let isSameRun = snapshot.list.content.generation == earlier.list.content.generation
      if earlier.items.indices.contains(index) {
        let item = earlier.itemInRun(atRow: row)
        // Items are counted anew where a page before them was loaded again and has more: one that
        // is still shown is known by its identity.
        let isShown = !difference.removed.contains { $0.index == index }
        if isShown || !isSameRun || snapshot.isOrdered || snapshot.heldInRun.contains(item) {
          return snapshot.expectedBefore + difference.index(of: index)
        }
        return snapshot.row(ofItemInRun: item)
      }
      if isSameRun { return snapshot.row(ofItemInRun: earlier.itemInRun(atRow: row)) }
      return min(row, snapshot.rowCount)
    }
  }

  /// The changes of a model as a sequence; see `ListModel.changes`.
  public struct Changes: AsyncSequence, Sendable {
    /// Never throws.
    public typealias Failure = Never

    let subscribe: @MainActor @Sendable () -> EventQueue<Snapshot>?

    /// Creates an iterator, which subscribes with its first `next()`.
    public func makeAsyncIterator() -> Iterator { Iterator(subscribe: subscribe) }

    /// An iterator with a queue of its own.
    public struct Iterator: AsyncIteratorProtocol {
      let subscribe: @MainActor @Sendable () -> EventQueue<Snapshot>?
      private var queue: EventQueue<Snapshot>?
      private var last: Snapshot?

      init(subscribe: @escaping @MainActor @Sendable () -> EventQueue<Snapshot>?) {
        self.subscribe = subscribe
      }

      /// Returns the next change; nil once the model is gone or the task is cancelled.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        if queue == nil { queue = await subscribe() }
        guard let snapshot = await queue?.next() else { return nil }
        defer { last = snapshot }
        let before =
          last ?? Snapshot(list: snapshot.list, id: snapshot.id, isEqual: snapshot.isEqual)
        return snapshot.change(from: before)
      }

      /// Returns the next change; nil once the model is gone or the task is cancelled.
      public mutating func next() async -> Change? { await next(isolation: #isolation) }
    }
  }
}

@available(*, unavailable)
extension ListModel.Changes.Iterator: Sendable {}

// MARK: - What a view shows around the items

extension ListModel.Snapshot {
  /// The kinds of content in the area of the items.
  public enum Content: Sendable {
    /// The items.
    case items
    /// Placeholders, because nothing has been loaded.
    case loading
    /// A message that the listing is empty.
    case empty
    /// A message that the filter hides every loaded item.
    case noMatches
    /// The error of the first page.
    case failed(PageError)
  }

  /// The kinds of content at an end of the items.
  public enum Edge: Sendable {
    /// Nothing: there are no items, or this is the start of the listing.
    case none
    /// More items can be loaded.
    case more
    /// More items are being loaded.
    case loading
    /// The load failed: a row that calls `retry()`.
    case failed(PageError)
    /// The end of the listing.
    case end
  }

  /// The content to show in the area of the items, derived from state, filter and items.
  public var content: Content {
    if !items.isEmpty { return .items }
    if let error = list.state.error { return .failed(error) }
    if hidden > 0 { return .noMatches }
    switch list.state {
    case .empty, .exhausted: return .empty
    default: return .loading
    }
  }

  /// Returns the content to show at an end of the items.
  public func edge(_ end: Threshold.End) -> Edge {
    guard list.content.hasPages else { return .none }
    switch end {
    case .leading:
      if list.isLoadingBefore { return .loading }
      if let error = list.errorBefore { return .failed(error) }
      return list.canLoadBefore ? .more : .none
    case .trailing:
      if case .loadingMoreError(let error) = list.state { return .failed(error) }
      if list.state == .loadingMore { return .loading }
      return list.content.isEnd ? .end : .more
    }
  }

  /// The error of a failed reload while the old items are still shown: for a line above them.
  public var refreshError: PageError? {
    guard list.content.hasPages, case .loadingError(let error) = list.state else { return nil }
    return error
  }

  /// The number of rows to reserve before the items, for items that a window dropped or a jump
  /// skipped.
  public var expectedBefore: Int { list.itemsBefore }

  /// The number of items that follow the held ones, by the window and by the total that the server
  /// declared; nil if unknown.
  public var expectedAfter: Int? {
    if list.content.isEnd { return 0 }
    let rest: Int? =
      switch list.total?.kind {
      case .items, .estimate:
        list.total.map { $0.value.minus(list.itemsBefore).minus(list.count) }
      case .remaining: list.total?.value
      case .lowerBound, .pages, nil: nil
      }
    // Bounded, because a server may declare any number, and sums with it must not overflow.
    let bounded = rest.map { min(max($0, list.itemsAfter), 1 << 40) }
    return bounded ?? (list.itemsAfter > 0 ? list.itemsAfter : nil)
  }

  /// The number of rows, including those reserved before and after the items.
  var rowCount: Int { expectedBefore + items.count + (expectedAfter ?? 0) }

  /// The numbers of the server's items that are held, counted from the start of the run.
  var heldInRun: Range<Int> {
    list.content.heldStart..<list.content.heldStart + list.count
  }

  /// Returns the number of the server's item that a row shows, counted from the start of the run.
  func itemInRun(atRow row: Int) -> Int {
    let index = row - expectedBefore
    if index < 0 { return heldInRun.lowerBound + index }
    if index >= items.count { return heldInRun.upperBound.plus(index - items.count) }
    let (ordinal, offset) = items.index.find(index)
    let chunk = ordinal - items.index.ordinals.lowerBound
    guard chunk < list.pages.count else { return heldInRun.lowerBound }
    let before = list.pages[..<chunk].reduce(0) { $0 + $1.items.count }
    return heldInRun.lowerBound + before
      + min(offset, max(0, list.pages[chunk].items.count - 1))
  }

  /// Returns the row that shows an item of the server, or is reserved for it: the inverse of
  /// `itemInRun(atRow:)`.
  func row(ofItemInRun item: Int) -> Int {
    var rest = item - heldInRun.lowerBound
    if rest < 0 { return max(0, expectedBefore + rest) }
    if item >= heldInRun.upperBound {
      return expectedBefore + items.count + item - heldInRun.upperBound
    }
    // With an order set, an item can be anywhere.
    if isOrdered { return expectedBefore }
    for (page, ordinal) in zip(list.pages, items.index.ordinals) {
      if rest < page.items.count {
        let last = max(0, items.index[ordinal].count - 1)
        return expectedBefore + items.index.start(of: ordinal) + min(rest, last)
      }
      rest -= page.items.count
    }
    return expectedBefore + items.count
  }
}

extension ListSnapshot.Content {
  /// Whether any page is held.
  var hasPages: Bool { !stamps.isEmpty }
}
