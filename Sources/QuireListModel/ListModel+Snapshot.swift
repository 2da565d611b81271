public import QuireCore
public import QuireLists

extension ListModel {
  /// What a model shows at one moment: items, state, errors, totals and flags always belong together.
  public struct Snapshot: Sendable {
    /// The items shown.
    public internal(set) var items = ListItems<Item>()
    /// The pages they come from: state, errors, totals, flags, and what lies before and after.
    public internal(set) var list: ListSnapshot<Item>
    /// How many edits the server has not agreed to.
    public internal(set) var pendingEdits = 0
    /// Whether a filter is set.
    public internal(set) var isFiltered = false
    /// Whether an order is set, so that items lie elsewhere than in their pages.
    var isOrdered = false
    /// How many loaded items the filter leaves out.
    public internal(set) var hidden = 0
    /// Why the store could not be read or written, if that failed last.
    public internal(set) var storeError: (any Error)?
    let id: @Sendable (Item) -> ID
    let isEqual: @Sendable (Item, Item) -> Bool

    /// This snapshot, and what differs from an earlier one of the same model.
    public func change(from earlier: Snapshot) -> Change {
      Change(
        snapshot: self,
        difference: ListDifference(from: earlier.items, to: items, id: id, isEqual: isEqual),
        earlier: earlier)
    }
  }

  /// A snapshot, and what differs from the one before.
  public struct Change: Sendable {
    /// What is shown.
    public let snapshot: Snapshot
    /// What differs, by the numbers of items.
    public let difference: ListDifference<ID>
    let earlier: Snapshot

    /// The row that shows now what a row showed before the change, both counted with what stands before
    /// the items. The rows of a view that is kept there do not jump.
    ///
    /// A row whose item was dropped, or has not come yet, keeps its place in the listing; for one whose
    /// item is gone it is that of the first one behind it that stayed.
    public func row(of row: Int) -> Int {
      let index = row - earlier.expectedBefore
      let isSameRun = snapshot.list.content.generation == earlier.list.content.generation
      if earlier.items.indices.contains(index) {
        let item = earlier.itemInRun(atRow: row)
        if !isSameRun || snapshot.isOrdered || snapshot.heldInRun.contains(item) {
          return snapshot.expectedBefore + difference.index(of: index)
        }
        return snapshot.row(ofItemInRun: item)
      }
      if isSameRun { return snapshot.row(ofItemInRun: earlier.itemInRun(atRow: row)) }
      return min(row, snapshot.rowCount)
    }
  }

  /// Changes, for a loop; see `ListModel.changes`.
  public struct Changes: AsyncSequence, Sendable {
    /// Nothing is thrown.
    public typealias Failure = Never

    let subscribe: @MainActor @Sendable () -> EventQueue<Snapshot>?

    /// Observes from the first `next()` on.
    public func makeAsyncIterator() -> Iterator { Iterator(subscribe: subscribe) }

    /// One observer.
    public struct Iterator: AsyncIteratorProtocol {
      let subscribe: @MainActor @Sendable () -> EventQueue<Snapshot>?
      private var queue: EventQueue<Snapshot>?
      private var last: Snapshot?

      init(subscribe: @escaping @MainActor @Sendable () -> EventQueue<Snapshot>?) {
        self.subscribe = subscribe
      }

      /// The next change; nil when no more can come.
      public mutating func next(isolation actor: isolated (any Actor)?) async -> Change? {
        if queue == nil { queue = await subscribe() }
        guard let snapshot = await queue?.next() else { return nil }
        defer { last = snapshot }
        let before =
          last ?? Snapshot(list: snapshot.list, id: snapshot.id, isEqual: snapshot.isEqual)
        return snapshot.change(from: before)
      }

      /// The next change; nil when no more can come.
      public mutating func next() async -> Change? { await next(isolation: #isolation) }
    }
  }
}

@available(*, unavailable)
extension ListModel.Changes.Iterator: Sendable {}

// MARK: - What stands where no item is

extension ListModel.Snapshot {
  /// What takes the place of all items.
  public enum Content: Sendable {
    /// The items.
    case items
    /// Skeletons: nothing has come yet.
    case loading
    /// That there are none.
    case empty
    /// That the filter leaves out all that is loaded.
    case noMatches
    /// Why there are none.
    case failed(PageError)
  }

  /// What stands at an end of the items.
  public enum Edge: Sendable {
    /// Nothing: there are no items, or the listing begins here.
    case none
    /// That more is there.
    case more
    /// That more is on its way.
    case loading
    /// That it could not be loaded, for a row that calls `retry()`.
    case failed(PageError)
    /// That the listing ends here.
    case end
  }

  /// What the list shows, by its state alone.
  public var content: Content {
    if !items.isEmpty { return .items }
    if let error = list.state.error { return .failed(error) }
    if hidden > 0 { return .noMatches }
    switch list.state {
    case .empty, .exhausted: return .empty
    default: return .loading
    }
  }

  /// What stands at that end.
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

  /// Why the list could not be loaded anew, while it shows what it had: for a line above the items.
  public var refreshError: PageError? {
    guard list.content.hasPages, case .loadingError(let error) = list.state else { return nil }
    return error
  }

  /// How many rows stand before the items for what a window dropped, or a jump passed by.
  public var expectedBefore: Int { list.itemsBefore }

  /// How many items are known to come behind those held, by what a window dropped and by the total that
  /// the server declared; nil where that is unknown.
  public var expectedAfter: Int? {
    if list.content.isEnd { return 0 }
    let rest: Int? =
      switch list.total?.kind {
      case .items, .estimate:
        list.total.map { $0.value.minus(list.itemsBefore).minus(list.count) }
      case .remaining: list.total?.value
      case .lowerBound, .pages, nil: nil
      }
    // Views add it to other numbers, and servers say what they like.
    let bounded = rest.map { min(max($0, list.itemsAfter), 1 << 40) }
    return bounded ?? (list.itemsAfter > 0 ? list.itemsAfter : nil)
  }

  /// How many rows there are, with those that stand for what is known to come.
  var rowCount: Int { expectedBefore + items.count + (expectedAfter ?? 0) }

  /// The items of the server's that are held, counted from the run's start.
  var heldInRun: Range<Int> {
    list.content.heldStart..<list.content.heldStart + list.count
  }

  /// The item of the server's that a row shows, counted from the run's start.
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

  /// The row that shows an item of the server's, or stands for it; the other way round.
  func row(ofItemInRun item: Int) -> Int {
    var rest = item - heldInRun.lowerBound
    if rest < 0 { return max(0, expectedBefore + rest) }
    if item >= heldInRun.upperBound {
      return expectedBefore + items.count + item - heldInRun.upperBound
    }
    // In an order of its own an item lies anywhere.
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
  /// Whether a page is held.
  var hasPages: Bool { !stamps.isEmpty }
}
