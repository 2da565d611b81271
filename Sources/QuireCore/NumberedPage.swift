/// The answer of a listing by page number: items, and whether more follow.
public struct NumberedPage<Item: Sendable>: Sendable {
  enum End: Sendable {
    case isLast(Bool)
    case pagesRemaining(Int)
    case totalPages(Int)
  }

  /// The items of the page.
  public var items: [Item]
  let end: End

  /// Creates a page that says itself whether it is the last one.
  public init(_ items: [Item], isLast: Bool) {
    self.items = items
    end = .isLast(isLast)
  }

  /// Creates a page that says how many pages follow; fewer than 1 means that it is the last.
  public init(_ items: [Item], pagesRemaining: Int) {
    self.items = items
    end = .pagesRemaining(pagesRemaining)
  }

  /// Creates a page that says how many pages there are in all; 0 means a listing without items.
  public init(_ items: [Item], totalPages: Int) {
    self.items = items
    end = .totalPages(totalPages)
  }
}

extension Cursor {
  /// Returns a listing by page number. Quire counts: the number begins with `first` and grows by
  /// one with every page.
  ///
  /// Default for `first`: 1, as most servers count. The closure returns nil if no page has the
  /// number.
  public static func numbered(
    from first: Int = 1, limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
    page: @escaping @Sendable (_ number: Int) async throws -> NumberedPage<Item>?
  ) -> Cursor {
    let source = NumberedSource(first: first, fetch: page)
    return Cursor(
      limits: limits, clock: clock,
      makeReader: { _ in NumberedReader(base: SourceReader(source: source), first: first) })
  }
}

extension Optional where Wrapped == Position {
  /// Returns the number at a position of a listing that counts; `first` at its start.
  ///
  /// Throws `positionMismatch` for a value that is not a number: taken for the start, it would
  /// repeat the whole listing.
  fileprivate func number(first: Int) throws(PageError) -> Int {
    guard let value = self?.value else { return first }
    guard let number = value.integer else {
      throw PageError(
        .positionMismatch,
        "The position is no number, and this listing counts: it was made by another one.",
        remedies: [Remedy(.position, ["start"])], attempts: 0)
    }
    return number
  }
}

/// A source of pages by number.
struct NumberedSource<Item: Sendable>: PageSource {
  let first: Int
  let fetch: @Sendable (Int) async throws -> NumberedPage<Item>?

  func page(at position: Position?) async throws -> Page<Item>? {
    let number = try position.number(first: first)
    guard let answer = try await fetch(number) else { return nil }
    var page = Page(
      answer.items, previous: number > first ? Position(integerLiteral: number.minus(1)) : nil)
    let isLast: Bool
    switch answer.end {
    case .isLast(let last): isLast = last
    case .pagesRemaining(let count): isLast = count < 1
    case .totalPages(let count):
      isLast = number.minus(first).plus(1) >= count
      page.total = Total(count, .pages)
    }
    if !isLast { page.next = Position(integerLiteral: number.plus(1)) }
    return page
  }
}

/// Reads pages by number. All positions are known in advance, but not how many pages exist.
struct NumberedReader<Item: Sendable>: DerivedReader {
  let base: any PageReader<Item>
  let first: Int

  func read(at position: Position) async throws -> Page<Item>? {
    try await base.read(at: position)
  }

  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    guard let number = try? Optional(position).number(first: first) else { return [] }
    let declared = total.flatMap { $0.kind == .pages ? first.plus($0.value) : nil } ?? .max
    return pages.map { number.plus($0) }.filter { $0 < declared }
      .map(Position.init(integerLiteral:))
  }
}

extension Cursor {
  /// Creates a listing of pages in memory; without pages, the listing ends at once.
  public init(pages: [[Item]], limits: Limits = Limits()) {
    self.init(ArraySource(pages: pages), limits: limits)
  }

  /// Returns a listing of one page, whose items `load` fetches all at once.
  public static func single(
    limits: Limits = Limits(), load: @escaping @Sendable () async throws -> [Item]
  ) -> Cursor {
    Cursor(limits: limits) { _ in Page(try await load()) }
  }
}

/// A source of pages in memory, by their indices.
struct ArraySource<Item: Sendable>: PageSource {
  let pages: [[Item]]

  func page(at position: Position?) async throws -> Page<Item>? {
    let index = try position.number(first: 0)
    guard pages.indices.contains(index) else { return nil }
    return Page(
      pages[index], next: index + 1 < pages.count ? Position(integerLiteral: index + 1) : nil,
      previous: index > 0 ? Position(integerLiteral: index - 1) : nil)
  }

  func positions(after position: Position?, total: Total?, count: Int) -> [Position] {
    guard let index = try? position.number(first: 0) else { return [] }
    return pages.indices.dropFirst(max(0, index.plus(1))).prefix(count)
      .map(Position.init(integerLiteral:))
  }
}

extension Cursor {
  /// Returns a listing by offset that ends when as many items came as the server declares.
  ///
  /// The closure receives the number of items so far, and returns the items from there on and the
  /// total, which may change from page to page. If a page without items comes before the total is
  /// reached, the walk delivers it and then throws `PageError.Code.noProgress`: the same offset
  /// would bring the same answer again.
  public static func counted(
    limits: Limits = Limits(), clock: any Clock<Duration> = ContinuousClock(),
    page: @escaping @Sendable (_ offset: Int) async throws -> (items: [Item], total: Int)
  ) -> Cursor {
    Cursor(limits: limits, clock: clock) { position in
      let offset = try position.number(first: 0)
      let (items, total) = try await page(offset)
      let end = offset.plus(items.count)
      var page = Page(items, total: Total(total))
      if end >= total { return page }
      if items.isEmpty {
        page.nextFailure = PageError(
          .noProgress,
          """
          The server declares \(total) items and sends none from \(offset) on; ask again later, or \
          resume from the checkpoint.
          """)
      } else {
        page.next = Position(integerLiteral: end)
      }
      return page
    }
  }
}
