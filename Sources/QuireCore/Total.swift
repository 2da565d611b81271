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

/// What fetching a page took on the wire.
public struct Traffic: Hashable, Sendable {
  /// Decoded bytes of the bodies that made up the page.
  public var bytes: Int
  /// Requests sent, retries and redirects included.
  public var requests: Int
  /// How many of the requests repeated a failed one.
  public var retries: Int
  /// How many of the requests followed a redirect.
  public var redirects: Int
  /// Items that came, before any transform. The walk fills it in.
  public package(set) var items = 0
  /// Items that a deduplicating transform dropped.
  public package(set) var duplicates = 0
  /// Items that were set aside because they could not be decoded.
  public var badItems: Int

  /// One request that brought nothing, unless said otherwise.
  public init(
    bytes: Int = 0, requests: Int = 1, retries: Int = 0, redirects: Int = 0, badItems: Int = 0
  ) {
    self.bytes = bytes
    self.requests = requests
    self.retries = retries
    self.redirects = redirects
    self.badItems = badItems
  }

  /// The sum of two fetches.
  public static func + (left: Traffic, right: Traffic) -> Traffic {
    var sum = Traffic(
      bytes: left.bytes + right.bytes, requests: left.requests + right.requests,
      retries: left.retries + right.retries, redirects: left.redirects + right.redirects,
      badItems: left.badItems + right.badItems)
    sum.items = left.items + right.items
    sum.duplicates = left.duplicates + right.duplicates
    return sum
  }
}
