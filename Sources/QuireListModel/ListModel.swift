@_exported public import QuireLists
public import Observation
public import QuireCore

/// A list that a user interface holds: observable, on the main actor, and with edits of its own.
///
/// ```swift
/// @State var model = ListModel(issues)            // a cursor of Identifiable, Equatable items
/// List(model.items) { Row($0) }.task { try? await model.start() }
/// ```
/// Everything shown is one value, `snapshot`, so that items, state, errors, totals and flags change
/// together. `changes` has each snapshot with the difference to the one before.
///
/// Items are known by their identity: one that two pages list is shown once, where the first of them has
/// it. An edit shows at once, stays over loads, and can be undone; `commit(_:_:)` asks a server whether it
/// agrees, and undoes the edit where it does not.
@MainActor @Observable
public final class ListModel<Item: Sendable, ID: Hashable & Sendable> {
  /// What a reload does to edits.
  public enum EditPolicy: Hashable, Sendable {
    /// Those that the server has agreed to before it began are over, and the others stay.
    case merge
    /// All are over.
    case drop
  }

  /// What is shown now.
  public var snapshot: Snapshot {
    access(keyPath: observed)
    return shown
  }
  /// Which items are shown; nil for all. Default nil.
  public var filter: (@Sendable (Item) -> Bool)? { didSet { arrange { $0.filter = filter } } }
  /// Whether an item is shown before another; nil for the order of the listing. Default nil.
  ///
  /// What is loaded is sorted, not the listing: O(n log n) with every change.
  public var order: (@Sendable (Item, Item) -> Bool)? { didSet { arrange { $0.order = order } } }
  /// What a reload does to edits. Default `.merge`.
  public var onReload = EditPolicy.merge

  /// The pages behind the model: options, states, events and the report of the walk.
  public let list: PagedList<Item>
  @ObservationIgnored private var shown: Snapshot
  /// Made once: to make it for each change costs as much as most changes do.
  private let observed: KeyPath<ListModel, Snapshot> = \.snapshot
  @ObservationIgnored private var rows: ListRows<Item, ID>
  @ObservationIgnored private var arrangement = ListArrangement<Item>()
  @ObservationIgnored private var version = -1
  @ObservationIgnored private var observers: [Observer<Snapshot>] = []
  @ObservationIgnored private var keeper: ListKeeper<Item>?
  private let id: @Sendable (Item) -> ID
  private let isEqual: @Sendable (Item, Item) -> Bool

  /// A model of what `list` loads, whose items `id` tells apart.
  ///
  /// - Parameters:
  ///   - list: The list that the model shows.
  ///   - id: What tells an item from all others.
  ///   - store: Where pages are kept from one run of the program to the next. Default nil: nowhere.
  ///   - isEqual: Whether an item has the same value as another of its identity: views need not be drawn
  ///     again then, and stored pages may stay.
  public init(
    _ list: PagedList<Item>, store: (any ListStore<Item>)? = nil,
    id: @escaping @Sendable (Item) -> ID, isEqual: @escaping @Sendable (Item, Item) -> Bool
  ) {
    self.list = list
    self.id = id
    self.isEqual = isEqual
    rows = ListRows(id: id)
    keeper = store.map { ListKeeper($0) }
    shown = Snapshot(list: list.snapshot, id: id, isEqual: isEqual)
    let signals = list.listen()
    Task { [weak self] in
      while await signals.next() != nil {
        guard let self else { return }
        self.refresh()
      }
    }
  }

  deinit {
    for observer in observers { observer.finish() }
  }

  // MARK: What is shown

  /// The items that are shown.
  public var items: ListItems<Item> { snapshot.items }
  /// What the list is doing.
  public var state: ListState { snapshot.list.state }

  /// The snapshot of now, and each that follows, with the difference to the one before; the first one
  /// differs from nothing.
  ///
  /// A loop that is slow misses what is between, and gets the difference all the same. It ends with the
  /// model.
  public var changes: Changes {
    Changes { [weak self] in
      guard let self else { return nil }
      let queue = EventQueue([self.snapshot], isConflated: true)
      self.observers.removeAll { !$0.isObserving }
      self.observers.append(Observer(queue) { $0 })
      return queue
    }
  }

