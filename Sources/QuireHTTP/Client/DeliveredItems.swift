import QuireCore
import QuirePagination

/// The items of one page that were delivered, so that the page can be fetched again and continued
/// after them.
///
/// Pure. When a failed page is fetched again, the delivered items are skipped, unless the last of
/// them has changed.
struct DeliveredItems {
  /// The number of delivered items, including those that an earlier walk delivered.
  private(set) var count: Int
  /// The digest of the last delivered item; nil if an earlier walk delivered it.
  private var digest: Int?
  /// The number of delivered items that this transfer has brought again.
  private var skipped = 0
  private var fingerprint = ItemsFingerprint()
  private(set) var sample: PageSample?
  /// Bad items that came without an item to deliver, kept for the next part.
  private var badItems: [BadItem] = []
  /// The index after the last bad item.
  private var badItemsEnd = 0

  /// Creates a record of the first `count` items, which an earlier walk delivered.
  init(_ count: Int) { self.count = count }

  /// The hash of all items that this transfer has brought; nil if unknown.
  var hash: Int? { fingerprint.value }

  /// Notes that the page is fetched again.
  mutating func began() {
    skipped = 0
    fingerprint = ItemsFingerprint()
    sample = nil
  }

  /// Takes the next items of the transfer, and returns those to deliver. Bad items that come
  /// without an item are kept for the next part.
  ///
  /// Throws `pageChanged` if the page has changed.
  mutating func received<Item>(
    _ items: DecodedItems<Item>, isLast: Bool
  ) throws -> DecodedItems<Item> {
    fingerprint.add(items)
    if let more = items.sample {
      if sample == nil { sample = more } else { sample?.append(more) }
    }
    var rest = items
    let known = min(count - skipped, items.items.count)
    if known > 0 {
      skipped += known
      if skipped == count, let digest, let again = items.digests?[known - 1], again != digest {
        throw changed(skipped)
      }
      rest.items.removeFirst(known)
      rest.digests?.removeFirst(known)
    }
    rest.badItems.removeAll { $0.index < badItemsEnd }
    badItemsEnd = rest.badItems.last.map { $0.index + 1 } ?? badItemsEnd
    rest.badItems = badItems + rest.badItems
    badItems = []
    if isLast { try ended() }
    count += rest.items.count
    skipped += rest.items.count
    digest = rest.digests?.last ?? digest
    if !isLast, rest.items.isEmpty { swap(&badItems, &rest.badItems) }
    return rest
  }

  /// Throws `pageChanged` if the transfer has ended before the delivered items came again.
  private func ended() throws {
    guard skipped < count else { return }
    throw digest == nil ? PageError.pageChanged(skipped, count) : changed(skipped + 1)
  }

  /// Throws `pageChanged` if items were delivered of a page that the server says is not there.
  func refuteEnd() throws {
    guard count > 0 else { return }
    throw digest == nil ? PageError.pageChanged(0, count) : changed(1)
  }

  private func changed(_ count: Int) -> PageError {
    PageError(
      .pageChanged,
      "The page is not what it was when it broke off: its item \(count - 1), counted from 0, differs from the "
        + "one delivered, or is gone. Start again, or resume from the checkpoint in a new walk if items may be "
        + "missing or come twice.")
  }
}

/// A hash of the items of a page, which arrive one after the other.
private struct ItemsFingerprint {
  private var digest = ContentDigest.stored
  private var isEmpty = true
  private var isKnown = true

  /// Adds the next items. The hash does not depend on how many come at once.
  mutating func add<Item>(_ items: DecodedItems<Item>) {
    guard items.count > 0 else { return }
    isEmpty = false
    // Bad items have no digest, so pages that differ only in these would have equal hashes.
    guard items.badItems.isEmpty, let digests = items.digests else {
      isKnown = false
      return
    }
    for item in digests { withUnsafeBytes(of: item) { digest.add($0) } }
  }

  /// The hash; nil if there are no items, or if one of them has no digest.
  var value: Int? { isEmpty || !isKnown ? nil : digest.value }
}
