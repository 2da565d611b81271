public import QuireCore

/// The number of rows in each section of a list, and whether a placeholder row shows that more
/// follow.
public struct SectionCounts: Hashable, Sendable {
  /// The place of an item.
  public struct Path: Hashable, Sendable {
    /// The section, from 0.
    public var section: Int
    /// The row in the section, from 0.
    public var row: Int

    /// Creates the path of a row in a section.
    public init(section: Int, row: Int) {
      self.section = section
      self.row = row
    }
  }

  /// The content of a row.
  public enum Element: Hashable, Sendable {
    /// An item of the listing.
    case item(Path)
    /// The placeholder, which shows that more rows follow.
    case placeholder
  }

  /// The place of the placeholder while more may follow.
  public enum PlaceholderPolicy: Hashable, Sendable {
    /// No placeholder.
    case none
    /// A row after the last item of the last section.
    case rowInLastSection
    /// A separate section at the end.
    case trailingSection
  }

  /// The number of items in each section.
  public var items: [Int]
  /// Whether more may follow.
  public var hasMore: Bool
  /// The place of the placeholder.
  public var policy: PlaceholderPolicy

  /// Creates counts; by default there are no items yet, and more follow.
  public init(
    items: [Int] = [0], hasMore: Bool = true, policy: PlaceholderPolicy = .rowInLastSection
  ) {
    self.items = items
    self.hasMore = hasMore
    self.policy = policy
  }

  /// The number of sections, without the placeholder's.
  public var sectionCount: Int { items.count }
  /// The number of items in all sections.
  public var itemCount: Int { items.reduce(0) { $0.plus($1) } }

  /// The number of rows in each section, including the placeholder.
  public var rows: [Int] {
    guard hasMore, policy != .none else { return items }
    guard policy == .rowInLastSection, let last = items.last else { return items + [1] }
    return items.dropLast() + [last.plus(1)]
  }

  /// Returns the path of the item at an index counted over all sections; nil if there is none.
  public func path(ofItem index: Int) -> Path? {
    guard index >= 0 else { return nil }
    var rest = index
    for (section, count) in items.enumerated() {
      if rest < count { return Path(section: section, row: rest) }
      rest -= count
    }
    return nil
  }

  /// Returns the content of the row at an index counted over all sections; nil if there is none.
  public func element(at index: Int) -> Element? {
    if let path = path(ofItem: index) { return .item(path) }
    return index == itemCount && hasMore && policy != .none ? .placeholder : nil
  }
}

/// The result of a `SectionedList` handler.
public struct SectionAnswer: Hashable, Sendable {
  /// Whether there is another page.
  public var hasMore: Bool
  /// The total number of items in each section, not only in this page; nil is the error `noCounts`.
  public var counts: [Int]?

  /// Creates an answer.
  public init(hasMore: Bool, counts: [Int]?) {
    self.hasMore = hasMore
    self.counts = counts
  }
}

extension PageError.Code {
  /// A `SectionedList` handler answered without counts, or with a negative one.
  public static let noCounts = Self("noCounts")
}
