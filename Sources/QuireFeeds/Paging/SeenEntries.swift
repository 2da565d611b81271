#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

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
  /// The index in `order` of the oldest key, and of the first one of the last page.
  private var oldest = 0
  private var pageStart = 0
  /// Hashes of identifiers that belong to different entries.
  private var shared: Set<Int> = []

  /// The maximum number of keys: three for each of 262,144 entries.
  private static let most = 3 << 18

  /// Returns the indexes of the new entries, and records these as seen.
  mutating func new(in entries: [FeedEntry]) -> [Int] {
    pageStart = order.count
    let texts = entries.map(Self.text)
    noteShared(entries, texts)
    var kept: [Int] = []
    for (place, entry) in entries.enumerated() {
      let (identifying, later) = keys(of: entry, texts[place])
      if identifying.contains(where: { keys.contains($0) }) { continue }
      kept.append(place)
      for key in identifying + later { remember(key) }
    }
    return kept
  }

  /// Forgets the entries of the last page, because it is read again.
  mutating func forgetPage() {
    for key in order[pageStart...] { keys.remove(key) }
    order.removeSubrange(pageStart...)
    oldest = min(oldest, pageStart)
  }

  /// Returns the keys that identify an entry (`identifying`), and the key that will identify it if its
  /// identifier turns out to be shared (`later`).
  private func keys(of entry: FeedEntry, _ content: Int) -> (identifying: [Int], later: [Int]) {
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
