// Lazy, page by page: every page stays a page, however many items are left of it. A closure that
// throws fails its page with `transformFailed`; asking again reads the page again. Closures run
// outside of the consumer's actor, so that a busy one does not hold up a main thread.
//
// Each transform is declared twice, because AsyncSequence's own, which transform the pages, would
// win otherwise for closures that throw nothing.

extension Cursor {
  /// Every item replaced by what `transform` makes of it.
  public func map<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async throws -> Other
  ) -> Cursor<Other> {
    transforming { page in
      var items: [Other] = []
      items.reserveCapacity(page.items.count)
      for item in page.items { items.append(try await transform(item)) }
      return page.withItems(items)
    }
  }

  /// Every item replaced by what `transform` makes of it.
  public func map<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async -> Other
  ) -> Cursor<Other> {
    let throwing: @Sendable @concurrent (Item) async throws -> Other = transform
    return map(throwing)
  }

  /// Only the items that `isIncluded` accepts.
  public func filter(
    _ isIncluded: @escaping @Sendable @concurrent (Item) async throws -> Bool
  ) -> Cursor<Item> {
    compactMap { item async throws in try await isIncluded(item) ? item : nil }
  }

  /// Only the items that `isIncluded` accepts.
  public func filter(_ isIncluded: @escaping @Sendable @concurrent (Item) async -> Bool) -> Cursor<
    Item
  > {
    compactMap { item async in await isIncluded(item) ? item : nil }
  }

  /// Every item replaced by what `transform` makes of it, or dropped where that is nil.
  public func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async throws -> Other?
  ) -> Cursor<Other> {
    transforming { page in
      var items: [Other] = []
      var kept: [Int] = []
      for (index, item) in page.items.enumerated() {
        guard let other = try await transform(item) else { continue }
        items.append(other)
        kept.append(index)
      }
      var result = page.withItems(items)
      if kept.count < page.items.count { result.head.origins = page.origins(ofItems: kept) }
      return result
    }
  }

  /// Every item replaced by what `transform` makes of it, or dropped where that is nil.
  public func compactMap<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async -> Other?
  ) -> Cursor<Other> {
    let throwing: @Sendable @concurrent (Item) async throws -> Other? = transform
    return compactMap(throwing)
  }

  private func transforming<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Page<Item>) async throws -> Page<Other>
  ) -> Cursor<Other> {
    deriving { base, _ in TransformReader(base: base, transform: transform) }
  }
}

/// Reads pages and makes other pages of them.
struct TransformReader<Base: Sendable, Item: Sendable>: PagewiseReader {
  let base: any PageReader<Base>
  let transform: @Sendable @concurrent (Page<Base>) async throws -> Page<Item>

  func read(at position: Position) async throws -> Page<Item>? {
    guard let page = try await base.read(at: position) else { return nil }
    do {
      return try await transform(page)
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "A closure given to map, filter or compactMap failed: \(error)",
        underlying: error)
    }
  }

  func expect(_ known: KnownPage) { base.expect(known) }

  func copy() -> any PageReader<Item> {
    TransformReader(base: base.copy(), transform: transform)
  }
}

extension Cursor {
  /// The same items in pages of `size`, whatever the size of the server's pages; only the last one
  /// may be smaller, and one behind which a safety cap or a loop ends the walk.
  ///
  /// Pages are read one after another until `size` items are there. What is left over is kept for
  /// the next page, also when reading fails: asking again goes on from there. A page carries the
  /// metadata and the total of the last page read for it. A `size` below 1 is `invalidArgument`,
  /// thrown by the first `next()`.
  public func paged(by size: Int) -> Cursor<Item> {
    deriving { base, context in PagedReader(base, size: size, context: context) }
  }
}

extension Cursor {
  /// The same pages in the same order, up to `window` of them read at once, where the source can
  /// tell their positions in advance (`PageSource.positions(after:total:count:)`); one by one where
  /// it cannot, where items are delivered before their page is whole, and before the first page of a walk that has
  /// a limit on bytes or requests.
  ///
  /// Nothing is read before the first page is asked for, and leaving the walk cancels what is being
  /// read ahead. A page that fails fails in its turn; errors of pages behind the end are none. When
  /// the server throttles a page, the window is halved; it grows again by one for each window that
  /// goes well. Where the transport sends fewer requests to one host at the same time, they wait there,
  /// and the report warns by `WalkReport.Warning.Code.narrowedWindow`. Pages are held until their turn,
  /// at most `window` of them. A `window` below 1 or above 1024 is
  /// `invalidArgument`, thrown by the first `next()`: before a total is known, as many pages are read as
  /// it has room for, wherever the listing ends.
  public func parallel(_ window: Int) -> Cursor<Item> {
    deriving { base, context in
      context.direction == .backward
        ? base : ParallelReader(base, limit: window, context: context)
    }
  }

