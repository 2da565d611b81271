#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The entries that a walk has seen, so that none is delivered twice.
///
/// On one page, only entries that are equal in all properties but their repairs are the same: nothing
/// shifts there. An entry is the same as one of an earlier page if both have the same identifier, and
/// the same address or text; without an identifier, if they have the same address and text. The
/// publication date is part of the text.
///
/// If one page gives the same identifier to different entries, these entries, and earlier ones with
/// it, are the same only if they have the same address and text, too; if it gives the same address
/// and text to different ones as well, only if all of their properties are equal. An identifier of
/// entries that are alone on their pages and have different titles is such a one, too. Remembers
/// hashes of the last 262,144 entries.
struct SeenEntries: Sendable {
  private var keys: Set<Int> = []
  /// The keys in order, so that the oldest can be removed.
  private var order: [Int] = []
  /// The index in `order` of the oldest key, and of the first one of the last page.
  private var oldest = 0
  private var pageStart = 0
  /// Keys that belong to different entries: of identifiers, and of identifiers with address and text.
  private var shared: Set<Int> = []

  /// The maximum number of keys: three for each of 262,144 entries.
  private static let most = 3 << 18

  /// The keys of an entry.
  private struct EntryKeys {
    /// The identifier; nil if the entry has none.
    var id: Int?
    /// The identifier with the address, and with the text; empty without an identifier.
    var parts: [Int] = []
    /// The identifier with both.
    var content: Int
    /// All properties but the repairs; nil unless another entry has the same content.
    var whole: Int?

    init(_ entry: FeedEntry) {
      let text = SeenEntries.text(entry)
      if let name = entry.id {
        id = SeenEntries.hash(3, name, 0)
        let address = SeenEntries.hash(5, entry.link, 0)
        parts = [SeenEntries.hash(4, name, address), SeenEntries.hash(2, name, text)]
      }
      content = SeenEntries.hash(1, entry.link, SeenEntries.hash(6, entry.id, text))
    }
  }

  /// Returns the indexes of the new entries, and records these as seen.
  mutating func new(in entries: [FeedEntry]) -> [Int] {
    pageStart = order.count
    // Only a hostile feed has as many; a page shows those of its own entries again.
    if shared.count > Self.most { shared.removeAll() }
    let found = keys(of: entries)
    noteShared(found)
    let title = found.count == 1 ? noteSharedLater(entries[0], found[0]) : nil
    var onPage: Set<Int> = []
    let kept = found.indices.filter { place in
      let isRepeat = found[place].whole.map { !onPage.insert($0).inserted } ?? false
      return !isRepeat && !isKnown(found[place])
    }
    for place in kept {
      let own = found[place]
      for key in own.parts + [own.content] { remember(key) }
      if let whole = own.whole { remember(whole) }
    }
    if let title { remember(title) }
    return kept
  }

  /// Forgets the entries of the last page, because it is read again.
  mutating func forgetPage() {
    for key in order[pageStart...] { keys.remove(key) }
    order.removeSubrange(pageStart...)
    oldest = min(oldest, pageStart)
  }

  /// Returns the keys of a page's entries.
  private func keys(of entries: [FeedEntry]) -> [EntryKeys] {
    var found = entries.map(EntryKeys.init)
    var contents: Set<Int> = []
    var several = shared
    for entry in found where !contents.insert(entry.content).inserted {
      several.insert(entry.content)
    }
    for place in found.indices where several.contains(found[place].content) {
      var entry = entries[place]
      entry.repairs = []
      found[place].whole = entry.hashValue
    }
    return found
  }

  /// Whether an earlier page had this entry.
  private func isKnown(_ entry: EntryKeys) -> Bool {
    if let whole = entry.whole, shared.contains(entry.content) { return keys.contains(whole) }
    guard let id = entry.id, !shared.contains(id) else { return keys.contains(entry.content) }
    return entry.parts.contains { keys.contains($0) }
  }

  /// Records keys that belong to different entries of a page.
  private mutating func noteShared(_ entries: [EntryKeys]) {
    var contents: [Int: Int] = [:]
    var wholes: [Int: Int] = [:]
    for entry in entries {
      if let id = entry.id, let other = contents.updateValue(entry.content, forKey: id),
        other != entry.content
      {
        shared.insert(id)
      }
      if let whole = entry.whole, let other = wholes.updateValue(whole, forKey: entry.content),
        other != whole
      {
        shared.insert(entry.content)
      }
    }
  }

  /// Records that the identifier of a page's only entry belongs to different entries, if earlier pages
  /// of one entry had it with other titles: no page shows it for such a feed. Returns the key of the
  /// identifier with the title; nil without an identifier.
  private mutating func noteSharedLater(_ entry: FeedEntry, _ own: EntryKeys) -> Int? {
    guard let id = own.id else { return nil }
    let title = Self.hash(7, entry.title?.value, id)
    let single = Self.hash(8, nil, id)
    if keys.contains(single), !keys.contains(title) { shared.insert(id) }
    remember(single)
    return title
  }

  private mutating func remember(_ key: Int) {
    guard keys.insert(key).inserted else { return }
    order.append(key)
    guard keys.count > Self.most else { return }
    keys.remove(order[oldest])
    oldest += 1
    if oldest > Self.most {
      order.removeFirst(oldest)
      pageStart = max(0, pageStart - oldest)
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
