import HTTPTypes
public import QuireCore
import QuireHTTP
import QuirePagination
import Synchronization

/// Reads the pages of a feed for one walk. Omits repeated entries, and ends the walk where the
/// publisher's links form a loop or lead to nothing new.
final class FeedPageReader: PageReader {
  private let base: PageLoader<FeedEntry>
  private let paging: FeedPaging
  /// Whether a page is the last to read; nil to read all.
  private let isLast: (@Sendable (Page<FeedEntry>) -> Bool)?
  private let memory: Mutex<Memory>

  private struct Memory: Sendable {
    var seen = SeenEntries()
    /// The position of the last page, so that reading it again does not omit its entries.
    var last: Position?
    /// The identities of the requests for pages that have a next page.
    var visited: Set<Int> = []
    /// The archive that a page led to beside its next page, which is what was read.
    var archive: String?
    var progress = Progress()
    /// The progress before the last page.
    var earlier = Progress()
  }

  /// What the pages of a walk had so far.
  private struct Progress: Sendable {
    /// The number of new entries.
    var entries = 0
    /// The number of pages without new entries since the last one with some, and of their entries.
    var stalePages = 0
    var staleEntries = 0

    mutating func add(_ count: Int, new: Int) {
      entries += new
      guard count > 0, new == 0 else {
        (stalePages, staleEntries) = (0, 0)
        return
      }
      stalePages += 1
      staleEntries += count
    }

    /// Whether the pages without new entries have repeated more entries than there were. Archives
    /// that repeat the feed (RFC 5005, section 4) have at most as many before their first new one.
    var isRepeating: Bool { stalePages >= 3 && staleEntries > entries }
  }

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
      if let next = page.next, let document = page.http?.document {
        paging.passed(document, at: position, before: next)
      }
      return withoutRepeats(page, at: position, isNumbered)
    } catch let error as PageError where isNumbered && Self.meansEnd(error) {
      return Page.absent(after: error.traffic)
    } catch let error as PageError where FeedPaging.isSitemap(position) && Self.isGone(error) {
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
  private static func meansEnd(_ error: PageError) -> Bool {
    [400, 404, 410].contains(error.response?.status.code ?? 0)
      || error.code == .unexpectedMediaType
  }

  /// Returns a page without the entries that were seen before, and without its next page if the
  /// walk ends here.
  private func withoutRepeats(
    _ page: Page<FeedEntry>, at position: Position, _ isNumbered: Bool
  ) -> Page<FeedEntry> {
    memory.withLock { memory in
      if memory.last == position {
        memory.seen.forgetPage()
        memory.progress = memory.earlier
      }
      memory.last = position
      // A page without a next page cannot be part of a loop.
      if page.next != nil { memory.visited.insert(base.identity(of: position)) }
      let kept = memory.seen.new(in: page.items)
      var result = page
      if kept.count < page.items.count {
        result = page.withItems(kept.map { page.items[$0] })
        result.head.origins = page.origins(ofItems: kept)
        result.traffic.duplicates += page.items.count - kept.count
      }
      memory.earlier = memory.progress
      memory.progress.add(page.items.count, new: kept.count)
      if isLast?(page) == true { result.next = nil } else { noteArchive(&result, &memory) }
      endWalk(&result, memory, isNumbered, isSitemap: FeedPaging.isSitemap(position))
      return result
    }
  }

  /// Notes an archive that the walk does not follow because the page has a next page as well, and
  /// warns with the last page if no other page has led there.
  private func noteArchive(_ page: inout Page<FeedEntry>, _ memory: inout Memory) {
    if let links = (page.http?.document as? FeedDocument)?.feed.pages, links.previousArchive != nil
    {
      let isFollowed = links.next == nil || links.next == links.previousArchive
      memory.archive = isFollowed || links.isComplete ? nil : links.previousArchive
    }
    guard page.next == nil, let archive = memory.archive else { return }
    let link: JSONValue = ["href": .string(archive), "method": "GET"]
    let identity = base.identity(of: Bookmark(.request(link)).position)
    guard !memory.visited.contains(identity), identity != base.identity(of: page.position) else {
      return
    }
    page.warnings.append(
      WalkReport.Warning(
        .unreadArchive,
        "Pages of the feed lead to a next page and to an archive, and the last of the next pages does "
          + "not lead to the archive: entries in it are missing. Read the archive by its own address, "
          + "the prev-archive link of the feed."))
  }

  /// Ends the walk after this page if no new entries are to be expected.
  private func endWalk(
    _ page: inout Page<FeedEntry>, _ memory: Memory, _ isNumbered: Bool, isSitemap: Bool
  ) {
    guard let next = page.next else { return }
    if isNumbered, memory.progress.stalePages > 1 {
      // The server ignores the page number and repeats its entries. A single page repeats those of
      // the page before it if as many entries were published meanwhile.
      page.next = nil
    } else if memory.visited.contains(base.identity(of: next)) {
      page.next = nil
      page.warnings.append(
        WalkReport.Warning(
          .feedLoop,
          "The feed's link to older entries leads to a page that was read before; it ends here."))
    } else if !isSitemap, memory.progress.isRepeating {
      // An index has a limited number of sitemaps, which may well list the same addresses.
      page.next = nil
      page.warnings.append(
        WalkReport.Warning(
          .repeatingFeed,
          "\(memory.progress.stalePages) pages of the feed in a row had no entry that was not read before, and "
            + "more entries than were read; it ends here. Entries behind these pages are missing."))
    }
  }

  func copy() -> any PageReader<FeedEntry> { FeedPageReader(copying: self) }
  func leave() { base.leave() }
  func leaveNext() { base.leaveNext() }
  func positions(after position: Position, total: Total?, pages: ClosedRange<Int>) -> [Position] {
    []
  }
  func warnings(for end: WalkReport.End) -> [WalkReport.Warning] { base.warnings(for: end) }
  func close(at position: Position?) async { await base.close(at: position) }
  func identity(of position: Position) -> Int { base.identity(of: position) }
  func digest(of position: Position) -> UInt64 { base.digest(of: position) }
  var needsClosing: Bool { base.needsClosing }
  // The feed's own loops never reach the walk's check: `endWalk` finds them by their requests, and ends
  // the walk there.
  var repeatedPositions: Position.Repetition { base.repeatedPositions }
  var allowsLookAhead: Bool { base.allowsLookAhead }
  var identity: ListingIdentity? { base.identity }
}

extension WalkReport.Warning.Code {
  /// A loop in a feed's links to older entries; the walk ended there.
  public static let feedLoop = Self("feedLoop")
  /// A feed whose links led from one page without a new entry to the next, for more entries than
  /// there were; the walk ended there, and entries behind these pages are missing.
  public static let repeatingFeed = Self("repeatingFeed")
  /// A feed's link to its archive (`prev-archive`) that was not followed, because the page led to a
  /// next page as well; entries in the archive are missing.
  public static let unreadArchive = Self("unreadArchive")
  /// A sitemap that an index lists but that does not exist (404, 410); the walk continued with the
  /// next one.
  public static let missingSitemap = Self("missingSitemap")
}
