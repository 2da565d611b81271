extension Cursor {
  /// The same pages in the same order, up to `window` of them read at once, where the source can
  /// tell their positions in advance (`PageSource.positions(after:total:count:)`); one by one where
  /// it cannot.
  ///
  /// Nothing is read before the first page is asked for, and leaving the walk cancels what is being
  /// read ahead. A page that fails fails in its turn; errors of pages behind the end are none. When
  /// the server throttles a page, the window is halved; it grows again by one for each window that
  /// goes well. Where the transport sends fewer requests to one host at the same time, they wait there,
  /// and the report warns by `WalkReport.Warning.Code.narrowedWindow`. Pages are held until their turn,
  /// at most `window` of them. A `window` below 1 is
  /// `invalidArgument`, thrown by the first `next()`.
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
