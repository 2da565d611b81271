import Synchronization

/// An action that is due once a page is consumed, such as storing its validators.
///
/// A page that was read need not reach a consumer: a transform may fail on it, and a page loaded
/// ahead may never be delivered. So a page carries its receipts, through transforms and through
/// readers that make one page of several, and the consumer confirms them by asking for more. Of a
/// page in parts, only the last part has receipts.
package final class PageReceipt: Sendable {
  private let note: @Sendable () -> Void
  private let isConfirmed = Atomic(false)
  private let isDeferred = Atomic(false)

  /// Creates a receipt; `note` is called at most once, on the consumer's task.
  package init(_ note: @escaping @Sendable () -> Void) { self.note = note }

  fileprivate func confirm() {
    if !isConfirmed.exchange(true, ordering: .relaxed) { note() }
  }

  fileprivate func deferConfirmation() { isDeferred.store(true, ordering: .relaxed) }

  fileprivate var isConfirmedByNextRequest: Bool { !isDeferred.load(ordering: .relaxed) }
}

extension [PageReceipt] {
  /// Marks the pages as consumed. Inside a walk that another walk reads through this does nothing:
  /// only the consumer of the outer walk knows what is consumed.
  package func confirm() {
    guard !isEmpty, WalkReading.current == nil else { return }
    for receipt in self { receipt.confirm() }
  }

  /// Keeps requests for more pages from confirming the receipts; the consumer calls `confirm()`
  /// when it is done with the pages.
  package func deferConfirmation() {
    for receipt in self { receipt.deferConfirmation() }
  }

  /// Confirms the receipts that were not deferred, because the consumer asks for the next page.
  mutating func confirmBeforeNextRequest() {
    guard !isEmpty else { return }
    filter(\.isConfirmedByNextRequest).confirm()
    self = []
  }
}
