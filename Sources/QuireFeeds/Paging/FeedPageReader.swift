import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// Reads the pages of a feed for one walk. Omits repeated entries, and ends the walk where the
/// publisher's links form a loop.
final class FeedPageReader: PageReader {
  private let base: PageLoader<FeedEntry>
  private let paging: FeedPaging
  /// Whether a page is the last to read; nil to read all.
  private let isLast: (@Sendable (Page<FeedEntry>) -> Bool)?
  private let memory: Mutex<Memory>

  private struct Memory: Sendable {
    var seen = SeenEntries()
    /// The position of the last page, and the entries seen before it, so that reading that page
    /// again does not omit its entries.
    var last: (position: Position, before: SeenEntries)?
    /// The identities of the requests for pages that have a next page.
    var visited: Set<Int> = []
    /// The number of consecutive pages without new entries.
    var stale = 0
  }

  /// The number of consecutive pages without new entries that ends a feed with links. A single one
  /// does not, because archives may repeat the feed (RFC 5005, section 4).
  private static let mostStale = 3

  init(
    _ base: PageLoader<FeedEntry>, _ paging: FeedPaging,
    _ isLast: (@Sendable (Page<FeedEntry>) -> Bool)?
  ) {
    (self.base, self.paging, self.isLast) = (base, paging, isLast)
    memory = Mutex(Memory())
  }

  private init(copying other: FeedPageReader) {
    base = other.base
    paging = other.paging
    isLast = other.isLast
    memory = Mutex(other.memory.withLock { $0 })
  }

  // `@concurrent` leaves the consumer's actor, as `PageLoader` does.
  @concurrent func read(at position: Position) async throws -> Page<FeedEntry>? {
    for url in paging.missingIndexes(at: position) {
      let link: JSONValue = ["href": .string(url), "method": "GET"]
      let place = Bookmark(.request(link)).position
      let answer = try await base.answer(at: place)
      paging.found(answer.document, at: [url, answer.request.url])
    }
    let isNumbered = FeedPaging.isNumbered(position)
    do {
      guard let page = try await base.read(at: position) else { return nil }
      return settle(page, at: position, isNumbered)
    } catch let error as PageError where isNumbered && Self.saysEnd(error) {
      return Page.absent(after: error.traffic)
    } catch let error as PageError where FeedPaging.isListed(position) && Self.isGone(error) {
      return try missingSitemap(at: position, error)
    }
  }

  /// Whether the server answered that an address does not exist (404, 410).
  private static func isGone(_ error: PageError) -> Bool {
    [404, 410].contains(error.response?.status.code ?? 0)
  }

  /// Returns an empty page in place of a sitemap that its index lists but the server does not have.
  /// Many indexes list sitemaps that were removed, and the walk can continue with the next one.
  private func missingSitemap(
    at position: Position, _ error: PageError
  ) throws -> Page<FeedEntry> {
    var page = base.emptyPage(at: position, before: try paging.sitemap(afterMissing: position))
    page.traffic = error.traffic
    let status = error.response.map { " answered \($0.status.code)" } ?? " does not have it"
    let request = error.request ?? "An address"
    page.warnings.append(
      WalkReport.Warning(
        .missingSitemap,
        "\(request) is what a sitemap index lists, and the server\(status): its entries are missing."
      ))
    return page
  }

  /// Whether an error means that there is no page with this number.
  private static func saysEnd(_ error: PageError) -> Bool {
    [400, 404, 410].contains(error.response?.status.code ?? 0)
      || error.code == .unexpectedMediaType
  }

  /// Returns a page without the entries that were seen before, and without its next page if the
  /// walk ends here.
  private func settle(
    _ page: Page<FeedEntry>, at position: Position, _ isNumbered: Bool
  ) -> Page<FeedEntry> {
    memory.withLock { memory in
      if let last = memory.last, last.position == position { memory.seen = last.before }
      memory.last = (position, memory.seen)
      // A page without a next page cannot be part of a loop.
      if page.next != nil { memory.visited.insert(base.identity(of: position)) }
      let kept = memory.seen.new(in: page.items)
      var result = page
      if kept.count < page.items.count {
        result = page.withItems(kept.map { page.items[$0] })
        result.head.origins = page.origins(ofItems: kept)
        result.traffic.duplicates += page.items.count - kept.count
      }
      memory.stale = kept.isEmpty && !page.items.isEmpty ? memory.stale + 1 : 0
      if isLast?(page) == true { result.next = nil }
      end(&result, memory, isNumbered)
      return result
    }
  }

