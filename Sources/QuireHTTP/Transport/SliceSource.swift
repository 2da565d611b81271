import Synchronization

/// Slices in memory, handed out once.
final class SliceSource: Sendable {
  private let rest: Mutex<ArraySlice<[UInt8]>>
  let total: Int

  init(_ slices: [[UInt8]]) {
    rest = Mutex(slices[...])
    total = slices.reduce(0) { $0 + $1.count }
  }

  func next() -> [UInt8]? {
    rest.withLock { $0.popFirst() }
  }
}
