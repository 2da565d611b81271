/// A sequence that passes through unchanged, and reports each element to a trigger.
public struct ReportingSequence<Base: AsyncSequence>: AsyncSequence {
  /// What the sequence is made of.
  public typealias Element = Base.Element
  /// What the sequence throws.
  public typealias Failure = Base.Failure

  let base: Base
  let trigger: ThresholdTrigger
  let loaded: @Sendable () -> Int
  let tap: @Sendable (Base.Element) -> Void

  /// Starts a loop.
  public func makeAsyncIterator() -> Iterator {
    Iterator(base: base.makeAsyncIterator(), sequence: self)
  }

  /// One loop.
  public struct Iterator: AsyncIteratorProtocol {
    var base: Base.AsyncIterator
    let sequence: ReportingSequence
    var consumed = 0

    /// The next element, which the trigger has heard of.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(Failure) -> Element? {
      guard let element = try await base.next(isolation: actor) else { return nil }
      sequence.tap(element)
      consumed += 1
      sequence.trigger.report(consumed: consumed, loaded: sequence.loaded())
      return element
    }
  }
}

@available(*, unavailable)
extension ReportingSequence.Iterator: Sendable {}

extension AsyncSequence {
  /// The same elements; each is counted by `trigger` against how many are `loaded`, after `tap` has
  /// seen it.
  public func reporting(
    to trigger: ThresholdTrigger, loaded: @escaping @Sendable () -> Int,
    tap: @escaping @Sendable (Element) -> Void = { _ in }
  ) -> ReportingSequence<Self> {
    ReportingSequence(base: self, trigger: trigger, loaded: loaded, tap: tap)
  }
}
