import Synchronization

/// How one walk reads a listing: pages by position, offsets inside pages included.
///
/// A part of a page that is still arriving is a `Page` of its own, with `hasMoreParts`: it starts inside
/// the page, where the part before it ended, and its `next` counts the items so far. After an error,
/// reading at the same position continues behind what was delivered.
///
/// A cursor makes a reader for every walk, so a reader may keep state. It is used by one task at a
/// time.
package protocol PageReader<Item>: Sendable {
  associatedtype Item: Sendable

  /// Reads the page at `position`, without the items in front of its `itemOffset`; nil when the
  /// listing ended before it, or `Page.absent` where it is known what that answer took.
  func read(at position: Position) async throws -> Page<Item>?

  /// The consumer keeps pages, and has this of the one that is read next.
  func expect(_ known: KnownPage)

  /// Frees what the source holds; see `PageSource.close(at:)`.
  func close(at position: Position?) async

  /// Where the pages start that come so many behind the one at `position`, from 1 on; see
  /// `PageSource`.
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position]

  /// A reader that goes on from here by itself; one without state is its own copy.
  func copy() -> any PageReader<Item>

  /// Drops what is open between two reads; another read may follow all the same.
  func leave()

  /// Drops what was asked for beyond the last page read: it is not read soon, after all.
  func leaveNext()

  /// A hash of what is asked for at a position, the same for two that lead to the same request.
  func identity(of position: Position) -> Int

  /// What the pages read so far make doubtful, for a walk that ended so.
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning]

  var needsClosing: Bool { get }
  var repeatedPositions: Position.Repetition { get }
  var allowsLookAhead: Bool { get }

  /// Whether pages may come in parts, of which one page at a time can be open.
  var deliversParts: Bool { get }

  /// By what the listing is known from others; nil where nothing is known.
  var identity: ListingIdentity? { get }
}

extension PageReader {
  /// Positions lead to the same request where they are equal.
  func identity(of position: Position) -> Int { position.hashValue }
  /// Nothing is open between two reads.
  func leave() {}
  /// Nothing is asked for ahead of a read.
  package func leaveNext() {}
  /// Pages that are made of others are read whole.
  package func expect(_ known: KnownPage) {}
  /// Unknown.
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    []
  }
  /// Pages come whole.
  package var deliversParts: Bool { false }
  /// Unknown.
  var identity: ListingIdentity? { nil }
  /// Nothing.
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { [] }
  /// There is no state.
  func copy() -> any PageReader<Item> { self }
}

/// Reads pages through another reader, which answers what this one has no answer of its own for.
protocol DerivedReader<Item>: PageReader {
  associatedtype BaseItem: Sendable
  var base: any PageReader<BaseItem> { get }
}

extension DerivedReader {
  func identity(of position: Position) -> Int { base.identity(of: position) }
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

/// Reads each page through the same page of its base, so that pages may be read in any order.
protocol PagewiseReader<Item>: DerivedReader {}

extension PagewiseReader {
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    base.positions(after: position, total: total, pages: pages)
  }
}

/// What a walk lets its readers know.
package struct ReaderContext: Sendable {
  var limits: Limits
  var clock: any Clock<Duration>
  package var direction = Position.Direction.forward
}

extension Position {
  /// Which way pages are read.
  public enum Direction: String, Hashable, Sendable {
    /// From a page to the one after it.
    case forward
    /// From a page to the one before it.
    case backward
  }
}

/// Reads a listing against its order: what lies before a page is what comes next. Of the page that the walk
/// forwards begins within, only the front lies before its start.
struct BackwardReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  let start: Position

  func read(at position: Position) async throws -> Page<Item>? {
    guard var page = try await base.read(at: position) else { return nil }
    if start.itemOffset > 0, position == start.page {
      page = page.endingAt(start)
      page.next = start
      // A transform may have left nothing of the front, and a page that is made of others does not tell it.
      let isFront = !page.items.isEmpty && page.position(ofItem: 0).page == position
      if !isFront, page.previous == nil { return Page.absent(after: page.traffic) }
    }
    page.swapDirections()
    page.nextFailure = nil
    page.head.endDoubt = nil
    return page
  }

  // The walk that goes forward closes the source.
  func close(at position: Position?) async {}
  var needsClosing: Bool { false }
  // Positions of the other direction are no start for a walk forwards.
  var identity: ListingIdentity? { nil }
}

extension Page {
  /// Exchanges next and previous.
  mutating func swapDirections() { (next, previous) = (previous, next) }
}

