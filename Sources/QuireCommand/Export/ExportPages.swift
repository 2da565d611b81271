import Quire

/// The pages of an export, with or without look-ahead.
struct ExportPages {
  private let walk: Walk<ExportItem>?
  private let paginator: Paginator<ExportItem>?
  private var walked: Walk<ExportItem>.Iterator?
  private var paginated: Paginator<ExportItem>.Iterator?

  /// Loads `lookAhead` pages while earlier ones are written; 0 loads each page when it is asked for.
  init(_ cursor: Cursor<ExportItem>, lookAhead: Int) {
    if lookAhead == 0 {
      let walk = cursor.walk()
      self.walk = walk
      paginator = nil
      walked = walk.makeAsyncIterator()
    } else {
      let paginator = Paginator(cursor, maxPagesAhead: lookAhead)
      walk = nil
      self.paginator = paginator
      paginated = paginator.makeAsyncIterator()
    }
  }

  mutating func next() async throws -> Page<ExportItem>? {
    if walk != nil { return try await walked?.next() }
    return try await paginated?.next()
  }

  /// Lets go of what is in flight, and returns when the server holds nothing for the walk any more:
  /// a process that ended at once would leave that open.
  mutating func close() async {
    walked = nil
    paginated = nil
    await walk?.close()
    await paginator?.close()
  }

  /// What the walk did.
  var report: WalkReport { walk?.report ?? paginator?.report ?? WalkReport() }
}
