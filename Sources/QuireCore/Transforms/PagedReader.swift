import Synchronization

/// Joins and splits the pages of another reader into pages of one size.
///
/// The pages are read through a walk of its own, so that loops and endless empty pages are noticed
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
    // Pages of another size do not know what lies before them; see `Pending.take(_:)`.
    if context.direction == .backward { return nil }
    let walk = begin(at: position)
    if let failure = pending.withLock({ $0.failure.take() }) { throw failure }
    while pending.withLock({ $0.needsMore(for: size) }) {
      do {
        let page = try await walk.next(isolation: #isolation)
        pending.withLock { $0.append(page) }
      } catch let error as PageError where error.isFinal && pending.withLock({ $0.isBegun }) {
        // The items read so far are delivered first, and a walk that is resumed behind them gets
        // further. The next read throws the error, with its traffic.
        pending.withLock { $0.failure = error }
        break
      }
    }
    return pending.withLock { $0.take(size) }
  }

  /// Returns the walk that continues at `position`: the current one, or a new one after a jump.
  private func begin(at position: Position) -> Walk<Item> {
    pending.withLock { pending in
      if let walk = pending.walk, pending.position == position { return walk }
      var limits = context.limits
      limits.pages = nil
      limits.items = nil
      // The outer walk ends its read when the time is up.
      limits.duration = nil
      let walk = Walk(
        base, clock: context.clock,
        machine: WalkMachine(
          start: position, limits: limits, repeatedPositions: base.repeatedPositions,
          loops: LoopGuard { [base] in base.identity(of: $0) },
          digest: { [base] in base.digest(of: $0) }))
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

  func close(at position: Position?) async {
    await pending.withLock { $0.walk }?.close()
  }
}

extension PagedReader {
  /// The pages that were read and not delivered yet.
  struct Pending: Sendable {
    /// The position of the first pending item; nil before the first read.
    var position: Position?
    var walk: Walk<Item>?
    /// The error of the read behind the pending pages.
    var failure: PageError?
    /// The pages in order, of which only the last may be empty.
    private var pages: [Page<Item>] = []
    /// The traffic since the last page was delivered.
    private var traffic = WalkReport.Traffic.zero
    /// The warnings of the pages read since then.
    private var warnings: [WalkReport.Warning] = []
    private var adjustments: [WalkReport.Adjustment] = []
    private var isAtEnd = false

    init(position: Position? = nil, walk: Walk<Item>? = nil) {
      self.position = position
      self.walk = walk
    }

    /// Whether more must be read for a page of `size`.
    func needsMore(for size: Int) -> Bool {
      !isAtEnd && pages.reduce(0) { $0 + $1.items.count } < size
    }

    /// Whether a page was read that is still to be delivered, with or without items.
    var isBegun: Bool { !pages.isEmpty }

    /// Adds a page of the walk; nil is its end.
    mutating func append(_ page: Page<Item>?) {
      guard var page else {
        isAtEnd = true
        if let end = walk?.takeEnd() {
          traffic += end.traffic
          adjustments += end.adjustments
        }
        if !pages.isEmpty { pages[pages.count - 1].next = nil }
        return
      }
      if let last = pages.last, last.items.isEmpty {
        page.head.receipts += last.head.receipts
        pages.removeLast()
      }
      pages.append(page)
      traffic += page.traffic
      warnings += page.warnings
      adjustments += page.head.adjustments
      isAtEnd = page.next == nil || page.nextFailure != nil
    }

    /// Returns a page of `size`, or of the items there are; an absent page if the listing ended
    /// with none.
    mutating func take(_ size: Int) -> Page<Item> {
      guard let last = pages.last else {
        defer { (traffic, adjustments) = (.zero, []) }
        return Page.absent(after: traffic, adjustments)
      }
      let before = pages.dropLast().reduce(0) { $0 + $1.items.count }
      var rest = last.dropping(items: size - before)
      if rest.head.beginsAnew { rest.head.beginsAnew = false }
      var result = last.withItems(Array(pages.flatMap { $0.items }.prefix(size)))
      result.position = position ?? pages[0].position
      // The position at which a walk begins may name no listing.
      result.position.listing = result.position.listing ?? pages[0].position.listing
      result.head.origins = origins(upTo: size, from: result.position)
      result.traffic = traffic
      result.warnings = warnings
      result.head.adjustments = adjustments
      // A page whose items are not all delivered is not consumed with this one.
      let whole = rest.items.isEmpty ? pages[...] : pages.dropLast()
      result.head.receipts = whole.flatMap { $0.head.receipts }
      result.hasMoreParts = false
      result.head.fingerprint = nil
      result.head.sample = nil
      result.head.beginsAnew = pages.contains { $0.head.beginsAnew }
      // A page of another size does not know where the page before it begins.
      result.previous = nil
      if rest.items.isEmpty {
        pages = []
      } else {
        result.next = rest.position
        result.nextFailure = nil
        pages = [rest]
      }
      position = result.next
      traffic = .zero
      warnings = []
      adjustments = []
      return result
    }

    private func origins(upTo size: Int, from start: Position) -> [ItemOrigins]? {
      // Empty pages at the beginning are dropped: then the first item is not at the page's
      // position.
      if pages.count == 1, pages[0].head.origins == nil, pages[0].position == start { return nil }
      var room = size
      return pages.flatMap { page in
        let own = 0..<min(room, page.items.count)
        room -= own.count
        return page.origins(ofItems: Array(own))
      }
    }
  }
}
