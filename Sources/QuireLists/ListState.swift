public import QuireCore

/// What a list is doing, as a view would show it.
///
/// `idle` → `loading` → `content` → `loadingMore` → `content` … → `exhausted`, with an error where a
/// load fails. A cancelled load leads back to where it came from.
public enum ListState: Sendable {
  /// Nothing was loaded yet.
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

extension ListState: Equatable {
  /// Whether both are the same case; of two errors, code and message are compared.
  public static func == (left: ListState, right: ListState) -> Bool {
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

extension ListState: CustomStringConvertible {
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

/// What a list has and does at one moment: counts and flags always belong together.
public struct ListSnapshot<Item: Sendable>: Sendable {
  /// What the list is doing.
  public internal(set) var state: ListState
  /// The pages it holds, in the order of the listing.
  public internal(set) var pages: [Page<Item>]
  /// How many items were loaded, those that a window dropped included.
  public internal(set) var loaded: Int
  /// How many of these were loaded before the start.
  public internal(set) var prepended: Int
  /// How many pages lie before the first one held: dropped by a window, or passed by a jump to a page whose
  /// position was known.
  public internal(set) var pagesBefore: Int
  /// How many items those pages have, as far as all pages are as long as the first.
  public internal(set) var itemsBefore: Int
  /// Which of `pages` was navigated to last, or the nearest to it.
  public internal(set) var currentPage: Int
  /// Whether the first page is being loaded anew, or a page that was jumped to.
  public internal(set) var isRefreshing: Bool
  /// Whether no item was held when the last load began, a load of the page before the first one apart.
  public internal(set) var isInitial: Bool
  /// Whether the next page is loaded when it is due: false before the first one has come, after an error
  /// and at the end. `loadMore()` loads the first one, too.
  public internal(set) var canLoadMore: Bool
  /// Whether a page before the first one can be loaded, as far as is known.
  public internal(set) var canLoadBefore: Bool
  /// Whether a page before the first one is being loaded.
  public internal(set) var isLoadingBefore: Bool
  /// Why the page before the first one could not be loaded, if that failed last.
  public internal(set) var errorBefore: PageError?

  /// How many items lie behind the last page held, as far as they were loaded before and dropped.
  public var itemsAfter: Int { content.itemsAfter }
  /// Whether the server has said, when the first page held was loaded last, that it is what it was (304).
  public var isUnchanged: Bool { pages.first?.isUnchanged ?? false }
  /// Whether a page held came from a store, and was not loaded since.
  public var isStale: Bool { content.stamps.contains(where: \.isStale) }

  /// What tells the pages of one snapshot from those of another.
  package struct Content: Sendable {
    package var run = 0
    package var generation = 0
    /// The ordinal of the first page held, and what brought each of them.
    package var first = 0
    package var stamps: [PageStamp] = []
    /// Where the first page held lies, counted from the run's start.
    package var heldStart = 0
    var itemsAfter = 0
    /// Whether the page after the last one held is known not to exist.
    package var isEnd = false
  }

  package var content = Content()
  /// Whether a page is loaded again that a window dropped, or that is stale.
  public internal(set) var isLoadingAgain = false
  /// How many loads have begun.
  package var loads = 0

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
  /// Whether a view takes gestures: not while a first page is being loaded.
  public var isInteractionEnabled: Bool { !(state == .loading && isInitial) }
  /// The total that the server declared with the last page held.
  public var total: Total? { pages.last?.total }
}

/// Something that happened to a list.
public enum ListEvent<Item: Sendable>: Sendable {
  /// The state changed; `from` is what the last change led to.
  case changed(from: ListState, to: ListState)
  /// A first page took the place of everything before it.
  case reloaded(Page<Item>)
  /// A page came after the last one.
  case appended(Page<Item>)
  /// A page came before the first one: every item moves by `shift`.
  case prepended(Page<Item>, shift: Int)
  /// Whether the next page is loaded when it is due.
  case canLoadMore(Bool)
  /// Everything that was loaded is gone.
  case cleared
}

/// A wish to show another page of a list. Pages and items are counted from the first one known, from 0.
public enum PageCommand: Hashable, Sendable {
  /// The page after the one navigated to last.
  case next
  /// The page before the one navigated to last.
  case previous
  /// The page with this number.
  case page(Int)
  /// The page that has the item with this number.
  case item(Int)

  /// Whether a listing may have so many pages or items.
  var isPossible: Bool {
    switch self {
    case .page(let number), .item(let number): number < 1 << 40
    case .next, .previous: true
    }
  }
}

extension ListSnapshot.Content {
  init(_ content: ListContent<Item>) {
    run = content.run
    generation = content.generation
    first = content.first
    stamps = content.stamps
    heldStart = content.heldStart
    itemsAfter = content.back.reduce(0) { $0 + $1.count }
    isEnd = content.isExhausted && content.back.isEmpty
  }
}
