public import QuireCore

/// The placeholders of a list that has no items, and its footer: texts and measures for a view.
public struct ListPlaceholders: Sendable {
  /// A placeholder for the area of the items.
  public enum Placeholder: Hashable, Sendable {
    /// The first page is being loaded.
    case loading(String)
    /// The listing is empty.
    case empty(String)
    /// The first page could not be loaded.
    case error(String)

    /// The text to show.
    public var text: String {
      switch self {
      case .loading(let text), .empty(let text), .error(let text): text
      }
    }
  }

  /// A row after the last item.
  public struct Footer: Hashable, Sendable {
    /// The text to show.
    public var text: String
    /// The height of the row.
    public var height: Double

    /// Creates a footer with a text.
    public init(text: String, height: Double = 44) {
      self.text = text
      self.height = height
    }
  }

  /// A change of the footer with the state.
  public enum FooterChange: Hashable, Sendable { case willAppear, willDisappear }

  /// The placeholder for a state. Default: "Loading …" for the first page, "Empty" for an empty
  /// listing, and the error's message if the first page failed.
  public var placeholder: @Sendable (ListState) -> Placeholder? = { state in
    switch state {
    case .loading: .loading("Loading …")
    case .empty: .empty("Empty")
    case .loadingError(let error): .error(error.message)
    case .idle, .content, .loadingMore, .exhausted, .loadingMoreError: nil
    }
  }

  /// The footer for a state. Default: "Retry load more", 44 high, if a later page failed.
  public var footer: @Sendable (ListState) -> Footer? = { state in
    if case .loadingMoreError = state { Footer(text: "Retry load more") } else { nil }
  }

  /// Whether an error is shown elsewhere, so that it needs no placeholder. Default: none is.
  public var handlesError: @Sendable (PageError) -> Bool = { _ in false }

  /// Creates placeholders with the default texts.
  public init() {}

  /// Returns the placeholder of a list in this state; nil if it holds items.
  public func placeholder(in state: ListState, holding items: Int = 0) -> Placeholder? {
    if items > 0 { return nil }
    if let error = state.error, handlesError(error) { return nil }
    return placeholder(state)
  }

  /// Returns the change of the footer between two states; nil if it stays.
  public func footerChange(from old: ListState, to new: ListState) -> FooterChange? {
    switch (footer(old), footer(new)) {
    case (nil, .some): .willAppear
    case (.some, nil): .willDisappear
    default: nil
    }
  }
}
