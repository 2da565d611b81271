import QuireCore

/// The load that brought a page, by its number. A page from a store is stale until it is loaded
/// again.
package struct PageStamp: Hashable, Sendable {
  package var load: Int
  package var isStale = false
}

/// A load of a list: of a page at one of its ends, a known page, or the first page of a new run.
enum ListLoad: Hashable, Sendable {
  case more, before, reload
  /// A page that was dropped or is stale, by its ordinal. For a loop, the page is delivered but not
  /// held.
  case again(Int, isForLoop: Bool = false)
  /// Starts a run at a page that is not held.
  case seek(ListStart)

  /// Whether the load adds nothing after the last page.
  var isBeside: Bool {
    switch self {
    case .before, .again: true
    case .more, .reload, .seek: false
    }
  }

  /// Whether the load starts a new walk.
  var isNewRun: Bool {
    switch self {
    case .more, .before, .again: false
    case .reload, .seek: true
    }
  }
}

/// The start of a run or a walk.
struct ListStart: Hashable, Sendable {
  var position: Position
  /// The number of pages before it.
  var pages = 0
  /// The number of items before it, if all pages are of one size.
  var items = 0
}