  /// The number of an item among those shown; nil where it is not.
  public func index(of id: ID) -> Int? {
    arrangement.isNone ? rows.index(of: id) : items.firstIndex { self.id($0) == id }
  }

  /// Takes what the list has become.
  private func refresh() {
    let reading = list.reading
    guard reading.version != version else { return }
    version = reading.version
    rows.apply(reading.snapshot, dropsEdits: onReload == .drop)
    keeper?.keep(reading.snapshot)
    show(reading.snapshot)
  }

  private func arrange(_ change: (inout ListArrangement<Item>) -> Void) {
    change(&arrangement)
    show(shown.list)
  }

  private func show(_ list: ListSnapshot<Item>) {
    var snapshot = Snapshot(list: list, id: id, isEqual: isEqual)
    snapshot.items = arrangement.arrange(rows.items)
    snapshot.isFiltered = arrangement.filter != nil
    snapshot.isOrdered = arrangement.order != nil
    snapshot.hidden = rows.items.count - snapshot.items.count
    snapshot.pendingEdits = rows.pending
    snapshot.storeError = keeper?.error
    withMutation(keyPath: observed) { shown = snapshot }
    for observer in observers { observer.post(snapshot)?() }
  }

  /// Waits until everything that came is stored.
  public func settleStore() async {
    await keeper?.settle()
    show(shown.list)
  }

  // MARK: Loading

  /// Shows what the store has, if there is one, and loads the first page behind that.
  ///
  /// Returns whether there is a page; throws the error of the load, which leaves what is stored as it is.
  @discardableResult
  public func start() async throws -> Bool {
    if let keeper, !snapshot.list.content.hasPages {
      let stored = await keeper.restore()
      list.seed(stored) { [id, isEqual] old, new in
        old.items.count == new.items.count
          && zip(old.items, new.items).allSatisfy { id($0) == id($1) && isEqual($0, $1) }
      }
      refresh()
    }
    return try await reload()
  }

  /// As `PagedList.reload()`.
  @discardableResult
  public func reload() async throws -> Bool { try await load { try await $0.reload() } }

  /// As `PagedList.loadMore()`.
  @discardableResult
  public func loadMore() async throws -> Bool { try await load { try await $0.loadMore() } }

  /// As `PagedList.loadBefore()`.
  @discardableResult
  public func loadBefore() async throws -> Bool { try await load { try await $0.loadBefore() } }

  /// As `PagedList.retry()`.
  @discardableResult
  public func retry() async throws -> Bool { try await load { try await $0.retry() } }

  /// As `PagedList.navigate(to:)`; items are counted as the server has them. Returns the number that the
  /// first item of the page has among those shown; nil where there is no such page, or nothing of it is
  /// shown.
  @discardableResult
  public func navigate(to command: PageCommand) async throws -> Int? {
    let page = try await load { try await $0.navigate(to: command) }
    return page?.items.lazy.compactMap { self.index(of: self.id($0)) }.first
  }

  /// As `PagedList.cancel()`.
  public func cancel() {
    list.cancel()
    refresh()
  }

  private func load<Result: Sendable>(
    _ load: @Sendable (PagedList<Item>) async throws -> Result
  ) async throws -> Result {
    defer { refresh() }
    return try await load(list)
  }

  /// Says which rows a view shows, counted with those before the items (`Snapshot.expectedBefore`) and
  /// those behind. See `PagedList.report(visible:)`.
  ///
  /// In an order of the model's own only the last row counts: where it comes into view, everything loaded
  /// is consumed.
  public func report(visible: Range<Int>) {
    let run = { (row: Int) in self.snapshot.itemInRun(atRow: row) }
    let isAtEnd = visible.upperBound >= snapshot.expectedBefore + items.count
    if arrangement.isNone {
      list.report(
        visibleInRun: run(
          visible.lowerBound)..<max(run(visible.lowerBound), run(visible.upperBound)))
    } else if isAtEnd {
      let end = snapshot.list.content.heldStart + snapshot.list.count
      list.report(visibleInRun: end - 1..<end)
    }
    refresh()
  }

