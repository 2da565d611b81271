public import Synchronization

/// The items of a sequence of pages, one by one.
///
/// Another loop over the same walk or paginator continues with the next item.
public struct ItemSequence<Pages: PageSequence>: AsyncSequence {
  /// An item of a page.
  public typealias Element = Pages.Item
  /// The errors of the sequence of pages.
  public typealias Failure = any Error

  @usableFromInline let pages: Pages

  @inlinable init(_ pages: Pages) { self.pages = pages }

  /// Returns an iterator over the items.
  @inlinable public func makeAsyncIterator() -> Iterator {
    Iterator(pages.makeAsyncIterator())
  }

  /// An iterator over the items.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var pages: Pages.AsyncIterator
    @usableFromInline var items: [Pages.Item] = []
    @usableFromInline var index = 0
    @usableFromInline var consumedCount: ConsumedCount?

    @inlinable init(_ pages: Pages.AsyncIterator) { self.pages = pages }

    // Inlinable, unlike every other iterator: a call across modules for each item would cost more
    // than the rest of the work.
    /// Returns the next item, and nil at the end and from then on. After an error, tries the page
    /// that failed again.
    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Pages.Item? {
      while index >= items.count {
        guard let page = try await pages.next(isolation: actor) else { return nil }
        items = page.items
        index = 0
        consumedCount = page.consumedCount
      }
      defer {
        index += 1
        consumedCount?.items.store(index, ordering: .relaxed)
      }
      return items[index]
    }

    /// Returns the next item, and nil at the end and from then on.
    @inlinable public mutating func next() async throws -> Pages.Item? {
      try await next(isolation: #isolation)
    }
  }
}

extension ItemSequence {
  /// Returns all items, in order, once the last one has come: for listings that fit into memory.
  ///
  /// Throws the error that the loop would throw; the items before it are lost.
  public func collect() async throws -> [Element] { try await pages.collect() }
}

extension ItemSequence: Sendable where Pages: Sendable {}

@available(*, unavailable)
extension ItemSequence.Iterator: Sendable {}

/// The number of items of its page that a loop over items has consumed. The loop writes it with
/// each item; the walk or paginator that delivered the page reads it.
@usableFromInline final class ConsumedCount: Sendable {
  @usableFromInline let items = Atomic<Int>(0)
  private let isGone = Atomic(false)

  /// Whether the loop is gone.
  var isLeft: Bool { isGone.load(ordering: .acquiring) }

  /// Notes that the loop is gone.
  func leave() { isGone.store(true, ordering: .releasing) }
}

/// The pages that loops over items are in the middle of, and those that loops left with unread
/// items.
struct OpenPages<Item: Sendable>: Sendable {
  private struct Open {
    var page: Page<Item>
    let consumedCount: ConsumedCount

    var taken: Int { min(consumedCount.items.load(ordering: .relaxed), page.items.count) }
    var unread: Int { page.items.count - taken }
    var isLeftover: Bool { consumedCount.isLeft && unread > 0 }
  }

  /// In the order of their items.
  private var pages: [Open] = []

  /// Registers `page` with the loop that writes to `count`, which has consumed its previous page,
  /// and sets its count.
  mutating func register(_ page: inout Page<Item>, count: ConsumedCount) {
    pages.removeAll { $0.consumedCount === count || $0.consumedCount.isLeft && $0.unread == 0 }
    count.items.store(0, ordering: .relaxed)
    page.consumedCount = count
    let place = page.index
    let index = pages.firstIndex { $0.page.index > place } ?? pages.endIndex
    pages.insert(Open(page: page, consumedCount: count), at: index)
  }

  /// Notes that the loop that writes to `count` is gone.
  mutating func leave(_ count: ConsumedCount) {
    guard let index = pages.firstIndex(where: { $0.consumedCount === count }) else { return }
    count.leave()
    if pages[index].unread == 0 { pages.remove(at: index) }
  }

  /// The unread items for a copy of the walk, in which all loops count as gone.
  var copyWithoutLoops: OpenPages {
    var copy = OpenPages()
    for open in pages where open.unread > 0 {
      let rest = open.page.dropping(items: open.taken)
      let count = ConsumedCount()
      count.leave()
      copy.pages.append(Open(page: rest, consumedCount: count))
    }
    return copy
  }

  // Most walks are read page by page and keep nothing here. Comparing the count finds that out
  // without looking up generic types at run time. There are no key paths either, because generic
  // code creates them anew at each use.

  /// Whether loops have left items unread.
  var hasLeftovers: Bool { firstLeftover != nil }

  private var firstLeftover: Int? {
    pages.count > 0 ? pages.firstIndex { $0.isLeftover } : nil
  }

  /// Takes the first page that a loop has left, at most `limit` of its items; nil if there is none.
  mutating func takeLeftover(limit: Int = .max) -> Page<Item>? {
    guard let index = firstLeftover else { return nil }
    let open = pages[index]
    var rest = open.page.dropping(items: open.taken)
    // That of the loop that is gone; the next one has its own.
    rest.consumedCount = nil
    if rest.items.count > limit {
      open.consumedCount.items.store(open.taken + limit, ordering: .relaxed)
      rest.cut(toItems: limit)
    } else {
      pages.remove(at: index)
    }
    return rest
  }

  /// The number of items that were delivered and not consumed.
  var unread: Int { pages.count > 0 ? pages.reduce(0) { $0 + $1.unread } : 0 }

  /// The position of the first unread item; nil if there is none.
  var checkpoint: Position? {
    guard pages.count > 0 else { return nil }
    return pages.first { $0.unread > 0 }.flatMap { $0.page.position(afterItems: $0.taken) }
  }
}
