/// What a paginator is doing, as a list would show it.
///
/// `idle` → `loading` → `content` → `loadingMore` → `content` … → `exhausted`, with an error where a
/// load fails. A cancelled load leads back to where it came from.
public enum PaginatorState: Sendable {
  /// Nothing was asked for yet.
  case idle
  /// The first page is being loaded, for the first time or anew.
  case loading
  /// Pages are there, and more may follow.
  case content
  /// The page after the last one is being loaded.
  case loadingMore
  /// The listing ended without a single item.
  case empty
  /// Everything there is has been loaded.
  case exhausted
  /// The first page could not be loaded.
  indirect case loadingError(PageError)
  /// A later page could not be loaded; what was loaded before is there.
  indirect case loadingMoreError(PageError)

  /// The error of the last load, if it failed.
  public var error: PageError? {
    switch self {
    case .loadingError(let error), .loadingMoreError(let error): error
    case .idle, .loading, .content, .loadingMore, .empty, .exhausted: nil
    }
  }

  /// Whether a page is being loaded.
  public var isLoading: Bool {
    switch self {
    case .loading, .loadingMore: true
    case .idle, .content, .empty, .exhausted, .loadingError, .loadingMoreError: false
    }
  }
}

extension PaginatorState: Equatable {
  /// Whether both are the same case; of two errors, code and message are compared.
  public static func == (left: PaginatorState, right: PaginatorState) -> Bool {
    switch (left, right) {
    case (.idle, .idle), (.loading, .loading), (.content, .content),
      (.loadingMore, .loadingMore), (.empty, .empty), (.exhausted, .exhausted):
      true
    case (.loadingError(let left), .loadingError(let right)),
      (.loadingMoreError(let left), .loadingMoreError(let right)):
      left.code == right.code && left.message == right.message
    default: false
    }
  }
}

extension PaginatorState: CustomStringConvertible {
  /// The name of the case.
  public var description: String {
    switch self {
    case .idle: "idle"
    case .loading: "loading"
    case .content: "content"
    case .loadingMore: "loadingMore"
    case .empty: "empty"
    case .exhausted: "exhausted"
    case .loadingError: "loadingError"
    case .loadingMoreError: "loadingMoreError"
    }
  }
}

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
  /// Whether no item was held when the last load began, a load of the page before the first one apart.
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
