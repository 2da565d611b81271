/// What a handler that counts answers: how many items each section has now, and whether more follow.
public struct SectionAnswer: Hashable, Sendable {
  /// Whether there is another page.
  public var hasMore: Bool
  /// The items of each section in all, not only those of this page; nil when nobody counted, which
  /// is an error.
  public var counts: [Int]?

  /// An answer.
  public init(hasMore: Bool, counts: [Int]?) {
    self.hasMore = hasMore
    self.counts = counts
  }
}

extension PageError.Code {
  /// A handler that counts has not counted, or below zero.
  public static let noCounts = Self("noCounts")
}
