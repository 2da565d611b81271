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
    /// Whether a filter is set, and how many loaded items it leaves out.
    public internal(set) var isFiltered = false
    /// How many loaded items the filter leaves out.
    public internal(set) var hidden = 0
    /// Why the store could not be read or written, if that failed last.
    public internal(set) var storeError: (any Error)?
    let id: @Sendable (Item) -> ID
    let isEqual: @Sendable (Item, Item) -> Bool

    init(
      list: ListSnapshot<Item>, id: @escaping @Sendable (Item) -> ID,
      isEqual: @escaping @Sendable (Item, Item) -> Bool
    ) {
      self.list = list
      self.id = id
      self.isEqual = isEqual
    }

    /// This snapshot, and what differs from an earlier one of the same model.
    public func change(from earlier: Snapshot) -> Change {
      Change(
        snapshot: self,
        difference: ListDifference(from: earlier.items, to: items, id: id, isEqual: isEqual),
        before: earlier.expectedBefore)
    }
  }

  /// A snapshot, and what differs from the one before.
  public struct Change: Sendable {
    /// What is shown.
    public let snapshot: Snapshot
    /// What differs, by the numbers of items.
    public let difference: ListDifference<ID>
    /// How many rows stood before the items then.
    let before: Int

    /// The row that shows now what a row showed before the change, both counted with what stands before
    /// the items. The rows of a view that is kept there do not jump.
    public func row(of row: Int) -> Int {
      guard row >= before else { return row }
      return snapshot.expectedBefore + difference.index(of: row - before)
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
        list.total.map { $0.value - list.itemsBefore - list.count }
      case .remaining: list.total?.value
      case .lowerBound, .pages, nil: nil
      }
    return rest.map { max($0, list.itemsAfter) } ?? (list.itemsAfter > 0 ? list.itemsAfter : nil)
  }

  /// The item of the server's that a row shows, counted from the run's start.
  func itemInRun(atRow row: Int) -> Int {
    let content = list.content
    let index = row - expectedBefore
    if index < 0 { return content.heldStart + index }
    if index >= items.count { return content.heldStart + list.count + index - items.count }
    let (chunk, offset) = items.place(of: index)
    let counts = list.pages.map(\.items.count)
    guard chunk < counts.count else { return content.heldStart }
    return content.heldStart + counts[..<chunk].reduce(0, +)
      + min(offset, max(0, counts[chunk] - 1))
  }
}

extension ListSnapshot.Content {
  /// Whether a page is held.
  var hasPages: Bool { !stamps.isEmpty }
}
