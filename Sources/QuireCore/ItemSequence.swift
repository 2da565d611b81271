public import Synchronization

/// The items of a sequence of pages, one by one.
///
/// Another loop over the same walk or paginator goes on with the next item.
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
    @usableFromInline var mark: ItemMark?

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
        mark = page.mark
      }
      defer {
        index += 1
        mark?.items.store(index, ordering: .relaxed)
      }
      return items[index]
    }

    /// The next item; nil at the end, for ever.
    @inlinable public mutating func next() async throws -> Pages.Item? {
      try await next(isolation: #isolation)
    }
  }
}

extension ItemSequence {
  /// All items, in order, once the last one has come: for listings that fit into memory.
  ///
  /// Throws what the loop would throw; the items before that are lost with it.
  public func collect() async throws -> [Element] {
    var all: [Element] = []
    for try await item in self { all.append(item) }
    return all
  }
}

extension ItemSequence: Sendable where Pages: Sendable {}

@available(*, unavailable)
extension ItemSequence.Iterator: Sendable {}
