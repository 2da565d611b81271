/// A step of reading one page, for whoever watches a cursor.
public enum PageReading<Item: Sendable>: Sendable {
  /// The page at this position is asked for, by a walk in this direction.
  case started(Position, WalkDirection)
  /// It came.
  case read(Page<Item>)
  /// The listing ended before it.
  case ended
  /// It could not be read.
  case failed(any Error)
  /// Whatever came of it, the reading is over.
  case finished(Position, WalkDirection)
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
struct ObservedReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  let direction: WalkDirection
  let observe: @Sendable (PageReading<Item>) -> Void

  func read(at position: Position) async throws -> Page<Item>? {
    observe(.started(position, direction))
    defer { observe(.finished(position, direction)) }
    do {
      let page = try await base.read(at: position)
      observe(page.map { .read($0) } ?? .ended)
      return page
    } catch {
      observe(.failed(error))
      throw error
    }
  }

  func positions(after position: Position, total: Total?, count: Int) -> [Position] {
    base.positions(after: position, total: total, count: count)
  }

  func copy() -> any PageReader<Item> {
    ObservedReader(base: base.copy(), direction: direction, observe: observe)
  }

  func leave() { base.leave() }
  func close(at position: Position?) async { await base.close(at: position) }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
