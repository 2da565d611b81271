public import QuireCore

/// What a list shows where it has no items: texts and measures for a view.
public struct ListPlaceholders: Sendable {
  /// Something in place of the items.
  public enum Placeholder: Hashable, Sendable {
    /// The first page is on its way.
    case loading(String)
    /// There are no items.
    case empty(String)
    /// The first page could not be loaded.
    case error(String)

    /// What it says.
    public var text: String {
      switch self {
      case .loading(let text), .empty(let text), .error(let text): text
      }
    }
  }

  /// A row behind the last item.
  public struct Footer: Hashable, Sendable {
    /// What it says.
    public var text: String
    /// How high it is.
    public var height: Double

    /// A row that says `text`.
    public init(text: String, height: Double = 44) {
      self.text = text
      self.height = height
    }
  }

  /// What becomes of the footer when the state changes.
  public enum FooterChange: Hashable, Sendable { case willAppear, willDisappear }

  /// What stands in place of items that are not there. Default: "Loading …" while the first page is,
  /// "Empty" for a listing without items, and the message of an error of the first page.
  public var placeholder: @Sendable (ListState) -> Placeholder? = { state in
    switch state {
    case .loading: .loading("Loading …")
    case .empty: .empty("Empty")
    case .loadingError(let error): .error(error.message)
    case .idle, .content, .loadingMore, .exhausted, .loadingMoreError: nil
    }
  }

  /// What stands behind the items. Default: "Retry load more", 44 high, when a later page could not
  /// be loaded.
  public var footer: @Sendable (ListState) -> Footer? = { state in
    if case .loadingMoreError = state { Footer(text: "Retry load more") } else { nil }
  }

  /// Whether the error is shown elsewhere, so that no placeholder shows it. Default: no error.
  public var handlesError: @Sendable (PageError) -> Bool = { _ in false }

  /// The defaults.
  public init() {}

  /// What a list in this state that holds so many items shows in their place; nil where it has any.
  public func placeholder(in state: ListState, holding items: Int = 0) -> Placeholder? {
    if items > 0 { return nil }
    if let error = state.error, handlesError(error) { return nil }
    return placeholder(state)
  }

  /// What becomes of the footer when the state changes; nil when nothing does.
  public func footerChange(from old: ListState, to new: ListState) -> FooterChange? {
    switch (footer(old), footer(new)) {
    case (nil, .some): .willAppear
    case (.some, nil): .willDisappear
    default: nil
    }
  }
}
