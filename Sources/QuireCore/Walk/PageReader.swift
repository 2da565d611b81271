/// Reads the pages of a listing for one walk: by position, offsets inside pages included.
///
/// A part of a page that is still arriving is a `Page` of its own, with `hasMoreParts`: it starts
/// inside the page, where the part before it ended, and its `next` counts the items so far. After
/// an error, reading at the same position continues behind the items that were delivered.
///
/// A cursor makes a reader for every walk, so a reader may keep state. It is used by one task at a
/// time.
package protocol PageReader<Item>: Sendable {
  associatedtype Item: Sendable

  /// Returns the page at `position` without the items in front of its `itemOffset`. Returns nil if
  /// the listing ended before it, or `Page.absent` if the traffic of that answer is known.
  func read(at position: Position) async throws -> Page<Item>?

  /// Tells the reader what a consumer that keeps pages has of the page that is read next.
  func expect(_ known: KnownPage)

  /// Frees what the server holds; see `PageSource.close(at:)`.
  func close(at position: Position?) async

  /// Returns the positions of pages behind the one at `position`, by their distance from it in
  /// pages, which is 1 for the next one; see `PageSource.positions(after:total:count:)`.
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position]

  /// Returns a reader that continues from here independently; a reader without state returns
  /// itself.
  func copy() -> any PageReader<Item>

  /// Drops what is open between two reads. Another read may follow all the same.
  func leave()

  /// Drops requests that were sent beyond the last page read, because the next page is not read
  /// soon.
  func leaveNext()

  /// Returns a hash of the request at a position: positions that lead to the same request have the
  /// same hash.
  func identity(of position: Position) -> Int

  /// Returns a digest of the page at a position that is the same in every process: of all that
  /// decides which page it is.
  func digest(of position: Position) -> UInt64

  /// Returns the warnings of the pages read so far, for a walk that ended with `end`.
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning]

  var needsClosing: Bool { get }
  var repeatedPositions: Position.Repetition { get }
  var allowsLookAhead: Bool { get }

  /// Whether pages may come in parts; one page at a time can be open then.
  var deliversParts: Bool { get }

  /// The identity of the listing; nil if the source cannot tell listings apart.
  var identity: ListingIdentity? { get }
}

extension PageReader {
  /// Positions lead to the same request if they are equal.
  func identity(of position: Position) -> Int { position.hashValue }
  /// All of the position's value counts.
  package func digest(of position: Position) -> UInt64 { position.digest }
  /// Nothing is open between two reads.
  func leave() {}
  /// Nothing is requested ahead of a read.
  package func leaveNext() {}
  /// Does nothing: a page made of other pages is read whole.
  package func expect(_ known: KnownPage) {}
  /// No positions are known.
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    []
  }
  /// Pages come whole.
  package var deliversParts: Bool { false }
  /// Listings cannot be told apart.
  var identity: ListingIdentity? { nil }
  /// There are no warnings.
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { [] }
  /// There is no state.
  func copy() -> any PageReader<Item> { self }
}

/// A reader that reads through another one, which by default answers everything but `read(at:)`.
protocol DerivedReader<Item>: PageReader {
  associatedtype BaseItem: Sendable
  var base: any PageReader<BaseItem> { get }
}

extension DerivedReader {
  func identity(of position: Position) -> Int { base.identity(of: position) }
  func digest(of position: Position) -> UInt64 { base.digest(of: position) }
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { base.warnings(for: end) }
  func close(at position: Position?) async { await base.close(at: position) }
  func leave() { base.leave() }
  func leaveNext() { base.leaveNext() }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: Position.Repetition { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var deliversParts: Bool { base.deliversParts }
  var identity: ListingIdentity? { base.identity }
}

/// A reader whose pages each correspond to the page of its base at the same position, so that pages
/// may be read in any order.
protocol PagewiseReader<Item>: DerivedReader {}

extension PagewiseReader {
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    base.positions(after: position, total: total, pages: pages)
  }
  func expect(_ known: KnownPage) { base.expect(known) }
}

/// The settings of a walk that its readers know.
package struct ReaderContext: Sendable {
  var limits: Limits
  var clock: any Clock<Duration>
  package var direction = Position.Direction.forward
}

extension Position {
  /// The direction in which pages are read.
  public enum Direction: String, Hashable, Sendable {
    /// From a page to the one after it.
    case forward
    /// From a page to the one before it.
    case backward
  }
}

