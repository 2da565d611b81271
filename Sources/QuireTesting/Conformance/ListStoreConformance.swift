import QuireCore
public import QuireListModel

/// Checks the promises that every `ListStore` makes.
///
/// ```swift
/// @Test func storeKeepsItsPromises() async throws {
///   try await ListStoreConformance.check { MyStore(path) }
/// }
/// ```
public enum ListStoreConformance {
  /// The items that are stored.
  public struct Item: Codable, Hashable, Identifiable, Sendable {
    /// The identity of the item.
    public var id: Int
    /// Any text, including long texts and control characters.
    public var text: String

    /// Creates an item.
    public init(id: Int, text: String) {
      self.id = id
      self.text = text
    }
  }

  /// Checks every promise in turn.
  ///
  /// - Parameter open: Opens the same store again at every call, as the next run of a program
  ///   would; for a store in memory, returns the same one. The store is empty before the first
  ///   call.
  /// - Throws: The first `ConformanceFailure`, or the store's own error.
  public static func check<Store: ListStore<Item>>(
    _ open: @Sendable () async throws -> Store
  ) async throws {
    var kept: [StoredPage<Item>] = []
    try await expectPages(open(), kept, "A store in which nothing was kept has no pages.")
    let store = try await open()
    // Keeps a first listing page by page, and reads it after each page as if the program had ended
    // there.
    for index in 0..<4 {
      kept.append(page(index, isLast: index == 3))
      try await store.keep(kept[index], at: index, isLast: true)
      try await expectPages(
        store, kept, "A page that was kept is there as it was, behind the others.")
      try await expectPages(open(), kept, "A page that was kept is there for the next run, too.")
    }
    kept[1] = page(11)
    try await store.keep(kept[1], at: 1, isLast: false)
    try await expectPages(
      open(), kept, "A page that is not the last takes the place of one page, and the others stay.")
    kept[1...] = [page(21)]
    try await store.keep(kept[1], at: 1, isLast: true)
    try await expectPages(open(), kept, "Behind a page that is the last, nothing stays.")
    kept = [StoredPage(Page([]))]
    try await store.keep(kept[0], at: 0, isLast: true)
    try await expectPages(open(), kept, "A listing that is empty is a page without items.")
    kept = [page(30)]
    try await open().keep(kept[0], at: 0, isLast: true)
    try await expectPages(open(), kept, "A new listing takes the place of the one before.")
    try await checkTogether(open)
  }

  /// Returns a page with everything that a page can have.
  private static func page(
    _ number: Int, isLast: Bool = false, count: Int = 50
  ) -> StoredPage<Item> {
    let texts = [
      "", "plain", "\u{0}\n\r\t\"\\", "a\u{301} 👩‍👩‍👧‍👦 \u{2028}", String(repeating: "x", count: 5000),
    ]
    let items = (0..<count).map { index in
      Item(id: number * 1000 + index, text: texts[index % texts.count])
    }
    var page = Page(
      items, next: isLast ? nil : Position(.number("\(number + 1)")),
      previous: number == 0 ? nil : Position(.string("before \(number) ä/\"")),
      total: Total(9_007_199_254_740_993))
    page.position = Position(.number("\(number)"))
    return StoredPage(page)
  }

  /// Checks that several lists of a program can share a store.
  private static func checkTogether<Store: ListStore<Item>>(
    _ open: @Sendable () async throws -> Store
  ) async throws {
    let first = try await open()
    for index in 0..<8 { try await first.keep(page(index, count: 5), at: index, isLast: true) }
    let second = try await open()
    let found = try await withThrowingTaskGroup(of: [StoredPage<Item>].self) { group in
      for task in 0..<16 {
        group.addTask {
          let store = task % 2 == 0 ? first : second
          try await store.keep(
            page(100 * task + task % 8, count: 5), at: task % 8, isLast: false)
          return try await store.pages()
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for pages in found + [try await open().pages()] {
      let isWhole = pages.enumerated().allSatisfy { index, stored in
        guard let number = stored.items.first.map({ $0.id / 1000 }) else { return false }
        return number % 100 == index && stored == page(number, count: 5)
      }
      try expect(
        pages.count == 8 && isWhole,
        "Of pages that are kept and read at the same time, each is whole and in its place.",
        evidence: "There are \(pages.count): \(pages.map { $0.items.first?.id ?? -1 }).")
    }
  }

  /// Checks that damaged data is never taken for a listing: the store either throws or returns the
  /// pages before the damage. When it stores the next page, it either throws again or starts over.
  ///
  /// - Parameters:
  ///   - damage: Damages the stored data: truncates it, overwrites it, or writes data of a later
  ///     version.
  ///   - open: The same as for `check(_:)`, for a separate store.
  /// - Throws: The first `ConformanceFailure`, or the store's own error before the damage.
  public static func check<Store: ListStore<Item>>(
    damagedBy damage: () throws -> Void, _ open: @Sendable () async throws -> Store
  ) async throws {
    let kept = (0..<3).map { page($0) }
    for (index, page) in kept.enumerated() {
      try await open().keep(page, at: index, isLast: true)
    }
    try damage()
    let found = (try? await open().pages()) ?? []
    try expect(
      found.count < kept.count && found == Array(kept.prefix(found.count)),
      "Of what is damaged, a store has the pages in front of the damage, or none, and never others.",
      evidence: "There are \(found.map { $0.items.first?.id ?? -1 }).")
    let new = page(40)
    do {
      try await open().keep(new, at: 0, isLast: true)
    } catch {
      return
    }
    try await expectPages(
      open(), [new], "A store that takes a page after a damage has it from then on.")
  }

  private static func expectPages(
    _ store: some ListStore<Item>, _ pages: [StoredPage<Item>], _ promise: String
  ) async throws {
    let found = try await store.pages()
    try expect(
      found == pages, promise,
      evidence:
        "It has \(found.map(\.items.count)) items, the first \(found.map { $0.items.first?.id ?? -1 })."
    )
  }
}
