/// The items of a sequence of pages, one by one.
///
/// Leaving the loop leaves its page too: another loop over the same walk starts at the next page.
public struct ItemSequence<Pages: PageSequence>: AsyncSequence {
  /// An item of a page.
  public typealias Element = Pages.Item
  /// What the sequence of pages throws.
  public typealias Failure = any Error

  @usableFromInline let pages: Pages

  @inlinable init(_ pages: Pages) { self.pages = pages }

  /// Starts a walk over the items.
  @inlinable public func makeAsyncIterator() -> Iterator {
    Iterator(pages.makeAsyncIterator())
  }

  /// One walk over the items.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var pages: Pages.AsyncIterator
    @usableFromInline var items: [Pages.Item] = []
    @usableFromInline var index = 0

    @inlinable init(_ pages: Pages.AsyncIterator) { self.pages = pages }

    // Inlinable, unlike every other iterator: a call across modules would cost more than the rest
    // of the work.
    /// The next item; nil at the end, for ever. After an error, the first item of the page that
    /// failed.
    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Pages.Item? {
      while index >= items.count {
        guard let page = try await pages.next(isolation: actor) else { return nil }
        items = page.items
        index = 0
      }
      defer { index += 1 }
      return items[index]
    }

    /// The next item; nil at the end, for ever.
    @inlinable public mutating func next() async throws -> Pages.Item? {
      try await next(isolation: #isolation)
    }
  }
}

extension ItemSequence: Sendable where Pages: Sendable {}

@available(*, unavailable)
extension ItemSequence.Iterator: Sendable {}