/// Reads a listing backward: the page before each page comes next. If the forward walk begins
/// inside a page, only the items in front of its start are read of that page.
struct BackwardReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  let start: Position

  func read(at position: Position) async throws -> Page<Item>? {
    guard var page = try await base.read(at: position) else { return nil }
    if start.itemOffset > 0, position == start.page {
      page = page.endingAt(start)
      page.next = start
      // There is no front if a transform dropped all of it, or if the page is made of other pages.
      let isFront = !page.items.isEmpty && page.position(ofItem: 0).page == position
      if !isFront, page.previous == nil { return Page.absent(after: page.traffic) }
    }
    page.swapDirections()
    page.nextFailure = nil
    page.head.endDoubt = nil
    return page
  }

  // The forward walk closes the source.
  func close(at position: Position?) async {}
  var needsClosing: Bool { false }
  // Backward positions are no start for a forward walk.
  var identity: ListingIdentity? { nil }
}

extension Page {
  /// Exchanges next and previous.
  mutating func swapDirections() { (next, previous) = (previous, next) }
}

extension PageHead {
  /// Marks the page's positions as positions of a listing.
  package mutating func belong(to identity: ListingIdentity) {
    position.listing = identity
    next?.listing = identity
    previous?.listing = identity
  }
}

extension Position {
  /// The longest jump, in pages, to a position that is computed through all positions before it.
  package static var farthestPage: Int { 4_000_000 }
}

/// Reads from a source. Offsets are applied here, before all transforms, so that they always count
/// the source's own items.
///
/// Leaves the consumer's actor: a page must not be decoded on a main thread.
struct SourceReader<Source: PageSource>: PageReader {
  let source: Source

  @concurrent func read(at position: Position) async throws -> Page<Source.Item>? {
    guard var page = try await fetch(position.value == nil ? nil : position.page) else {
      guard position.itemOffset == 0 else { throw PageError.pageChanged(0, position.itemOffset) }
      return nil
    }
    guard position.itemOffset <= page.items.count else {
      var error = PageError.pageChanged(page.items.count, position.itemOffset)
      error.traffic = page.traffic
      throw error
    }
    page.position = position.page
    page = page.dropping(items: position.itemOffset)
    page.position = position
    page.traffic.items = page.items.count
    return page
  }

  private func fetch(_ position: Position?) async throws -> Page<Source.Item>? {
    do {
      return try await source.page(at: position)
    } catch let error as PageError where error.code == .exhausted {
      return Page.absent(after: error.traffic)
    }
  }

  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    // A source lists all positions from the first one on: for a huge number this would take for
    // ever.
    guard pages.lowerBound <= Position.farthestPage else { return [] }
    var (start, passed) = (position, 0)
    // In portions, because all positions at once would take hundreds of megabytes.
    while pages.lowerBound - passed > 100_000 {
      let known = self.known(after: start, total: total, count: 100_000)
      guard known.count == 100_000, let last = known.last else { return [] }
      (start, passed) = (last, passed + 100_000)
    }
    let known = self.known(after: start, total: total, count: pages.upperBound - passed)
    return Array(known.dropFirst(pages.lowerBound - passed - 1))
  }

  private func known(after position: Position, total: Total?, count: Int) -> [Position] {
    source.positions(
      after: position.value == nil ? nil : position.page, total: total, count: count)
  }

  func close(at position: Position?) async { await source.close(at: position?.page) }
  var needsClosing: Bool { source.needsClosing }
  var repeatedPositions: Position.Repetition { source.repeatedPositions }
  var allowsLookAhead: Bool { source.allowsLookAhead }
}

/// Reads through a base that belongs to one walk alone: the copy of a walk gets a new one.
struct OwnedReader<Item: Sendable>: PagewiseReader {
  let base: any PageReader<Item>
  private let makeBase: @Sendable () -> any PageReader<Item>

  init(_ makeBase: @escaping @Sendable () -> any PageReader<Item>) {
    base = makeBase()
    self.makeBase = makeBase
  }

  func read(at position: Position) async throws -> Page<Item>? {
    try await base.read(at: position)
  }

  func copy() -> any PageReader<Item> { OwnedReader(makeBase) }
}

/// A source that fetches its pages by a closure.
struct ClosureSource<Item: Sendable>: PageSource {
  let fetch: @Sendable (Position?) async throws -> Page<Item>?

  func page(at position: Position?) async throws -> Page<Item>? { try await fetch(position) }
}