  /// A cursor whose walks read through another reader.
  func deriving<Other: Sendable>(
    _ wrap: @escaping @Sendable (any PageReader<Item>, ReaderContext) -> any PageReader<Other>
  ) -> Cursor<Other> {
    var cursor = Cursor<Other>(start: start, limits: limits, clock: clock) { [makeReader] context in
      wrap(makeReader(context), context)
    }
    cursor.visited = visited
    return cursor
  }
}

extension Cursor {
  /// The same pages; one that fails is asked for again, up to `attempts` times in all.
  ///
  /// For sources that do not retry by themselves; HTTP ones do. Waits `delay(n)` before the attempt
  /// after the n-th, by the cursor's clock. Each page has all its attempts. Neither an end nor a
  /// cancellation is retried, nor what can only fail again. Fewer than 1 is `invalidArgument`,
  /// thrown by the first `next()`.
  public func retrying(
    attempts: Int, delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero }
  ) -> Cursor<Item> {
    deriving { base, context in
      RetryingReader(base: base, attempts: attempts, delay: delay, clock: context.clock)
    }
  }
}

/// Reads a page again that could not be read.
struct RetryingReader<Item: Sendable>: PagewiseReader {
  let base: any PageReader<Item>
  let attempts: Int
  let delay: @Sendable (Int) -> Duration
  let clock: any Clock<Duration>

  func read(at position: Position) async throws -> Page<Item>? {
    guard attempts >= 1 else {
      throw PageError(
        .invalidArgument, "retrying(attempts: \(attempts)) cannot work; give 1 or more.",
        attempts: 0)
    }
    var attempt = 1
    var spent = WalkReport.Traffic(requests: 0)
    while true {
      do {
        let page = try await base.read(at: position)
        guard attempt > 1 else { return page }
        var result = page ?? Page.absent(after: WalkReport.Traffic(requests: 0))
        result.traffic = result.traffic + spent
        result.traffic.retries += attempt - 1
        return result
      } catch let error where attempt < attempts && Self.isWorthRetrying(error) {
        let traffic = PageError(ofSource: error).traffic
        // A source that does not say what a failure has cost has made a request.
        spent = spent + traffic + WalkReport.Traffic(requests: traffic.requests > 0 ? 0 : 1)
        let pause = delay(attempt)
        attempt += 1
        if pause > .zero { try await clock.sleep(for: pause) }
      } catch let error where attempt > 1 && !(error is CancellationError) {
        var failure = PageError(ofSource: error)
        failure.traffic = failure.traffic + spent
        failure.traffic.retries += attempt - 1
        throw failure
      }
    }
  }

  private static func isWorthRetrying(_ error: any Error) -> Bool {
    if error is CancellationError || Task.isCancelled { return false }
    return (error as? PageError)?.isFinal != true
  }

  func copy() -> any PageReader<Item> {
    RetryingReader(base: base.copy(), attempts: attempts, delay: delay, clock: clock)
  }
}

/// A step of reading one page, for observers of a cursor.
public enum PageReading<Item: Sendable>: Sendable {
  /// The page at this position is asked for, by a walk in this direction.
  case started(Position, Position.Direction)
  /// It came.
  case read(Page<Item>)
  /// The listing ended before it.
  case ended
  /// It could not be read.
  case failed(any Error)
  /// Whatever came of it, the reading is over.
  case finished(Position, Position.Direction)
}

extension Cursor {
  /// The same pages; `observe` is told when each is asked for and what came of it.
  ///
  /// It is called in the walk's own order and holds the walk up while it runs.
  public func observed(
    by observe: @escaping @Sendable (PageReading<Item>) -> Void
  ) -> Cursor<Item> {
    deriving { base, context in
      ObservedReader(base: base, direction: context.direction, observe: observe)
    }
  }
}

/// Tells about every page it reads.
struct ObservedReader<Item: Sendable>: PagewiseReader {
  let base: any PageReader<Item>
  let direction: Position.Direction
  let observe: @Sendable (PageReading<Item>) -> Void

  func read(at position: Position) async throws -> Page<Item>? {
    observe(.started(position, direction))
    defer { observe(.finished(position, direction)) }
    do {
      let page = try await base.read(at: position)
      if let page, !page.head.isAbsent { observe(.read(page)) } else { observe(.ended) }
      return page
    } catch {
      observe(.failed(error))
      throw error
    }
  }

  func copy() -> any PageReader<Item> {
    ObservedReader(base: base.copy(), direction: direction, observe: observe)
  }
}
