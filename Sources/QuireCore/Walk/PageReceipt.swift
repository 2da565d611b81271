import Synchronization

/// What is to be noted of a page once it is consumed, such as its validators.
///
/// A page that was read is none that a consumer has had: a transform may fail on it, and what is loaded ahead may
/// never be delivered. So the page takes its receipts along, through transforms and readers that make one page of
/// several, and the consumer gives them by asking for more. A part of a page has none, but for the last one.
package final class PageReceipt: Sendable {
  private let note: @Sendable () -> Void
  private let isGiven = Atomic(false)
  private let isClaimed = Atomic(false)

  /// `note` is called once at the most, on the consumer's task.
  package init(_ note: @escaping @Sendable () -> Void) { self.note = note }

  fileprivate func give() {
    if !isGiven.exchange(true, ordering: .relaxed) { note() }
  }

  fileprivate func claim() { isClaimed.store(true, ordering: .relaxed) }

  fileprivate var mayBeGivenByAsking: Bool { !isClaimed.load(ordering: .relaxed) }
}

extension [PageReceipt] {
  /// The pages are consumed. What a walk reads for another one is not: only the outer one's consumer can tell.
  package func give() {
    guard !isEmpty, WalkReading.current == nil else { return }
    for receipt in self { receipt.give() }
  }

  /// The consumer asks for more pages before it is done with these, and says by `give()` when it is.
  package func claim() {
    for receipt in self { receipt.claim() }
  }

  /// The consumer that has these pages in hand asks for the next one.
  mutating func askedForMore() {
    guard !isEmpty else { return }
    filter(\.mayBeGivenByAsking).give()
    self = []
  }
}
