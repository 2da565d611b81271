public import QuireCore
import QuireLists
import Synchronization

/// The door to where a list's pages are kept from one run of a program to the next: memory, a file, SQLite.
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
/// Calls come one after the other, in order. A store that fails costs a list nothing but its store:
/// `ListModel.Snapshot.storeError` says why.
public protocol ListStore<Item>: Sendable {
  associatedtype Item: Sendable

  /// The pages kept, from the first one on; none where nothing is.
  func pages() async throws -> [StoredPage<Item>]

  /// Keeps a page in place of the one with this number. Those behind it are of an earlier listing where it is
  /// the last, and go; there is never a gap in front of it.
  func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) async throws
}

/// A page as a store keeps it. Codable where items are.
public struct StoredPage<Item: Sendable>: Sendable {
  /// The items, in the server's order.
  public var items: [Item]
  /// Where the page starts.
  public var position: Position
  /// Where the next page starts; nil on the last one.
  public var next: Position?
  /// Where the page before this one starts, where the server says so.
  public var previous: Position?
  /// The total that the server declared with it.
  public var total: Total?
  /// True where this is a part of a page, and more of that follows.
  var hasMoreParts: Bool?
  /// By what the server is asked whether the page has changed (`ETag`, `Last-Modified`).
  package var version: PageVersion?

  /// What is kept of a page.
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

/// Keeps pages in memory, for lists that are made anew while the program runs.
public actor MemoryListStore<Item: Sendable>: ListStore {
  private var kept: [StoredPage<Item>]

  /// A store that has these pages.
  public init(_ pages: [StoredPage<Item>] = []) { kept = pages }

  /// The pages kept.
  public func pages() -> [StoredPage<Item>] { kept }

  /// Keeps a page.
  public func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) {
    kept = kept.prefix(index) + [page] + (isLast ? [] : kept.dropFirst(index + 1))
  }
}

/// Keeps what a list loads, page by page, one after the other.
@MainActor final class ListKeeper<Item: Sendable> {
  /// A page that is kept or about to be: which load brought it, what it is, and where it leads.
  private struct Kept {
    var load: Int
    var fingerprint: Int?
    var next: Position?
  }

  private let store: any ListStore<Item>
  private var kept: [Kept] = []
  /// Of which listing they are.
  private var generation = 0
  private var waiting: [(page: StoredPage<Item>, index: Int, isLast: Bool)] = []
  private var writer: Task<Void, Never>?
  private(set) var error: (any Error)?

  init(_ store: any ListStore<Item>) { self.store = store }

  /// The pages that the store has, as far as each leads to the next; none where it fails.
  func restore() async -> [Page<Item>] {
    do {
      let stored = try await store.pages()
      // A program may have ended before all pages of another listing were kept.
      let links = zip(stored, stored.dropFirst()).prefix { $0.next == $1.position }
      let pages = stored.prefix(links.count + 1).map(\.page)
      kept = pages.map { Kept(load: 0, next: $0.next) }
      return pages
    } catch {
      self.error = error
      return []
    }
  }

  /// Keeps the pages that came since, as far as the listing is known from its start.
  func keep(_ list: ListSnapshot<Item>) {
    let content = list.content
    if content.generation != generation, list.pages.isEmpty, content.isEnd, !kept.isEmpty {
      // The listing has no page any more.
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
      var new = Kept(load: stamp.load, fingerprint: page.fingerprint, next: page.next)
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
      // Servers that sign their links write others for the same place with every answer: the page
      // behind is known by the one it was loaded by.
      stored.next = new.next
      write(stored, at: ordinal, isLast: ordinal == kept.count - 1)
    }
  }

  /// Where a page is kept to lead when the one behind it is not held: where it led before, unless it changed.
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

  /// Where a page cannot be kept, none behind it is: they come again with what the list has next.
  private func writeAll() async {
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
  }

  /// Waits until everything is kept.
  func settle() async { await writer?.value }
}
