import QuireCore

/// Servers that send a page again.
extension PaginationEngine {
  private var repetitionKey: PagePath? {
    for case .noNewItems(let path) in pagination.end { return path }
    return nil
  }

  /// Whether something must be known of all items of a page before any of them is handed out.
  var needsWholePages: Bool {
    let policy = pagination.policy
    return policy.open != nil || policy.expiry != .fail || policy.overlap > 0
      || policy.reversesItems
      || indexRouteExists || repetitionKey != nil || routes.contains { $0.next.looksAtAllItems }
  }

  /// Whether the page is one that was there before: it is the end, and not delivered.
  func isRepetition(_ answer: PageAnswer) throws -> Bool {
    guard let watch = answer.bookmark?.shown, let digest = try digest(of: answer) else {
      return false
    }
    return watch.knows(digest)
  }

  /// What is known of the pages up to this one; nil when nobody asks.
  func shown(with answer: PageAnswer) throws -> ContentWatch? {
    let watch = answer.bookmark?.shown
    guard let digest = try digest(of: answer) else { return watch }
    return watch?.visiting(digest) ?? ContentWatch(digest)
  }

  /// A digest of the items' keys; nil for an empty page, which repeats nothing.
  private func digest(of answer: PageAnswer) throws -> UInt64? {
    guard let key = repetitionKey else { return nil }
    let keys = try answer.document.values(at: key, inItemsOf: items)
    guard !keys.isEmpty else { return nil }
    if keys.allSatisfy({ $0 != nil }) { return ContentWatch.digest(of: keys.compactMap(\.self)) }
    // Items without the key are told apart by all they hold.
    let wholes = try answer.document.values(at: "", inItemsOf: items)
    return ContentWatch.digest(of: zip(keys, wholes).map { $0 ?? $1 ?? .null })
  }
}
