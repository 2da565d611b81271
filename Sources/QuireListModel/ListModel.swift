@_exported public import QuireLists
public import Observation
public import QuireCore

/// An observable list for a user interface, on the main actor, with local edits.
///
/// ```swift
/// @State var model = ListModel(issues)            // a cursor of Identifiable, Equatable items
/// List(model.items) { Row($0) }.task { try? await model.start() }
/// ```
/// The content to show is one value, `snapshot`, so that items, state, errors, totals and flags
/// change together. `changes` delivers each snapshot with its difference from the previous one.
///
/// Items are identified by `id`: an item that two pages list is shown once, on the first of them.
/// An edit shows at once, survives loads and can be undone; `commit(_:_:)` sends it to a server and
/// undoes it if the server refuses.
@MainActor @Observable
public final class ListModel<Item: Sendable, ID: Hashable & Sendable> {
  /// The treatment of edits by a reload.
  public enum EditPolicy: Hashable, Sendable {
    /// Edits confirmed before the reload began are over, because the server lists their result.
    /// Other edits stay.
    case merge
    /// All edits are over.
    case drop
  }

  /// The items and the state to show now.
  public var snapshot: Snapshot {
    access(keyPath: observed)
    return shown
  }
  /// Selects the items to show; nil shows all. Default nil.
  public var filter: (@Sendable (Item) -> Bool)? { didSet { arrange { $0.filter = filter } } }
  /// Whether the first item precedes the second; nil for the order of the listing. Default nil.
  ///
  /// Sorts the loaded items, not the whole listing: O(n log n) for every change.
  public var order: (@Sendable (Item, Item) -> Bool)? { didSet { arrange { $0.order = order } } }
  /// The treatment of edits by a reload. Default `.merge`.
  public var onReload = EditPolicy.merge

  /// The list behind the model: its options, states, events and the report of the walk.
  public let list: PagedList<Item>
  @ObservationIgnored private var shown: Snapshot
  /// Created once, because creating it costs as much as most changes do.
  private let observed: KeyPath<ListModel, Snapshot> = \.snapshot
  @ObservationIgnored private var rows: ListRows<Item, ID>
  @ObservationIgnored private var arrangement = ListArrangement<Item>()
  @ObservationIgnored private var version = -1
  @ObservationIgnored private var observers: [Observer<Snapshot>] = []
  @ObservationIgnored private var keeper: ListKeeper<Item>?
  private let id: @Sendable (Item) -> ID
  private let isEqual: @Sendable (Item, Item) -> Bool

  /// Creates a model of `list`.
  ///
  /// - Parameters:
  ///   - list: The list to show.
  ///   - id: The identity of an item.
  ///   - store: Keeps pages between runs of the program. Default nil: nothing is kept.
  ///   - isEqual: Whether two items of the same identity have the same value. Equal items are not
  ///     reported as changed, and their stored pages stay.
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
    keeper?.onChange = { [weak self] in
      if let self { self.show(self.shown.list) }
    }
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

  /// The items to show.
  public var items: ListItems<Item> { snapshot.items }
  /// The state of the list.
  public var state: ListState { snapshot.list.state }

  /// The current snapshot and each later one, with its difference from the previous one; the first
  /// one differs from an empty list.
  ///
  /// A slow loop skips snapshots, and gets the difference from the last one it received. The
  /// sequence ends with the model.
  public var changes: Changes {
    Changes { [weak self] in
      guard let self else { return nil }
      let queue = EventQueue([self.snapshot], isConflated: true)
      self.observers.removeAll { !$0.isObserving }
      self.observers.append(Observer(queue) { $0 })
      return queue
    }
  }

  /// Returns the index of an item in `items`; nil if it is not shown.
  public func index(of id: ID) -> Int? {
    arrangement.isNone ? rows.index(of: id) : items.firstIndex { self.id($0) == id }
  }

  /// Takes the list's latest snapshot, and shows it if anything changed.
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

  /// Waits until all loaded pages are stored.
  public func settleStore() async {
    await keeper?.settle()
    show(shown.list)
  }

  // MARK: Loading

  /// Shows the stored pages, if there is a store, and then loads the first page.
  ///
  /// Returns whether there is a page. Throws the error of the load; the stored pages then stay.
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

  /// Reloads the list; see `PagedList.reload()`.
  @discardableResult
  public func reload() async throws -> Bool { try await load { try await $0.reload() } }

  /// Loads the next page; see `PagedList.loadMore()`.
  @discardableResult
  public func loadMore() async throws -> Bool { try await load { try await $0.loadMore() } }

