extension Walk {
  /// The next page; nil at the end, for ever. After an error, the page that failed.
  public func next() async throws -> Page<Item>? { try await next(isolation: #isolation) }

  /// A loop over a walk. Dropping the last one ends the consumer's interest in the walk.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: WalkInterest<Item>

    init(_ walk: Walk, mark: ItemMark? = nil) { interest = WalkInterest(walk, mark: mark) }

    /// The next page; nil at the end, for ever.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      try await interest.walk.next(mark: interest.mark, isolation: actor)
    }

    /// The next page; nil at the end, for ever.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension Walk.Iterator: Sendable {}

extension Walk {
  /// The walk, item by item. Another loop goes on with the next item, also after one that was left in
  /// the middle of a page, and the report counts the items taken.
  public var items: ItemSequence<ItemPages> { ItemSequence(ItemPages(walk: self)) }

  /// The pages of a walk for a loop that takes their items one by one; what `items` is made of.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or what a loop has left of one.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    let walk: Walk

    /// Goes on with the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(walk, mark: ItemMark()) }
  }
}

/// Tells the walk when the last copy of an iterator is gone.
final class WalkInterest<Item: Sendable>: Sendable {
  let walk: Walk<Item>
  /// Where the items taken are noted, if they are taken one by one.
  let mark: ItemMark?

  init(_ walk: Walk<Item>, mark: ItemMark? = nil) {
    self.walk = walk
    self.mark = mark
    walk.enter()
  }

  deinit { walk.leave(mark) }
}
