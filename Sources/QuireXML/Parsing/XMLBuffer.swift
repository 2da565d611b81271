/// Memory that grows, for the tape: trivial, so that callbacks from C cost no reference counting.
///
/// Whoever has it last calls `free()`.
struct XMLBuffer<Element: BitwiseCopyable> {
  private(set) var base: UnsafeMutablePointer<Element>
  private(set) var count = 0
  private var capacity: Int

  init(capacity: Int) {
    base = .allocate(capacity: max(capacity, 16))
    self.capacity = max(capacity, 16)
  }

  func free() { base.deallocate() }

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

  /// Forgets the first elements and moves the others to the front.
  mutating func removeFirst(_ number: Int) {
    base.update(from: base + number, count: count - number)
    count -= number
  }

  @inline(never)
  private mutating func grow(to needed: Int) {
    let wider = max(needed, capacity * 2)
    let moved = UnsafeMutablePointer<Element>.allocate(capacity: wider)
    moved.update(from: base, count: count)
    base.deallocate()
    base = moved
    capacity = wider
  }
}