  /// Loads the page before the first one; see `PagedList.loadBefore()`.
  @discardableResult
  public func loadBefore() async throws -> Bool { try await load { try await $0.loadBefore() } }

  /// Repeats the load that failed last; see `PagedList.retry()`.
  @discardableResult
  public func retry() async throws -> Bool { try await load { try await $0.retry() } }

  /// Goes to another page, counting items as the server does; see `PagedList.navigate(to:)`.
  /// Returns the index in `items` of the page's first shown item; nil if there is no such page or
  /// none of its items are shown.
  @discardableResult
  public func navigate(to command: PageCommand) async throws -> Int? {
    let page = try await load { try await $0.navigate(to: command) }
    return page?.items.lazy.compactMap { self.index(of: self.id($0)) }.first
  }

  /// Cancels the running load; see `PagedList.cancel()`.
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

  /// Reports the rows that a view shows, counted from the start of the listing
  /// (`Snapshot.expectedBefore` rows precede the items). See `PagedList.report(visible:)`.
  ///
  /// With an `order`, only the last row counts: when it comes into view, everything loaded counts
  /// as consumed.
  public func report(visible: Range<Int>) {
    let visible = visible.clampedToRows
    if arrangement.isNone {
      let first = snapshot.itemInRun(atRow: visible.lowerBound)
      let end = snapshot.itemInRun(atRow: visible.upperBound)
      list.report(visibleInRun: first..<max(first, end))
    } else if visible.upperBound >= snapshot.expectedBefore + items.count {
      let end = snapshot.list.content.heldStart + snapshot.list.count
      list.report(visibleInRun: end - 1..<end)
    }
    refresh()
  }

  // MARK: Editing

  /// Inserts a new item in front of the item at `index`, or at the end.
  ///
  /// The item stays after its predecessor, or moves to the start of the list if a reload removes
  /// the predecessor. Once the server lists the item, it takes the server's place. Returns nil if
  /// the list already has an item of this identity.
  @discardableResult
  public func insert(_ item: Item, at index: Int) -> ListEdit? {
    edit { $0.insert(item, behind: predecessor(of: index)) }
  }

  /// Changes an item now and whenever a load brings it again. Returns nil if it is not shown.
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

  /// Hides an item. Returns nil if it is not shown.
  @discardableResult
  public func remove(_ id: ID) -> ListEdit? { edit { $0.remove(id) } }

  /// Moves an item in front of the one at `index`, counted without the moved item, or to the end.
  /// Returns nil if it is not shown, or is there already.
  @discardableResult
  public func move(_ id: ID, to index: Int) -> ListEdit? {
    guard let old = self.index(of: id) else { return nil }
    let index = min(index, shown.items.count)
    return edit { $0.move(id, behind: predecessor(of: index < old ? index : index + 1)) }
  }

  /// Undoes an edit. Returns false if the edit is over.
  @discardableResult
  public func undo(_ edit: ListEdit) -> Bool { change { $0.undo(edit.number) } }

  /// Confirms an edit: the next reload to begin ends it. `item` is the server's version of the
  /// item, such as an inserted one with its final identity. Returns false if the edit is over.
  @discardableResult
  public func confirm(_ edit: ListEdit, as item: Item? = nil) -> Bool {
    let loads = list.snapshot.loads
    return change { $0.confirm(edit.number, as: item, loads: loads) }
  }

  /// Sends an edit to a server, and confirms it if `request` returns or undoes it if `request`
  /// throws. `request` returns the server's version of the item, or nil.
  ///
  /// Does nothing for a nil edit, which is the result of editing a missing item.
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
    let index = min(index, shown.items.count)
    return index <= 0 ? nil : id(shown.items[index - 1])
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

/// A handle to a local edit, to undo or confirm it.
public struct ListEdit: Hashable, Sendable {
  let number: Int
}

extension ListModel where Item: Equatable {
  /// Creates a model of `list` whose items compare by `==`.
  public convenience init(
    _ list: PagedList<Item>, store: (any ListStore<Item>)? = nil,
    id: @escaping @Sendable (Item) -> ID
  ) {
    self.init(list, store: store, id: id) { $0 == $1 }
  }
}

extension ListModel where Item: Equatable & Identifiable, ID == Item.ID {
  /// Creates a model of a list of the pages that `cursor` reads.
  public convenience init(
    _ cursor: Cursor<Item>, options: ListOptions = ListOptions(),
    store: (any ListStore<Item>)? = nil
  ) {
    self.init(PagedList(cursor, options: options), store: store) { $0.id }
  }
}
