/// A hash of all items of a page that are not there at the same time, made of those of each.
struct ItemsFingerprint {
  private var digest = ContentDigest()
  private var isEmpty = true
  private var isKnown = true

  /// Adds the items that come next; how many come at once makes no difference.
  mutating func add<Item>(_ items: DecodedItems<Item>) {
    guard items.count > 0 else { return }
    isEmpty = false
    // Items that were set aside have no digest: pages that differ in nothing else are not the same.
    guard items.badItems.isEmpty, let digests = items.digests else {
      isKnown = false
      return
    }
    for item in digests { withUnsafeBytes(of: item) { digest.add($0) } }
  }

  /// The hash; nil without items, and where one of them is not in it.
  var value: Int? { isEmpty || !isKnown ? nil : digest.value }
}
