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
