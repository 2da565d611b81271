extension Walk {
  /// The next page; nil at the end, for ever. After an error, the page that failed.
  public func next() async throws -> Page<Item>? { try await next(isolation: #isolation) }

  /// A loop over a walk. Dropping the last one ends the consumer's interest in the walk.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: WalkInterest<Item>

    init(_ walk: Walk) { interest = WalkInterest(walk) }

    /// The next page; nil at the end, for ever.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      try await interest.walk.next(isolation: actor)
    }

    /// The next page; nil at the end, for ever.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }
}

@available(*, unavailable)
extension Walk.Iterator: Sendable {}

/// Tells the walk when the last copy of an iterator is gone.
final class WalkInterest<Item: Sendable>: Sendable {
  let walk: Walk<Item>

  init(_ walk: Walk<Item>) {
    self.walk = walk
    walk.enter()
  }

  deinit { walk.leave() }
}
