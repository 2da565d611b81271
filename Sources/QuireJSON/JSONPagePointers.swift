/// Pointers to a page and its tape, which are lent for a call, and point to a copy after it.
///
/// An array lends its address only for a call, in which one item is decoded. But a type may keep
/// its decoder and use it later: for that decoder the page is copied (`copyPage(of:)`).
struct JSONPagePointers {
  var bytes: UnsafePointer<UInt8>
  var tape: UnsafePointer<UInt64>
  /// The copy, which this value owns. `free` is to be called once.
  private var copy: Copy?

  private struct Copy {
    let bytes: UnsafeMutablePointer<UInt8>
    let tape: UnsafeMutablePointer<UInt64>
  }

  /// Creates pointers to zeros, until the page is lent or kept.
  init() { (bytes, tape) = (UnsafePointer(Self.idle.bytes), UnsafePointer(Self.idle.tape)) }

  // SAFETY: written once, here, and never freed.
  nonisolated(unsafe) private static let idle = Copy(
    bytes: zeros(JSONScanner.padding), tape: zeros(2))

  private static func zeros<Element: FixedWidthInteger>(
    _ count: Int
  ) -> UnsafeMutablePointer<Element> {
    let zeros = UnsafeMutablePointer<Element>.allocate(capacity: count)
    zeros.initialize(repeating: 0, count: count)
    return zeros
  }

  /// Sets the pointers.
  mutating func point(to bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>) {
    (self.bytes, self.tape) = (bytes, tape)
  }

  /// Ends a loan: points to the copy, or to zeros if there is none.
  mutating func endLoan() {
    let own = copy ?? Self.idle
    point(to: own.bytes, own.tape)
  }

  /// Copies the page, once, and points to the copy.
  mutating func copyPage(of index: JSONIndex) {
    if copy == nil {
      copy = Copy(bytes: Self.copy(of: index.bytes), tape: Self.copy(of: index.tape))
    }
    endLoan()
  }

  private static func copy<Element: BitwiseCopyable>(
    of elements: [Element]
  ) -> UnsafeMutablePointer<Element> {
    let copy = UnsafeMutablePointer<Element>.allocate(capacity: elements.count)
    elements.withUnsafeBufferPointer { elements in
      if let start = elements.baseAddress { copy.initialize(from: start, count: elements.count) }
    }
    return copy
  }

  func free() {
    copy?.bytes.deallocate()
    copy?.tape.deallocate()
  }
}