  // MARK: Editing

  /// Shows a new item in front of the one with this number among those shown, or behind all.
  ///
  /// It stays behind the item before it; in front of the listing where that is gone after a reload. Once
  /// the server lists it, it is where the server has it. Nil where an item of its identity is there.
  @discardableResult
  public func insert(_ item: Item, at index: Int) -> ListEdit? {
    edit { $0.insert(item, behind: predecessor(of: index)) }
  }

  /// Changes an item: now, and in whatever a load brings of it. Nil where it is not shown.
  @discardableResult
  public func update(_ id: ID, _ change: @escaping @Sendable (inout Item) -> Void) -> ListEdit? {
    edit { rows in
      rows.update(id) { item in
        var item = item
        change(&item)
        return item
      }
    }
  }

  /// Leaves an item out. Nil where it is not shown.
  @discardableResult
  public func remove(_ id: ID) -> ListEdit? { edit { $0.remove(id) } }

  /// Shows an item elsewhere: in front of the one that has this number, counted without it, or behind all.
  /// Nil where it is not shown.
  @discardableResult
  public func move(_ id: ID, to index: Int) -> ListEdit? {
    guard let old = self.index(of: id) else { return nil }
    return edit { $0.move(id, behind: predecessor(of: index < old ? index : index + 1)) }
  }

  /// Takes an edit back. False where it is over.
  @discardableResult
  public func undo(_ edit: ListEdit) -> Bool { change { $0.undo(edit.number) } }

  /// The server agrees to an edit: a reload that begins from now on ends it. `item` is what the server has
  /// made of it, such as an inserted item with an identity of the server's. False where it is over.
  @discardableResult
  public func confirm(_ edit: ListEdit, as item: Item? = nil) -> Bool {
    let loads = list.snapshot.loads
    return change { $0.confirm(edit.number, as: item, loads: loads) }
  }

  /// Asks a server whether it agrees to an edit, which is confirmed where `request` returns, and undone where
  /// it throws. `request` returns what the server has made of the item, or nil.
  ///
  /// Does nothing without an edit: there was no such item.
  public func commit(
    _ edit: ListEdit?, _ request: @Sendable () async throws -> Item?
  ) async throws {
    guard let edit else { return }
    do {
      confirm(edit, as: try await request())
    } catch {
      undo(edit)
      throw error
    }
  }

  private func predecessor(of index: Int) -> ID? {
    let index = min(index, shown.items.count) - 1
    return index < 0 ? nil : id(shown.items[index])
  }

  private func edit(_ make: (inout ListRows<Item, ID>) -> Int?) -> ListEdit? {
    var number: Int?
    _ = change { rows in
      number = make(&rows)
      return number != nil
    }
    return number.map(ListEdit.init)
  }

  private func change(_ edit: (inout ListRows<Item, ID>) -> Bool) -> Bool {
    guard edit(&rows) else { return false }
    show(shown.list)
    return true
  }
}

/// A local edit, by which it is undone or confirmed.
public struct ListEdit: Hashable, Sendable {
  let number: Int
}

extension ListModel where Item: Equatable {
  /// A model of what `list` loads, whose items `id` tells apart.
  public convenience init(
    _ list: PagedList<Item>, store: (any ListStore<Item>)? = nil,
    id: @escaping @Sendable (Item) -> ID
  ) {
    self.init(list, store: store, id: id) { $0 == $1 }
  }
}

extension ListModel where Item: Equatable & Identifiable, ID == Item.ID {
  /// A model of what `cursor` reads.
  public convenience init(
    _ cursor: Cursor<Item>, options: ListOptions = ListOptions(),
    store: (any ListStore<Item>)? = nil
  ) {
    self.init(PagedList(cursor, options: options), store: store) { $0.id }
  }
}
