import QuireCore
import QuirePagination

/// What was delivered of one page, so that the page can be fetched anew and continued behind it.
///
/// Pure. After a failure the page is fetched anew, and the items that were delivered are passed over,
/// unless the last of them has changed.
struct DeliveredItems {
  /// Items of the page that were delivered, in this walk or before it.
  private(set) var count: Int
  /// The digest of the last of them; nil when another walk delivered it.
  private var digest: Int?
  /// How many of them the present transfer has brought.
  private var passed = 0
  private var fingerprint = ItemsFingerprint()
  private(set) var sample: PageSample?
  /// Bad items that no part has carried yet.
  private var badItems: [BadItem] = []
  /// The index behind the last bad item.
  private var badItemsEnd = 0

  /// Nothing but the first `count` items, which an earlier walk delivered.
  init(_ count: Int) { self.count = count }

  /// A hash of all items that the present transfer has brought; nil when unknown.
  var hash: Int? { fingerprint.value }

  /// The page is fetched anew.
  mutating func began() {
    passed = 0
    fingerprint = ItemsFingerprint()
    sample = nil
  }

  /// Takes in items as they come, and returns those that are to be delivered. Those of `badItems` that
  /// come without an item are kept for the next part.
  mutating func received<Item>(
    _ items: DecodedItems<Item>, isLast: Bool
  ) throws -> DecodedItems<Item> {
    fingerprint.add(items)
    if let more = items.sample {
      if sample == nil { sample = more } else { sample?.append(more) }
    }
    var rest = items
    let known = min(count - passed, items.items.count)
    if known > 0 {
      passed += known
      if passed == count, let digest, let again = items.digests?[known - 1], again != digest {
        throw changed(passed)
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
    passed += rest.items.count
    digest = rest.digests?.last ?? digest
    if !isLast, rest.items.isEmpty { swap(&badItems, &rest.badItems) }
    return rest
  }

  /// Throws `pageChanged` where the transfer is over and has not brought what was delivered.
  private func ended() throws {
    guard passed < count else { return }
    throw digest == nil ? PageError.pageChanged(passed, count) : changed(passed + 1)
  }

  /// Throws `pageChanged` where the server says that there is no page, and items of it were delivered.
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

/// A hash of all items of a page that are not there at the same time, made of those of each.
private struct ItemsFingerprint {
  private var digest = ContentDigest()
  private var isEmpty = true
  private var isKnown = true

  /// Adds the items that come next; how many come at once makes no difference.
  mutating func add<Item>(_ items: DecodedItems<Item>) {
    guard items.count > 0 else { return }
    isEmpty = false
    // Bad items have no digest: pages that differ in nothing else are not the same.
    guard items.badItems.isEmpty, let digests = items.digests else {
      isKnown = false
      return
    }
    for item in digests { withUnsafeBytes(of: item) { digest.add($0) } }
  }

  /// The hash; nil without items, and where one of them is not in it.
  var value: Int? { isEmpty || !isKnown ? nil : digest.value }
}
