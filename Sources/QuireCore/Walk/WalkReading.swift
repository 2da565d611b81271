import Synchronization

/// The page that the current task is reading for a walk, and around it those that it is read for:
/// one walk may read through another.
///
/// Sources find here how much they may read, and a walk that it is asked for a page from inside of
/// its own reading.
package final class WalkReading: Sendable {
  @TaskLocal static var current: WalkReading?

  private let walk: ObjectIdentifier
  private let outer: WalkReading?
  private let allowance: ByteAllowance?
  private let isOver = Atomic(false)

  init(of walk: AnyObject, allowance: ByteAllowance?) {
    self.walk = ObjectIdentifier(walk)
    self.allowance = allowance
    outer = Self.current
  }

  /// Takes note of bytes that came for whatever the current task reads.
  ///
  /// Throws `limitExceeded` when a walk must not read as many.
  package static func received(bytes: Int) throws(PageError) {
    var reading = current
    while let inner = reading {
      try inner.allowance?.spend(bytes)
      reading = inner.outer
    }
  }

  /// Whether the current task is inside of a read of `walk` that goes on.
  static func isInside(_ walk: AnyObject) -> Bool {
    var reading = current
    while let inner = reading {
      if inner.walk == ObjectIdentifier(walk), !inner.isOver.load(ordering: .relaxed) {
        return true
      }
      reading = inner.outer
    }
    return false
  }

  /// The page was read, or was not.
  func end() { isOver.store(true, ordering: .relaxed) }
}