extension PageHead {
  /// Notes in the page's positions which listing they belong to.
  package mutating func belong(to identity: ListingIdentity) {
    position.listing = identity
    next?.listing = identity
    previous?.listing = identity
  }
}

extension Position {
  /// How many pages behind another one a page may be that is gone to, unless its position can be reckoned.
  package static var farthestPage: Int { 4_000_000 }
}

/// Reads from a source. Offsets are applied here, in front of all transforms, so that they always
/// count the source's own items.
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
      throw PageError.pageChanged(page.items.count, position.itemOffset)
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
    // A source lists all of them from the first one on, so that a number which no listing has would take for ever.
    guard pages.lowerBound <= Position.farthestPage else { return [] }
    var (start, passed) = (position, 0)
    // Some at a time: all of them would take hundreds of megabytes.
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

/// Reads through a reader that one walk alone has: a copy of the walk has another one.
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

  func expect(_ known: KnownPage) { base.expect(known) }

  func copy() -> any PageReader<Item> { OwnedReader(makeBase) }
}

/// A source that is one closure.
struct ClosureSource<Item: Sendable>: PageSource {
  let fetch: @Sendable (Position?) async throws -> Page<Item>?

  func page(at position: Position?) async throws -> Page<Item>? { try await fetch(position) }
}

/// The page that the current task is reading for a walk, and around it those that it is read for:
/// one walk may read through another.
///
/// Sources find here how much they may read, and a walk that it is asked for a page from inside of
/// its own reading.
package final class WalkReading: Sendable {
  @TaskLocal static var current: WalkReading?

  private static let walks = Atomic<Int>(0)

  private let walk: ObjectIdentifier
  private let number: Int
  private let outer: WalkReading?
  private let allowance: ReadAllowance?
  private let readsOn: Bool
  private let isOver = Atomic(false)

  init(of walk: AnyObject, number: Int, allowance: ReadAllowance?, readsOn: Bool = false) {
    self.walk = ObjectIdentifier(walk)
    self.number = number
    self.allowance = allowance
    self.readsOn = readsOn
    outer = Self.current
  }

  /// Tells walks apart: 1 for the first one of the process.
  static func newNumber() -> Int { walks.add(1, ordering: .relaxed).newValue }

  /// The number of the walk for which the current task reads; the inner one, where one reads through
  /// another.
  package static var walkNumber: Int? { current?.number }

  /// The number of the walk for whose consumer the current task reads; the outer one, where one reads through
  /// another.
  package static var outerWalkNumber: Int? {
    var reading = current
    while let outer = reading?.outer { reading = outer }
    return reading?.number
  }

  /// The urgency of the page that the current task reads, where the page after it may be asked for before that is
  /// decoded: a paginator may read on at once, through no other walk, and no limit can end the walk in between.
  package static var readingOn: ReadUrgency? {
    guard let current, current.readsOn, current.outer == nil else { return nil }
    return ReadUrgency.current.flatMap { $0.mostBytesToReadOn == nil ? nil : $0 }
  }

  /// Counts bytes that came for the page that the current task reads.
  ///
  /// Throws `limitExceeded` when a walk must not read as many.
  package static func received(bytes: Int) throws(PageError) {
    var reading = current
    while let inner = reading {
      try inner.allowance?.spend(bytes)
      reading = inner.outer
    }
  }

  /// Counts a request for the page that the current task reads, before it goes out.
  ///
  /// Throws `limitExceeded` when a walk must not send as many.
  package static func requested(_ count: Int = 1) throws(PageError) {
    var reading = current
    while let inner = reading {
      try inner.allowance?.request(count)
      reading = inner.outer
    }
  }

  /// Whether a walk that the current task reads for has read or requested more than it may: then nothing else can
  /// be read for it, either.
  static var isOverLimit: Bool { allowances.contains(where: \.isExceeded) }

  /// Whether such a walk has delivered nothing yet: what is read at once could take all that it may.
  static var isLimited: Bool { allowances.contains { !$0.isBegun } }

  private static var allowances: [ReadAllowance] {
    var all: [ReadAllowance] = []
    var reading = current
    while let inner = reading {
      if let allowance = inner.allowance { all.append(allowance) }
      reading = inner.outer
    }
    return all
  }

  /// Whether the current task is inside of a read of `walk` that goes on.
  static func isInside(_ walk: AnyObject) -> Bool {
    var reading = current
    while let inner = reading {
      if inner.walk == ObjectIdentifier(walk), !inner.isOver.load(ordering: .relaxed) {
        return true
      }
      reading = inner.outer
    }
    return false
  }

  /// The page was read, or was not.
  func end() { isOver.store(true, ordering: .relaxed) }
}
