import CXML2

/// A growing array for the tape, of trivial memory, so that callbacks from C need no reference
/// counting.
///
/// The last owner calls `release()`. Large memory is mapped in pages of the system, which move
/// without a copy when it grows, and take room only once written. `realloc` may copy into freed
/// memory, and then both copies take room.
struct XMLBuffer<Element: BitwiseCopyable> {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private(set) var capacity: Int

  init(capacity: Int) {
    self.capacity = max(capacity, 16)
    base = Self.memory(nil, 0, capacity: self.capacity)
  }

  /// The elements, which stand until the buffer changes.
  @inline(__always)
  var elements: UnsafeBufferPointer<Element> { UnsafeBufferPointer(start: base, count: count) }

  func release() { quire_memory_release(base, capacity * MemoryLayout<Element>.stride) }

  @inline(__always)
  mutating func append(_ element: Element) {
    if count == capacity { grow(to: count + 1) }
    base[count] = element
    count += 1
  }

  @inline(__always)
  mutating func append(_ elements: UnsafePointer<Element>, count more: Int) {
    if count + more > capacity { grow(to: count + more) }
    (base + count).update(from: elements, count: more)
    count += more
  }

  mutating func removeAll() { count = 0 }

  mutating func removeLast(_ number: Int) { count -= number }

  mutating func reserve(_ needed: Int) {
    if needed > capacity { grow(to: needed) }
  }

  @inline(never)
  private mutating func grow(to needed: Int) {
    let old = capacity
    capacity = max(needed, capacity * 2)
    base = Self.memory(base, old, capacity: capacity)
  }

  private static func memory(
    _ base: UnsafeMutablePointer<Element>?, _ old: Int, capacity: Int
  ) -> UnsafeMutablePointer<Element> {
    let stride = MemoryLayout<Element>.stride
    guard let memory = quire_memory_grow(base, old * stride, capacity * stride) else {
      preconditionFailure("There is no memory for \(capacity) more elements of an XML page.")
    }
    return memory.bindMemory(to: Element.self, capacity: capacity)
  }
}
