public import Synchronization

/// The items of a sequence of pages, one by one.
///
/// Another loop over the same walk or paginator goes on with the next item.
public struct ItemSequence<Pages: PageSequence>: AsyncSequence {
  /// An item of a page.
  public typealias Element = Pages.Item
  /// What the sequence of pages throws.
  public typealias Failure = any Error

  @usableFromInline let pages: Pages

  @inlinable init(_ pages: Pages) { self.pages = pages }

  /// Starts a walk over the items.
  @inlinable public func makeAsyncIterator() -> Iterator {
    Iterator(pages.makeAsyncIterator())
  }

  /// One walk over the items.
  public struct Iterator: AsyncIteratorProtocol {
    @usableFromInline var pages: Pages.AsyncIterator
    @usableFromInline var items: [Pages.Item] = []
    @usableFromInline var index = 0
    @usableFromInline var mark: ItemMark?

    @inlinable init(_ pages: Pages.AsyncIterator) { self.pages = pages }

    // Inlinable, unlike every other iterator: a call across modules would cost more than the rest
    // of the work.
    /// The next item; nil at the end, for ever. After an error, the first item of the page that
    /// failed.
    @inlinable public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Pages.Item? {
      while index >= items.count {
        guard let page = try await pages.next(isolation: actor) else { return nil }
        items = page.items
        index = 0
        mark = page.mark
      }
      defer {
        index += 1
        mark?.items.store(index, ordering: .relaxed)
      }
      return items[index]
    }

    /// The next item; nil at the end, for ever.
    @inlinable public mutating func next() async throws -> Pages.Item? {
      try await next(isolation: #isolation)
    }
  }
}

extension ItemSequence {
  /// All items, in order, once the last one has come: for listings that fit into memory.
  ///
  /// Throws what the loop would throw; the items before that are lost with it.
  public func collect() async throws -> [Element] { try await pages.collect() }
}

extension ItemSequence: Sendable where Pages: Sendable {}

@available(*, unavailable)
extension ItemSequence.Iterator: Sendable {}

/// Items of one page of the source, by their offsets in it, in ascending order.
///
/// A filtered page skips offsets, a repaged one joins items of several pages; this is how either
/// can still be cut and resumed at exactly one item.
package struct ItemOrigins: Hashable, Sendable {
  /// Where the source's page starts; its `itemOffset` is 0.
  package var page: Position
  package var offsets: [Int]
  /// Of a page that was made of others: where its items lie, of which `offsets` are the indices.
  var places: ItemPlaces?

  /// Where the item at `index` of these lies.
  func position(at index: Int) -> Position {
    places?.position(offsets[index]) ?? page.at(itemOffset: offsets[index])
  }

  /// The same run of a page, fewer of its items.
  func with(offsets: [Int]) -> ItemOrigins {
    ItemOrigins(page: page, offsets: offsets, places: places)
  }
}

/// Where the items of a page lie that was made of others.
///
/// The positions are made when they are asked for, because one of them names every listing that is open.
package final class ItemPlaces: Sendable {
  /// Where the item at an index lies, or, behind the last one, where the walk goes on.
  let position: @Sendable (Int) -> Position
  /// See `Page.anchor(ofItem:)`.
  let anchor: @Sendable (Int) -> Position?

  init(
    _ position: @escaping @Sendable (Int) -> Position,
    anchor: @escaping @Sendable (Int) -> Position?
  ) {
    (self.position, self.anchor) = (position, anchor)
  }
}

extension ItemPlaces: Hashable {
  /// Whether both belong to the same page.
  package static func == (left: ItemPlaces, right: ItemPlaces) -> Bool { left === right }
  /// Feeds what `==` compares.
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// How many items of its page a loop over items has consumed: written by the loop with each item, read
/// by the walk or paginator that delivered the page.
@usableFromInline final class ItemMark: Sendable {
  @usableFromInline let items = Atomic<Int>(0)
  private let isGone = Atomic(false)

  /// Whether the loop is gone.
  var isLeft: Bool { isGone.load(ordering: .acquiring) }

  /// The loop is gone.
  func leave() { isGone.store(true, ordering: .releasing) }
}

/// The pages that loops over items are in, and what loops that are gone have left unread.
struct OpenPages<Item: Sendable>: Sendable {
  private struct Open {
    var page: Page<Item>
    let mark: ItemMark

    var taken: Int { min(mark.items.load(ordering: .relaxed), page.items.count) }
    var unread: Int { page.items.count - taken }
    var isLeftover: Bool { mark.isLeft && unread > 0 }
  }

  /// In the order of their items.
  private var pages: [Open] = []

  /// Hands `page` to the loop that writes to `mark`. It has taken all of the page before.
  mutating func open(_ page: Page<Item>, mark: ItemMark) -> Page<Item> {
    pages.removeAll { $0.mark === mark || $0.mark.isLeft && $0.unread == 0 }
    mark.items.store(0, ordering: .relaxed)
    let index = pages.firstIndex { $0.page.index > page.index } ?? pages.endIndex
    pages.insert(Open(page: page, mark: mark), at: index)
    var page = page
    page.mark = mark
    return page
  }

  /// The loop that writes to `mark` is gone.
  mutating func leave(_ mark: ItemMark) {
    guard let index = pages.firstIndex(where: { $0.mark === mark }) else { return }
    mark.leave()
    if pages[index].unread == 0 { pages.remove(at: index) }
  }

  /// The same for another walk, in which all loops are gone.
  var left: OpenPages {
    var copy = OpenPages()
    for open in pages where open.unread > 0 {
      let rest = open.page.dropping(items: open.taken)
      let mark = ItemMark()
      mark.leave()
      copy.pages.append(Open(page: rest, mark: mark))
    }
    return copy
  }

  // Most walks are read page by page and have nothing here: that is found out by a count, which costs no look-up
  // of generic types. Nor are there key paths, which generic code makes anew each time.

  /// Whether there is something that a loop has left.
  var hasLeftovers: Bool { firstLeftover != nil }

  private var firstLeftover: Int? {
    pages.count > 0 ? pages.firstIndex { $0.isLeftover } : nil
  }

  /// Takes the first of what loops have left, `limit` items at most; nil when there is nothing.
  mutating func takeLeftover(limit: Int = .max) -> Page<Item>? {
    guard let index = firstLeftover else { return nil }
    let open = pages[index]
    var rest = open.page.dropping(items: open.taken)
    if rest.items.count > limit {
      open.mark.items.store(open.taken + limit, ordering: .relaxed)
      rest.cut(toItems: limit)
    } else {
      pages.remove(at: index)
    }
    return rest
  }

  /// Items delivered that are not consumed.
  var unread: Int { pages.count > 0 ? pages.reduce(0) { $0 + $1.unread } : 0 }

  /// Where the first of them lies; nil when there are none.
  var checkpoint: Position? {
    guard pages.count > 0 else { return nil }
    return pages.first { $0.unread > 0 }.flatMap { $0.page.position(afterItems: $0.taken) }
  }
}
