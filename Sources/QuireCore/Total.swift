/// How much a server says there is, and what kind of promise that is.
///
/// Totals lie: some are lower bounds, some estimates, some count pages. Quire reports them and
/// never ends a walk by one unless the pagination description says so.
public struct Total: Hashable, Codable, Sendable {
  /// What the number counts and how far to trust it.
  public enum Kind: String, Hashable, Codable, Sendable, CaseIterable {
    /// Exactly this many items in the whole listing.
    case items
    /// About this many items.
    case estimate
    /// At least this many items.
    case lowerBound
    /// This many items after the current page.
    case remaining
    /// This many pages in the whole listing.
    case pages
  }

  /// The number, as the server sent it.
  public var value: Int
  /// What the number counts.
  public var kind: Kind

  /// A total; of items, and exact, unless said otherwise.
  public init(_ value: Int, _ kind: Kind = .items) {
    self.value = value
    self.kind = kind
  }
}
