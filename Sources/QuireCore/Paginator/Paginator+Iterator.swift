extension Paginator {
  /// A loop over the walk of a paginator. Dropping it cancels what is in flight, unless another one
  /// is there.
  public struct Iterator: AsyncIteratorProtocol {
    private let interest: PaginatorInterest<Item>
    private let helping: PaginatorMachine<Item>.Helping

    init(_ runner: PaginatorRunner<Item>, _ helping: PaginatorMachine<Item>.Helping) {
      interest = PaginatorInterest(runner)
      self.helping = helping
    }

    /// The next page; nil at the end. After an error, the page that failed.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Page<Item>? {
      try await interest.runner.next(helping, reader: interest.reader)
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
    public func makeAsyncIterator() -> Iterator { Iterator(runner, .items) }
  }
}

@available(*, unavailable)
extension Paginator.Iterator: Sendable {}

/// Tells the paginator when the last copy of an iterator is gone.
final class PaginatorInterest<Item: Sendable>: Sendable {
  let runner: PaginatorRunner<Item>
  /// The number by which the paginator knows this reader.
  let reader: Int

  init(_ runner: PaginatorRunner<Item>) {
    self.runner = runner
    reader = runner.iteratorBegan()
  }

  deinit { runner.iteratorLeft(reader) }
}
