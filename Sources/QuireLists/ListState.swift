public import QuireCore

/// The state of a list, as a view shows it.
///
/// `idle` → `loading` → `content` → `loadingMore` → `content` … → `exhausted`, with an error state
/// if a load fails. A cancelled load returns to the previous state.
public enum ListState: Sendable {
  /// Nothing has been loaded.
  case idle
  /// The first page is being loaded or reloaded.
  case loading
  /// Pages are loaded, and more may follow.
  case content
  /// The page after the last one is being loaded.
  case loadingMore
  /// The listing has no items.
  case empty
  /// All pages are loaded.
  case exhausted
  /// The first page could not be loaded.
  indirect case loadingError(PageError)
  /// A later page could not be loaded; the earlier pages are still held.
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
  /// Whether both are the same case. Errors are equal if their code and message are.
  public static func == (left: ListState, right: ListState) -> Bool {
    left.description == right.description && left.error?.code == right.error?.code
      && left.error?.message == right.error?.message
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

/// The content and the state of a list at one moment.
public struct ListSnapshot<Item: Sendable>: Sendable {
  /// The state of the list.
  public internal(set) var state: ListState
  /// The pages held, in the order of the listing.
  public internal(set) var pages: [Page<Item>]
  /// The number of loaded items, including those that a window dropped.
  public internal(set) var loaded: Int
  /// The number of these items that were loaded before the start.
  public internal(set) var prepended: Int
  /// The number of pages before the first one held, which a window dropped or a jump skipped.
  public internal(set) var pagesBefore: Int
  /// The number of items before the first page held, if skipped pages are as long as the first one.
  public internal(set) var itemsBefore: Int
  /// The index in `pages` of the page navigated to last, or of the nearest one.
  public internal(set) var currentPage: Int
  /// Whether a reload or a jump to a page is running.
  public internal(set) var isRefreshing: Bool
  /// Whether no item was held when the last load began, except for loads of pages before the first
  /// one and of pages loaded again.
  public internal(set) var isInitial: Bool
  /// Whether the next page is loaded when it is due: false before the first page, after an error
  /// and at the end. `loadMore()` also loads the first page.
  public internal(set) var canLoadMore: Bool
  /// Whether a page before the first one can be loaded, as far as known.
  public internal(set) var canLoadBefore: Bool
  /// Whether a page before the first one is being loaded.
  public internal(set) var isLoadingBefore: Bool
  /// The error of the last load of the page before the first one; nil if it succeeded.
  public internal(set) var errorBefore: PageError?

  /// The number of items after the last page held that a window dropped.
  public var itemsAfter: Int { content.itemsAfter }
  /// Whether the server answered the last request for the first page held with 304 (Not Modified).
  public var isUnchanged: Bool { pages.first?.isUnchanged ?? false }
  /// Whether a page held came from a store and has not been loaded since.
  public var isStale: Bool { content.stamps.contains(where: \.isStale) }

  /// The identity of the pages in a snapshot, to compare them with another snapshot's.
  package struct Content: Sendable {
    package var run = 0
    package var generation = 0
    /// The ordinal of the first page held, and the load that brought each page.
    package var first = 0
    package var stamps: [PageStamp] = []
    /// The number of the first item held, counted from the run's start.
    package var heldStart = 0
    var itemsAfter = 0
    /// Whether the last page held is the last of the listing.
    package var isEnd = false
  }

  package var content = Content()
  /// Whether a page that a window dropped, or a stale page, is being loaded again.
  public internal(set) var isLoadingAgain = false
  /// The number of loads that have begun.
  package var loads = 0

  /// The items of all pages held. O(n).
  public var items: [Item] { pages.flatMap(\.items) }
  /// The number of items in all pages held. O(pages).
  public var count: Int { pages.reduce(0) { $0 + $1.items.count } }
  /// Returns the item at an index, counted from the first one held; nil if there is none. O(pages).
  public func item(at index: Int) -> Item? {
    guard index >= 0 else { return nil }
    var rest = index
    for page in pages {
      if rest < page.items.count { return page.items[rest] }
      rest -= page.items.count
    }
    return nil
  }
  /// Whether a view should accept gestures: false while a first page is being loaded.
  public var isInteractionEnabled: Bool { !(state == .loading && isInitial) }
  /// The total that the server declared with the last page held.
  public var total: Total? { pages.last?.total }
}

/// An event of a list.
public enum ListEvent<Item: Sendable>: Sendable {
  /// The state changed; `from` is the `to` of the previous change.
  case changed(from: ListState, to: ListState)
  /// A first page replaced everything loaded before.
  case reloaded(Page<Item>)
  /// A page was added at the end.
  case appended(Page<Item>)
  /// A page was added at the start: every other item moves by `shift`.
  case prepended(Page<Item>, shift: Int)
  /// `ListSnapshot.canLoadMore` changed.
  case canLoadMore(Bool)
  /// All pages were removed.
  case cleared
}

/// A command to go to another page of a list. Pages and items are counted from the first known one,
/// from 0.
public enum PageCommand: Hashable, Sendable {
  /// The page after the one navigated to last.
  case next
  /// The page before the one navigated to last.
  case previous
  /// The page with this number.
  case page(Int)
  /// The page of the item with this number.
  case item(Int)

  /// Whether the number is so small that sums with it cannot overflow.
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
