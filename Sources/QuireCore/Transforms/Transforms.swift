// Transforms are lazy and work page by page: every page stays a page, however many of its items are
// left. A closure that throws fails its page with `transformFailed`; asking again reads the page
// again. Closures run outside of the consumer's actor, so that a slow one does not hold up a main
// thread.
//
// Each transform is declared twice, because the compiler would otherwise choose AsyncSequence's own
// transforms, which are for pages, for closures that do not throw.

extension Cursor {
  /// Returns the listing with every item replaced by the result of `transform`.
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

  /// Returns the listing with every item replaced by the result of `transform`.
  public func map<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async -> Other
  ) -> Cursor<Other> {
    let throwing: @Sendable @concurrent (Item) async throws -> Other = transform
    return map(throwing)
  }

  /// Returns the listing with only the items that `isIncluded` accepts.
  public func filter(
    _ isIncluded: @escaping @Sendable @concurrent (Item) async throws -> Bool
  ) -> Cursor<Item> {
    compactMap { item async throws in try await isIncluded(item) ? item : nil }
  }

  /// Returns the listing with only the items that `isIncluded` accepts.
  public func filter(_ isIncluded: @escaping @Sendable @concurrent (Item) async -> Bool) -> Cursor<
    Item
  > {
    compactMap { item async in await isIncluded(item) ? item : nil }
  }

  /// Returns the listing with every item replaced by the result of `transform`, or dropped if that
  /// is nil.
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

  /// Returns the listing with every item replaced by the result of `transform`, or dropped if that
  /// is nil.
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

/// Reads pages and transforms each of them into another page.
struct TransformReader<Base: Sendable, Item: Sendable>: PagewiseReader {
  let base: any PageReader<Base>
  let transform: @Sendable @concurrent (Page<Base>) async throws -> Page<Item>

  func read(at position: Position) async throws -> Page<Item>? {
    guard let page = try await base.read(at: position) else { return nil }
    do {
      return try await transform(page)
    } catch let error where !(error is CancellationError) {
      var failure =
        error as? PageError
        ?? PageError(
          .transformFailed, "A closure given to map, filter or compactMap failed: \(error)",
          underlying: error)
      // The page was read in vain.
      failure.traffic += page.traffic
      failure.traffic.items = 0
      throw failure
    }
  }

  func copy() -> any PageReader<Item> {
    TransformReader(base: base.copy(), transform: transform)
  }
}

extension Cursor {
  /// Returns the same items in pages of `size`, independent of the size of the server's pages. Only
  /// the last page may be smaller, and a page behind which a safety cap or a loop ends the walk.
  ///
  /// Pages are read one after another until `size` items are there. Items beyond them are kept for
  /// the next page, also when reading fails: asking again continues from there. A page carries the
  /// metadata and the total of the last page read for it. A `size` below 1 is `invalidArgument`,
  /// thrown by the first `next()`.
  public func paged(by size: Int) -> Cursor<Item> {
    deriving { base, context in PagedReader(base, size: size, context: context) }
  }
}

extension Cursor {
  /// Returns the same pages in the same order, with up to `window` of them read at once.
  ///
  /// Their positions have to be known in advance (`PageSource.positions(after:total:count:)`).
  /// Pages are read one by one if the source does not know them, if items are delivered before
  /// their page is complete, and before the first page of a walk that has a limit on bytes or
  /// requests.
  ///
  /// Nothing is read before the first page is asked for, and leaving the walk cancels the reads
  /// that run ahead. A page that fails does so in its turn; errors of pages behind the end are
  /// ignored, and items there that repeat none are dropped with the warning `itemsBehindEnd`. When
  /// the server throttles a page, the window is halved; it grows again by one for each window that
  /// goes well. If the transport sends fewer requests to one host at the same time, they wait
  /// there, and the report warns by `WalkReport.Warning.Code.narrowedWindow`. Pages
  /// are held until their turn, at most `window` of them. A `window` below 1 or above 1024 is
  /// `invalidArgument`, thrown by the first `next()`: before a total is known, the whole window is
  /// read, even if the listing ends earlier.
  public func parallel(_ window: Int) -> Cursor<Item> {
    deriving { base, context in
      context.direction == .backward
        ? base : ParallelReader(base, limit: window, context: context)
    }
  }

  /// Returns a cursor whose walks read through the reader that `wrap` puts around theirs.
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
  /// Returns the same pages; a page that fails is read again, up to `attempts` times in all.
  ///
  /// For sources that do not retry themselves; HTTP sources do. Waits `delay(n)` by the cursor's
  /// clock before the attempt after the n-th. Each page has all its attempts. The end of the
  /// listing, a cancellation, and errors that can only recur are not retried. Fewer than 1 attempt
  /// is `invalidArgument`, thrown by the first `next()`.
  public func retrying(
    attempts: Int, delay: @escaping @Sendable (_ attempt: Int) -> Duration = { _ in .zero }
  ) -> Cursor<Item> {
    deriving { base, context in
      RetryingReader(base: base, attempts: attempts, delay: delay, clock: context.clock)
    }
  }
}

/// Reads a page again if it could not be read.
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
    // The requests and the traffic of the attempts before.
    var (requests, spent) = (0, WalkReport.Traffic.zero)
    while true {
      do {
        let page = try await base.read(at: position)
        guard attempt > 1 else { return page }
        var result = page ?? Page.absent(after: .zero)
        result.traffic += spent
        result.traffic.retries += attempt - 1
        return result
      } catch let error where attempt < attempts && Self.isWorthRetrying(error) {
        let failure = PageError(ofSource: error)
        requests += failure.attempts
        // A source that does not report the traffic of a failure has made a request.
        spent += failure.traffic
        if failure.traffic.requests == 0 { spent.requests += 1 }
        let pause = delay(attempt)
        attempt += 1
        if pause > .zero { try await clock.sleep(for: pause) }
      } catch let error where attempt > 1 && !(error is CancellationError) {
        var failure = PageError(ofSource: error)
        failure.attempts += requests
        failure.traffic += spent
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
  /// A page at this position is requested, by a walk in this direction.
  case started(Position, Position.Direction)
  /// The page came.
  case read(Page<Item>)
  /// The listing ended before the page.
  case ended
  /// The page could not be read.
  case failed(any Error)
  /// The read is over, with any of the results above.
  case finished(Position, Position.Direction)
}

extension Cursor {
  /// Returns the same pages; `observe` is called when each page is requested, and with the result.
  ///
  /// The calls come in the walk's own order, and the walk waits for each of them.
  public func observed(
    by observe: @escaping @Sendable (PageReading<Item>) -> Void
  ) -> Cursor<Item> {
    deriving { base, context in
      ObservedReader(base: base, direction: context.direction, observe: observe)
    }
  }
}

/// Reports the read of every page to an observer.
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
