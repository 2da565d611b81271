import Synchronization

/// The bytes that a walk may still read, spent while they arrive.
///
/// Reads that run ahead spend the allowance of the walk that began them.
package final class ByteAllowance: Sendable {
  private let limit: Int
  private let spent: Atomic<Int>

  init(limit: Int, spent: Int) {
    self.limit = limit
    self.spent = Atomic(spent)
  }

  /// Whether more bytes came than the walk may read.
  var isExceeded: Bool { spent.load(ordering: .relaxed) > limit }

  /// Takes note of bytes that came.
  ///
  /// Throws `limitExceeded` when they are more than the walk may read: the transfer is to be ended.
  func spend(_ bytes: Int) throws(PageError) {
    let total = spent.add(bytes, ordering: .relaxed).newValue
    guard total > limit else { return }
    throw PageError(
      .limitExceeded,
      """
      The walk may read \(limit) bytes, and this page would be beyond them; its transfer was ended. \
      Raise the limit on bytes, or resume from the checkpoint.
      """)
  }
}
