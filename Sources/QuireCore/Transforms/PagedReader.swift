import Synchronization

/// Joins and splits the pages of another reader into pages of one size.
///
/// The pages are read through a walk of their own, so that loops and endless empty pages are noticed
/// while one page is being filled.
final class PagedReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  private let size: Int
  private let context: ReaderContext
  private let pending = Mutex(Pending())

  init(_ base: any PageReader<Item>, size: Int, context: ReaderContext) {
    self.base = base
    self.size = size
    self.context = context
  }

  func read(at position: Position) async throws -> Page<Item>? {
    guard size >= 1 else {
      throw PageError(
        .invalidArgument, "paged(by: \(size)) cannot work; give a page size of 1 or more.",
        attempts: 0)
    }
    let walk = begin(at: position)
    while pending.withLock({ $0.needsMore(for: size) }) {
      do {
        let page = try await walk.next(isolation: #isolation)
        pending.withLock { $0.append(page) }
      } catch let error as PageError where error.isFinal {
        guard pending.withLock({ $0.breakOff(error) }) else { throw error }
      }
    }
    return pending.withLock { $0.take(size) }
  }

  /// The walk that goes on at `position`: the one so far, unless somebody jumped.
  private func begin(at position: Position) -> Walk<Item> {
    pending.withLock { pending in
      if let walk = pending.walk, pending.position == position { return walk }
      var limits = context.limits
      limits.pages = nil
      limits.items = nil
      // The walk around this one ends its reading when the time is up.
      limits.duration = nil
      let walk = Walk(
        base, clock: context.clock,
        machine: WalkMachine(
          start: position, limits: limits, repeatedPositions: base.repeatedPositions,
          loops: LoopGuard { [base] in base.identity(of: $0) }, direction: context.direction))
      pending = Pending(position: position, walk: walk)
      return walk
    }
  }

  func copy() -> any PageReader<Item> {
    let pending = pending.withLock { $0 }
    let walk = pending.walk?.copy()
    let copy = PagedReader(walk?.reader ?? base.copy(), size: size, context: context)
    copy.pending.withLock {
      $0 = pending
      $0.walk = walk
    }
    return copy
  }

  func leave() { base.leave() }

  func close(at position: Position?) async {
    await pending.withLock { $0.walk }?.close()
  }

  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
