public import QuireCore
import Synchronization

/// A list that only counts rows: it numbers the pages, and a handler loads each of them and returns
/// the total counts of all sections.
///
/// ```swift
/// let list = SectionedList()
/// list.attach { number in
///   try await model.load(page: number)
///   return SectionAnswer(hasMore: model.count < 50, counts: [model.count])
/// }
/// list.willShow(row: 7)
/// ```
public final class SectionedList: Sendable {
  /// Loads the page with this number.
  public typealias Handler = @Sendable (_ page: Int) async throws -> SectionAnswer

  private struct Attachment: Sendable {
    var list: PagedList<[Int]>?
    var loadsAhead = true
    var placeholder: String
    var onSelect: (@Sendable (SectionCounts.Path) -> Void)?
  }

  private let firstPage: Int
  private let policy: SectionCounts.PlaceholderPolicy
  private let autoLoad: Bool
  private let threshold: Threshold
  private let attachment: Mutex<Attachment>

  /// Creates a list without a handler.
  ///
  /// - Parameters:
  ///   - threshold: When to load the next page. Default: when fewer than 5 items are left.
  ///   - policy: The place of the placeholder while more may follow.
  ///   - placeholder: The identifier of the placeholder's row, for views.
  ///   - firstPage: The number of the first page. Default 1.
  ///   - autoLoad: Whether attaching a handler loads the first page. Default true.
  public init(
    threshold: Threshold = .remaining(items: 5),
    policy: SectionCounts.PlaceholderPolicy = .rowInLastSection,
    placeholder: String = "loading", firstPage: Int = 1, autoLoad: Bool = true
  ) {
    self.firstPage = firstPage
    self.policy = policy
    self.autoLoad = autoLoad
    self.threshold = threshold
    attachment = Mutex(Attachment(placeholder: placeholder))
  }

  // MARK: The handler

  /// Loads pages with `handler` from now on, starting with the first one.
  public func attach(_ handler: @escaping Handler) {
    let cursor = Cursor<[Int]>.numbered(from: firstPage) { number in
      let answer = try await handler(number)
      guard let counts = answer.counts, counts.allSatisfy({ $0 >= 0 }) else {
        throw PageError(
          .noCounts,
          answer.counts == nil
            ? "Page \(number) came without counts; answer with the items of every section."
            : "Page \(number) came with a count below 0.")
      }
      return NumberedPage([counts], isLast: !answer.hasMore)
    }
    let list = PagedList(cursor, options: ListOptions(threshold: .onDemand, onReload: .clear))
    attachment.withLock { $0.list = list }
    if autoLoad { list.requestMore() }
  }

  /// Loads pages with `handler` while `owner` exists, which this does not keep alive.
  public func attach<Owner: AnyObject & Sendable>(
    to owner: Owner, _ handler: @escaping @Sendable (Owner, Int) async throws -> SectionAnswer
  ) {
    attach { [weak owner] number in
      guard let owner else { throw CancellationError() }
      return try await handler(owner, number)
    }
  }

  /// Removes the handler and cancels its load. Observers get no event.
  public func detach() { attachment.withLock { $0.list = nil } }

  // MARK: Content and state

  private var list: PagedList<[Int]>? { attachment.withLock { $0.list } }

  /// The current sections. Before the first answer: one section without items, and more to follow.
  public var sections: SectionCounts {
    guard let snapshot = list?.snapshot else { return SectionCounts(policy: policy) }
    let hasMore = snapshot.state != .exhausted && snapshot.state != .empty
    let items = snapshot.pages.last?.items.first ?? (hasMore ? [0] : [])
    return SectionCounts(items: items, hasMore: hasMore, policy: policy)
  }

  /// The state of the list.
  public var state: ListState { list?.snapshot.state ?? .idle }

  /// Whether a reload is running.
  public var isRefreshing: Bool { list?.snapshot.isRefreshing ?? false }

  /// All events from now on; none without a handler.
  public var events: ListUpdates<ListEvent<[Int]>> {
    list?.events ?? .none
  }

  /// The identifier of the placeholder's row, for views. Setting it loads nothing.
  public var placeholder: String {
    get { attachment.withLock { $0.placeholder } }
    set { attachment.withLock { $0.placeholder = newValue } }
  }

  /// Whether rows that come into view load the next page. Default true; a reload sets it to true.
  public var infiniteLoading: Bool {
    get { attachment.withLock { $0.loadsAhead } }
    set { attachment.withLock { $0.loadsAhead = newValue } }
  }

  // MARK: Events of a view

  /// Notes that a row comes into view. Loads the next page once, if this makes it due.
  public func willShow(row: Int) {
    guard case .item = sections.element(at: row) else { return }
    let items = sections.itemCount
    let progress = Progress(consumed: row + 1, loaded: items, lastPage: items)
    if threshold.isExceeded(progress) { requestMore() }
  }

  /// Reports the offset of a view; see `Threshold`.
  public func report(offset: Double, in viewport: Viewport) {
    if threshold.crossing(at: offset, in: viewport) != nil { requestMore() }
  }

  private func requestMore() {
    guard infiniteLoading, let list, list.snapshot.state == .content else { return }
    list.requestMore()
  }

  /// Notes that a row was selected. The handler of `onSelect(_:)` gets items, never the
  /// placeholder.
  public func select(row: Int) {
    guard case .item(let path) = sections.element(at: row) else { return }
    attachment.withLock { $0.onSelect }?(path)
  }

  /// Calls `handler` with every selected item.
  public func onSelect(_ handler: @escaping @Sendable (SectionCounts.Path) -> Void) {
    attachment.withLock { $0.onSelect = handler }
  }

  /// Removes everything and loads the first page. Throws the error of that load.
  ///
  /// The events are, in order: `cleared`, after which there are no items and more to follow; the
  /// state `loading`; and with the handler's answer `reloaded` and the state `content`, or the
  /// state `loadingError`. `isRefreshing` is true from the first event until the answer.
  @discardableResult
  public func reload() async throws -> Bool {
    guard let list else { return false }
    attachment.withLock { $0.loadsAhead = true }
    return try await list.reload()
  }

  /// Loads the next page, or joins a running load. Returns whether there is one.
  @discardableResult
  public func loadMore() async throws -> Bool { try await list?.loadMore() ?? false }

  /// Repeats the load of a page that failed. Returns false if none did.
  @discardableResult
  public func retry() async throws -> Bool { try await list?.retry() ?? false }
}