  /// Ends the walk after this page if no new entries are to be expected.
  private func end(_ page: inout Page<FeedEntry>, _ memory: Memory, _ isNumbered: Bool) {
    guard let next = page.next else { return }
    if isNumbered, memory.stale > 0 {
      // The server ignores the page number and repeats its entries.
      page.next = nil
    } else if memory.visited.contains(base.identity(of: next)) {
      page.next = nil
      page.warnings.append(
        WalkReport.Warning(
          .feedLoop,
          "The feed's link to older entries leads to a page that was read before; it ends here."))
    } else if memory.stale >= Self.mostStale {
      page.next = nil
      page.warnings.append(
        WalkReport.Warning(
          .feedLoop,
          "\(memory.stale) pages of the feed in a row had no entry that was not read before; it ends here."
        ))
    }
  }

  func copy() -> any PageReader<FeedEntry> { FeedPageReader(copying: self) }
  func leave() { base.leave() }
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    []
  }
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { base.warnings(for: end) }
  func close(at position: Position?) async { await base.close(at: position) }
  func identity(of position: Position) -> Int { base.identity(of: position) }
  var needsClosing: Bool { base.needsClosing }
  // The feed's own loops never reach the walk's check: `end` finds them by their requests, and ends
  // the walk there.
  var repeatedPositions: Position.Repetition { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}

extension WalkReport.Warning.Code {
  /// A loop in a feed's links to older entries; the walk ended there.
  public static let feedLoop = Self("feedLoop")
  /// A sitemap that an index lists but that does not exist (404, 410); the walk continued with the
  /// next one.
  public static let missingSitemap = Self("missingSitemap")
}

/// The entries that a walk has seen, so that none is delivered twice.
///
/// Two entries are the same if they have the same identifier, and the same address or text; without
/// an identifier, if they have the same address and text. The publication date is part of the text.
/// If one page gives the same identifier to different entries, these entries, and earlier ones with
/// it, are the same only if they have the same address and text, too. Remembers hashes of the last
/// 262,144 entries.
struct SeenEntries: Sendable {
  private var keys: Set<Int> = []
  /// The keys in order, so that the oldest can be removed.
  private var order: [Int] = []
  /// The index in `order` of the oldest key.
  private var oldest = 0
  /// Hashes of identifiers that belong to different entries.
  private var shared: Set<Int> = []

  /// The maximum number of keys: three for each of 262,144 entries.
  private static let most = 3 << 18

  /// Returns the indexes of the new entries, and records these as seen.
  mutating func new(in entries: [FeedEntry]) -> [Int] {
    let texts = entries.map(Self.text)
    noteShared(entries, texts)
    var kept: [Int] = []
    for (place, entry) in entries.enumerated() {
      let (telling, others) = keys(of: entry, texts[place])
      if telling.contains(where: { keys.contains($0) }) { continue }
      kept.append(place)
      for key in telling + others { remember(key) }
    }
    return kept
  }

  /// Returns the keys that identify an entry (`telling`), and the key that will identify it if its
  /// identifier turns out to be shared (`others`).
  private func keys(of entry: FeedEntry, _ content: Int) -> (telling: [Int], others: [Int]) {
    guard let id = entry.id else { return ([Self.hash(1, entry.link, content)], []) }
    let text = Self.hash(2, id, content)
    let own = Self.hash(6, entry.link, text)
    if shared.contains(Self.hash(3, id, 0)) { return ([own], []) }
    return ([Self.hash(4, id, Self.hash(5, entry.link, 0)), text], [own])
  }

  /// Records identifiers that belong to different entries of a page.
  private mutating func noteShared(_ entries: [FeedEntry], _ contents: [Int]) {
    var texts: [String: Int] = [:]
    for (entry, text) in zip(entries, contents) {
      guard let id = entry.id else { continue }
      if let other = texts.updateValue(text, forKey: id), other != text {
        shared.insert(Self.hash(3, id, 0))
      }
    }
  }

  private mutating func remember(_ key: Int) {
    guard keys.insert(key).inserted else { return }
    order.append(key)
    guard keys.count > Self.most else { return }
    keys.remove(order[oldest])
    oldest += 1
    if oldest > Self.most {
      order.removeFirst(oldest)
      oldest = 0
    }
  }

  private static func text(_ entry: FeedEntry) -> Int {
    var hasher = Hasher()
    hasher.combine(entry.title?.value ?? "")
    hasher.combine(entry.text?.value ?? "")
    hasher.combine(entry.published)
    for enclosure in entry.enclosures { hasher.combine(enclosure.url) }
    return hasher.finalize()
  }

  private static func hash(_ kind: Int, _ text: String?, _ other: Int) -> Int {
    var hasher = Hasher()
    hasher.combine(kind)
    hasher.combine(text)
    hasher.combine(other)
    return hasher.finalize()
  }
}
