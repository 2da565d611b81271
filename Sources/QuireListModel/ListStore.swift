public import QuireCore
import QuireLists
import Synchronization

/// A store that keeps the pages of a list between runs of a program: in memory, a file, or SQLite.
///
/// ```swift
/// actor MemoryStore: ListStore {
///   var kept: [StoredPage<Mail>] = []
///   func pages() -> [StoredPage<Mail>] { kept }
///   func keep(_ page: StoredPage<Mail>, at index: Int, isLast: Bool) {
///     kept = kept.prefix(index) + [page] + (isLast ? [] : kept.dropFirst(index + 1))
///   }
/// }
/// ```
/// The list calls one method at a time, in order. After an error the list still works; the error is
/// `ListModel.Snapshot.storeError`.
public protocol ListStore<Item>: Sendable {
  associatedtype Item: Sendable

  /// Returns the stored pages, from the first one on; empty if there are none.
  func pages() async throws -> [StoredPage<Item>]

  /// Stores a page in place of the one at `index`, which is at most the number of pages stored. If
  /// it is the last page, the store drops the pages after it, which belong to an earlier listing.
  func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) async throws
}

/// The part of a page that a store keeps. Codable if its items are.
public struct StoredPage<Item: Sendable>: Sendable {
  /// The items, in the server's order.
  public var items: [Item]
  /// The position of this page.
  public var position: Position
  /// The position of the next page; nil on the last one.
  public var next: Position?
  /// The position of the previous page, if the server gives it.
  public var previous: Position?
  /// The total that the server declared with this page.
  public var total: Total?
  /// True for a part of a page that is not its last part; nil otherwise, so that it takes no room.
  var hasMoreParts: Bool?
  /// The validators for asking the server whether the page has changed (`ETag`, `Last-Modified`).
  package var version: PageVersion?

  /// Creates the stored part of `page`.
  public init(_ page: Page<Item>) {
    items = page.items
    (position, next, previous, total) = (page.position, page.next, page.previous, page.total)
    hasMoreParts = page.hasMoreParts ? true : nil
    version = page.head.version
  }

  var page: Page<Item> {
    var page = Page(items, next: next, previous: previous, total: total)
    page.position = position
    page.hasMoreParts = hasMoreParts ?? false
    page.head.version = version
    return page
  }
}

extension StoredPage: Codable where Item: Codable {}
extension StoredPage: Equatable where Item: Equatable {}

/// A store in memory, for lists that are created several times while a program runs.
public actor MemoryListStore<Item: Sendable>: ListStore {
  private var kept: [StoredPage<Item>]

  /// Creates a store that has these pages.
  public init(_ pages: [StoredPage<Item>] = []) { kept = pages }

  /// Returns the stored pages.
  public func pages() -> [StoredPage<Item>] { kept }

  /// Stores a page, as `ListStore` demands.
  public func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) {
    kept = kept.prefix(index) + [page] + (isLast ? [] : kept.dropFirst(index + 1))
  }
}

/// Writes the pages of a list to its store, one after the other.
@MainActor final class ListKeeper<Item: Sendable> {
  /// A page that is stored or waiting to be: the load that brought it, its fingerprint, and the
  /// position of the next page.
  private struct Kept {
    var load: Int
    var fingerprint: Int?
    var next: Position?
  }

  private let store: any ListStore<Item>
  private var kept: [Kept] = []
  /// The generation of the list that the pages belong to.
  private var generation = 0
  private var waiting: [(page: StoredPage<Item>, index: Int, isLast: Bool)] = []
  private var writer: Task<Void, Never>?
  private(set) var error: (any Error)?
  /// Called when the store has failed, or works again.
  var onChange: () -> Void = {}

  init(_ store: any ListStore<Item>) { self.store = store }

  /// Returns the stored pages, up to the first one that does not lead to the next; empty if the
  /// store fails.
  func restore() async -> [Page<Item>] {
    do {
      let stored = try await store.pages()
      // A program may have ended in the middle of writing another listing.
      let links = zip(stored, stored.dropFirst()).prefix { $0.next == $1.position }
      let pages = stored.prefix(links.count + 1).map(\.page)
      kept = pages.map { Kept(load: 0, next: $0.next) }
      return pages
    } catch {
      self.error = error
      return []
    }
  }

  /// Stores the pages that are new since the last call, if the list has loaded every page from the
  /// start of the listing.
  func keep(_ list: ListSnapshot<Item>) {
    let content = list.content
    if content.generation != generation, list.pages.isEmpty, content.isEnd, !kept.isEmpty {
      // The listing is empty now.
      (kept, generation) = ([Kept(load: list.loads)], content.generation)
      return write(StoredPage(Page([])), at: 0, isLast: true)
    }
    guard list.pagesBefore == max(0, content.first) else { return }
    if content.generation != generation, !list.pages.isEmpty {
      (kept, generation) = ([], content.generation)
    }
    for (index, page) in list.pages.enumerated() {
      let (ordinal, stamp) = (content.first + index, content.stamps[index])
      if ordinal > kept.count { return }
      guard ordinal >= 0, !stamp.isStale else { continue }
      var new = Kept(load: stamp.load, fingerprint: page.head.fingerprint, next: page.next)
      let behind = index + 1 < list.pages.count ? list.pages[index + 1].position : nil
      if new.next != nil { new.next = behind ?? link(of: new, at: ordinal) }
      if ordinal == kept.count {
        kept.append(new)
      } else if kept[ordinal].load != new.load || kept[ordinal].next != new.next {
        kept[ordinal] = new
      } else {
        continue
      }
      var stored = StoredPage(page)
      // A server that signs its links sends another link to the same page each time, so the next
      // page is known by the position that it was loaded from.
      stored.next = new.next
      write(stored, at: ordinal, isLast: ordinal == kept.count - 1)
    }
  }

  /// Returns the next position to store for a page whose successor is not held: the stored one,
  /// unless the page changed.
  private func link(of page: Kept, at ordinal: Int) -> Position? {
    guard ordinal + 1 < kept.count else { return page.next }
    let old = kept[ordinal]
    let isSame = page.fingerprint != nil && page.fingerprint == old.fingerprint
    return isSame || page.load == old.load ? old.next : page.next
  }

  private func write(_ page: StoredPage<Item>, at index: Int, isLast: Bool) {
    waiting.append((page, index, isLast))
    if writer == nil { writer = Task { await writeAll() } }
  }

  /// Writes the waiting pages. After an error, the pages after the failed one are dropped too; the
  /// next snapshot brings them again.
  private func writeAll() async {
    let hadError = error != nil
    while !waiting.isEmpty {
      let (page, index, isLast) = waiting.removeFirst()
      do {
        try await store.keep(page, at: index, isLast: isLast)
        error = nil
      } catch {
        self.error = error
        waiting.removeAll { $0.index >= index }
        kept = Array(kept.prefix(index))
      }
    }
    writer = nil
    if hadError || error != nil { onChange() }
  }

  /// Waits until everything is written.
  func settle() async { await writer?.value }
}
