/// What a paginator has and does at one moment: counts and flags always belong together.
public struct PaginatorSnapshot<Item: Sendable>: Sendable {
  /// What the paginator is doing.
  public package(set) var state: PaginatorState
  /// The pages it holds, in the order of the listing: all that were loaded with the retention
  /// `.all`, and those not handed out with `.window`.
  public package(set) var pages: [Page<Item>]
  /// How many items were loaded, whether they are still held or not.
  public package(set) var loaded: Int
  /// How many of these were loaded before the start.
  public package(set) var prepended: Int
  /// Which of `pages` page commands have turned to.
  public package(set) var currentPage: Int
  /// Whether a reload is on its way.
  public package(set) var isRefreshing: Bool
  /// Whether nothing was held when the last load began.
  public package(set) var isInitial: Bool
  /// Whether the next page is loaded when it is due: false before the first one has come, after an error
  /// and at the end. `loadMore()` loads the first one, too.
  public package(set) var canLoadMore: Bool
  /// Whether a page before the first one can be loaded, as far as is known.
  public package(set) var canLoadBefore: Bool
  /// Whether a page before the first one is being loaded.
  public package(set) var isLoadingBefore: Bool
  /// Why the page before the first one could not be loaded, if that failed last.
  public package(set) var errorBefore: PageError?

  /// The items of all pages held. O(n).
  public var items: [Item] { pages.flatMap(\.items) }
  /// How many items the pages held have. O(pages).
  public var count: Int { pages.reduce(0) { $0 + $1.items.count } }
  /// The item with this number, counted from the first one held; nil when there is none. O(pages).
  public func item(at index: Int) -> Item? {
    guard index >= 0 else { return nil }
    var rest = index
    for page in pages {
      if rest < page.items.count { return page.items[rest] }
      rest -= page.items.count
    }
    return nil
  }
  /// False while a first page is being loaded and nothing is there to be touched.
  public var isInteractionEnabled: Bool { !(state == .loading && isInitial) }
  /// The total that the server declared with the last page held.
  public var total: Total? { pages.last?.total }
}
