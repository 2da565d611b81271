// Lazy, page by page: every page stays a page, however many items are left of it. A closure that
// throws fails its page with `transformFailed`; asking again reads the page again. Closures run
// outside of the consumer's actor, so that a busy one does not hold up a main thread.
//
// Each transform is declared twice, because AsyncSequence's own, which transform the pages, would
// win otherwise for closures that throw nothing.

extension Cursor {
  /// Every item replaced by what `transform` makes of it.
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

  /// Every item replaced by what `transform` makes of it.
  public func map<Other: Sendable>(
    _ transform: @escaping @Sendable @concurrent (Item) async -> Other
  ) -> Cursor<Other> {
    let throwing: @Sendable @concurrent (Item) async throws -> Other = transform
    return map(throwing)
  }

  /// Only the items that `isIncluded` accepts.
  public func filter(
    _ isIncluded: @escaping @Sendable @concurrent (Item) async throws -> Bool
  ) -> Cursor<Item> {
    compactMap { item async throws in try await isIncluded(item) ? item : nil }
  }

  /// Only the items that `isIncluded` accepts.
  public func filter(_ isIncluded: @escaping @Sendable @concurrent (Item) async -> Bool) -> Cursor<
    Item
  > {
    compactMap { item async in await isIncluded(item) ? item : nil }
  }

  /// Every item replaced by what `transform` makes of it, or dropped where that is nil.
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
      if kept.count < page.items.count { result.origins = page.origins(ofItems: kept) }
      return result
    }
  }

  /// Every item replaced by what `transform` makes of it, or dropped where that is nil.
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

/// Reads pages and makes other pages of them.
struct TransformReader<Base: Sendable, Item: Sendable>: DerivedReader {
  let base: any PageReader<Base>
  let transform: @Sendable @concurrent (Page<Base>) async throws -> Page<Item>

  func read(at position: Position) async throws -> Page<Item>? {
    guard let page = try await base.read(at: position) else { return nil }
    do {
      return try await transform(page)
    } catch let error where !(error is CancellationError || error is PageError) {
      throw PageError(
        .transformFailed, "A closure given to map, filter or compactMap failed: \(error)",
        underlying: error)
    }
  }

  func positions(after position: Position, total: Total?, count: Int) -> [Position] {
    base.positions(after: position, total: total, count: count)
  }

  func copy() -> any PageReader<Item> {
    TransformReader(base: base.copy(), transform: transform)
  }

  func leave() { base.leave() }
  func close(at position: Position?) async { await base.close(at: position) }
  var needsClosing: Bool { base.needsClosing }
  var repeatedPositions: RepeatedPositions { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}
