public import QuireCore

/// How many rows a list has in each of its sections, with a row that says that more follow.
public struct SectionCounts: Hashable, Sendable {
  /// Where an item is.
  public struct Path: Hashable, Sendable {
    /// The section, from 0.
    public var section: Int
    /// The row in its section, from 0.
    public var row: Int

    /// The item in that row of that section.
    public init(section: Int, row: Int) {
      self.section = section
      self.row = row
    }
  }

  /// What a row shows.
  public enum Element: Hashable, Sendable {
    /// An item of the listing.
    case item(Path)
    /// That more follow.
    case placeholder
  }

  /// Where the placeholder stands, while more may follow.
  public enum PlaceholderPolicy: Hashable, Sendable {
    /// Nowhere.
    case none
    /// Behind the last item of the last section.
    case rowInLastSection
    /// In a section of its own.
    case trailingSection
  }

  /// The items of each section.
  public var items: [Int]
  /// Whether more may follow.
  public var hasMore: Bool
  /// Where the placeholder stands.
  public var policy: PlaceholderPolicy

  /// Nothing yet, and more to follow, unless said otherwise.
  public init(
    items: [Int] = [0], hasMore: Bool = true, policy: PlaceholderPolicy = .rowInLastSection
  ) {
    self.items = items
    self.hasMore = hasMore
    self.policy = policy
  }

  /// How many sections have items, or could.
  public var sectionCount: Int { items.count }
  /// How many items all sections have.
  public var itemCount: Int { items.reduce(0) { $0.plus($1) } }

  /// The rows of each section, the placeholder included.
  public var rows: [Int] {
    guard hasMore, policy != .none else { return items }
    guard policy == .rowInLastSection, let last = items.last else { return items + [1] }
    return items.dropLast() + [last.plus(1)]
  }

  /// Where the item with this number is; nil when there is none.
  public func path(ofItem index: Int) -> Path? {
    guard index >= 0 else { return nil }
    var rest = index
    for (section, count) in items.enumerated() {
      if rest < count { return Path(section: section, row: rest) }
      rest -= count
    }
    return nil
  }

  /// What the row with this number shows, counted over all sections; nil when there is none.
  public func element(at index: Int) -> Element? {
    if let path = path(ofItem: index) { return .item(path) }
    return index == itemCount && hasMore && policy != .none ? .placeholder : nil
  }
}

/// What the handler of a `SectionedList` answers.
public struct SectionAnswer: Hashable, Sendable {
  /// Whether there is another page.
  public var hasMore: Bool
  /// The items of each section in all, not only those of this page; nil is the error `noCounts`.
  public var counts: [Int]?

  /// An answer.
  public init(hasMore: Bool, counts: [Int]?) {
    self.hasMore = hasMore
    self.counts = counts
  }
}

extension PageError.Code {
  /// The handler of a `SectionedList` answered without counts, or with one below zero.
  public static let noCounts = Self("noCounts")
}
