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
  private let memory: Mutex<Memory>

  private struct Memory: Sendable {
    var seen = SeenEntries()
    /// The position of the last page read, and what was seen before it.
    var last: (position: Position, before: SeenEntries)?
    /// The identities of the requests that were answered.
    var visited: Set<Int> = []
    /// The number of consecutive pages without new entries.
    var stale = 0
  }

  /// The most consecutive pages without new entries in a feed with links, because archives may
  /// repeat the feed (RFC 5005, section 4).
  private static let mostStale = 3

  init(_ base: PageLoader<FeedEntry>, _ paging: FeedPaging) {
    (self.base, self.paging) = (base, paging)
    memory = Mutex(Memory())
  }

  private init(copying other: FeedPageReader) {
    base = other.base
    paging = other.paging
    memory = Mutex(other.memory.withLock { $0 })
  }

  // Leaves the consumer's actor, as the loader does.
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

  /// Whether an error means that there is nothing at an address.
  private static func isGone(_ error: PageError) -> Bool {
    [404, 410].contains(error.response?.status.code ?? 0)
  }

  /// An empty page in the place of a sitemap that its index lists and the server does not have, since indexes
  /// are seldom kept up with what they list, and the other sitemaps are none the worse for it.
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

  private func settle(
    _ page: Page<FeedEntry>, at position: Position, _ isNumbered: Bool
  ) -> Page<FeedEntry> {
    memory.withLock { memory in
      if let last = memory.last, last.position == position { memory.seen = last.before }
      memory.last = (position, memory.seen)
      // Without a next page there is no loop.
      if page.next != nil { memory.visited.insert(base.identity(of: position)) }
      let kept = memory.seen.new(in: page.items)
      var result = page
      if kept.count < page.items.count {
        result = page.withItems(kept.map { page.items[$0] })
        result.head.origins = page.origins(ofItems: kept)
        result.traffic.duplicates += page.items.count - kept.count
      }
      memory.stale = kept.isEmpty && !page.items.isEmpty ? memory.stale + 1 : 0
      end(&result, memory, isNumbered)
      return result
    }
  }

  /// Ends the walk if no new entries are to be expected.
  private func end(_ page: inout Page<FeedEntry>, _ memory: Memory, _ isNumbered: Bool) {
    guard let next = page.next else { return }
    if isNumbered, memory.stale > 0 {
      // The server ignores the parameter.
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
  // Loops are found by their requests, and are ends here.
  var repeatedPositions: Position.Repetition { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}

extension WalkReport.Warning.Code {
  /// A feed's links to older entries form a loop; the walk ended there.
  public static let feedLoop = Self("feedLoop")
  /// A sitemap that an index lists does not exist (404, 410); the walk went on with the next one.
  public static let missingSitemap = Self("missingSitemap")
}

/// The entries of a feed that were seen, so that none is delivered twice.
///
/// Entries are the same if identifier and address are equal, or identifier and text; without an
/// identifier, if address and text are. The publication date counts as text. An identifier that one
/// page gives to different entries is ignored: these entries, and earlier ones with it, are
/// compared by text and address. Remembers hashes of the last 262,144 entries.
struct SeenEntries: Sendable {
  private var keys: Set<Int> = []
  /// The keys in order, so that the oldest can be removed.
  private var order: [Int] = []
  private var oldest = 0
  /// Hashes of identifiers that belong to different entries.
  private var shared: Set<Int> = []

  private static let most = 3 << 18

  /// The indexes of the new entries, which count as seen from now on.
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

  /// The keys that identify an entry, and the one that would if its identifier were shared.
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
