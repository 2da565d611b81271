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
  /// What is stored.
  public struct Item: Codable, Hashable, Identifiable, Sendable {
    /// What tells it from others.
    public var id: Int
    /// Any text, long ones and control characters among them.
    public var text: String

    /// An item.
    public init(id: Int, text: String) {
      self.id = id
      self.text = text
    }
  }

  /// Checks every promise in turn.
  ///
  /// - Parameter open: A store, at every call anew and on the same place, as the next run of a program opens it;
  ///   the same store where there is no such place, as in memory. Nothing is kept there before the first call.
  /// - Throws: The first `ConformanceFailure`, or what the store throws.
  public static func check<Store: ListStore<Item>>(
    _ open: @Sendable () async throws -> Store
  ) async throws {
    var kept: [StoredPage<Item>] = []
    try await expect(open(), kept, "A store in which nothing was kept has no pages.")
    let store = try await open()
    // A first listing, page by page, and each as a program that ends then would find it.
    for index in 0..<4 {
      kept.append(page(index, isLast: index == 3))
      try await store.keep(kept[index], at: index, isLast: true)
      try await expect(store, kept, "A page that was kept is there as it was, behind the others.")
      try await expect(open(), kept, "A page that was kept is there for the next run, too.")
    }
    kept[1] = page(11)
    try await store.keep(kept[1], at: 1, isLast: false)
    try await expect(
      open(), kept, "A page that is not the last takes the place of one page, and the others stay.")
    kept[1...] = [page(21)]
    try await store.keep(kept[1], at: 1, isLast: true)
    try await expect(open(), kept, "Behind a page that is the last, nothing stays.")
    kept = [StoredPage(Page([]))]
    try await store.keep(kept[0], at: 0, isLast: true)
    try await expect(open(), kept, "A listing that is empty is a page without items.")
    kept = [page(30)]
    try await open().keep(kept[0], at: 0, isLast: true)
    try await expect(open(), kept, "A new listing takes the place of the one before.")
    try await checkTogether(open)
  }

  /// A page with everything that a page can have.
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

  /// Several lists of a program may have one store.
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
        "There are \(pages.count): \(pages.map { $0.items.first?.id ?? -1 }).")
    }
  }

  /// Checks that what is damaged is never taken for a listing: the store throws, or has the pages in front of
  /// the damage, and either throws again when it is to keep a page, or begins anew with it.
  ///
  /// - Parameters:
  ///   - damage: Damages what is kept: cut off, overwritten, as a later version keeps it.
  ///   - open: As for `check(_:)`, on a place of its own.
  /// - Throws: The first `ConformanceFailure`, or what the store throws before the damage.
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
      "There are \(found.map { $0.items.first?.id ?? -1 }).")
    let new = page(40)
    do {
      try await open().keep(new, at: 0, isLast: true)
    } catch {
      return
    }
    try await expect(
      open(), [new], "A store that takes a page after a damage has it from then on.")
  }

  private static func expect(
    _ store: some ListStore<Item>, _ pages: [StoredPage<Item>], _ promise: String
  ) async throws {
    let found = try await store.pages()
    try expect(
      found == pages, promise,
      "It has \(found.map(\.items.count)) items, the first \(found.map { $0.items.first?.id ?? -1 })."
    )
  }

  private static func expect(_ holds: Bool, _ promise: String, _ evidence: String) throws {
    guard holds else { throw ConformanceFailure(promise, evidence: evidence) }
  }
}
