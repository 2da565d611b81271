extension Paginator {
  /// A loop over the walk of a paginator. Dropping it cancels what is in flight, unless another one
  /// is there.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: PaginatorInterest<Item>

    init(_ runner: PaginatorRunner<Item>, mark: ItemMark? = nil) {
      interest = PaginatorInterest(runner, mark: mark)
    }

    /// The next page; nil at the end. After an error, the page that failed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      try await interest.runner.next(
        interest.mark.map { .items($0) } ?? .page, reader: interest.reader)
    }

    /// The next page; nil at the end. After an error, the page that failed.
    public mutating func next() async throws -> Page<Item>? {
      try await next(isolation: #isolation)
    }
  }

  /// The pages of a paginator, cut where its next page becomes due; what `items` is made of.
  public struct ItemPages: PageSequence, Sendable {
    /// A page, or a part of one.
    public typealias Element = Page<Item>
    /// `PageError` or `CancellationError`.
    public typealias Failure = any Error

    private let runner: PaginatorRunner<Item>

    init(_ runner: PaginatorRunner<Item>) { self.runner = runner }

    /// Goes on with the walk.
    public func makeAsyncIterator() -> Iterator { Iterator(runner, mark: ItemMark()) }
  }
}

@available(*, unavailable)
extension Paginator.Iterator: Sendable {}

/// Tells the paginator when the last copy of an iterator is gone.
final class PaginatorInterest<Item: Sendable>: Sendable {
  let runner: PaginatorRunner<Item>
  /// The number by which the paginator knows this reader.
  let reader: Int
  /// Where the items taken are noted, if they are taken one by one.
  let mark: ItemMark?

  init(_ runner: PaginatorRunner<Item>, mark: ItemMark?) {
    self.runner = runner
    self.mark = mark
    reader = runner.iteratorBegan()
  }

  deinit { runner.iteratorLeft(reader, mark: mark) }
}
