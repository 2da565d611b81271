import QuirePagination

/// A table of the progress through the names of objects, for the time in which their item is
/// decoded.
struct JSONMemberTable {
  private var storage: UnsafeMutableRawPointer
  private var capacity = 512
  private var used = 0
  /// The number of the current item, by which runs of earlier items are recognised.
  private(set) var generation: UInt32 = 0

  init() { storage = .allocate(byteCount: capacity, alignment: 8) }

  /// Releases the memory. To be called once, after the last use.
  func free() { storage.deallocate() }

  mutating func removeAll() {
    used = 0
    generation &+= 1
  }

  /// Reserves a run for the progress through an object's names and returns its offset.
  @inline(__always)
  mutating func reserveProgress(from firstName: Int) -> Int {
    let start = used
    used += MemoryLayout<JSONNameProgress>.stride
    if used > capacity { grow() }
    progress(in: start).initialize(to: JSONNameProgress(from: firstName))
    return start
  }

  @inline(__always)
  func progress(in run: Int) -> UnsafeMutablePointer<JSONNameProgress> {
    (storage + run).assumingMemoryBound(to: JSONNameProgress.self)
  }

  @inline(never)
  private mutating func grow() {
    let room = max(used, capacity * 2)
    let larger = UnsafeMutableRawPointer.allocate(byteCount: room, alignment: 8)
    larger.copyMemory(from: storage, byteCount: capacity)
    storage.deallocate()
    (storage, capacity) = (larger, room)
  }
}

/// A position among the names of an object. A type usually asks for its members in the page's
/// order, so that the next key is one of the next names.
struct JSONNameProgress {
  /// The node of the first name that was not passed.
  private var next: UInt32
  /// A Bloom filter of the names before `next`: a key whose bit is not set is none of them.
  private var passed: UInt64 = 0

  init(from firstName: Int) { next = UInt32(truncatingIfNeeded: firstName) }

  /// Returns the first name with the bytes of `key` between the nodes `first` and `end`, or -1, and
  /// moves `next` past it.
  ///
  /// `needsTextComparison` is whether bytes do not decide: a name before the result (any name, if
  /// there is no result) has escapes, or is not ASCII while `byBytes` is false. `next` never moves
  /// past such a name.
  @inline(__always)
  mutating func find(
    _ key: UnsafePointer<UInt8>, _ length: Int, from first: Int, to end: Int,
    in bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>, byBytes: Bool = false
  ) -> (name: Int, needsTextComparison: Bool) {
    let bit = Self.bit(key, length)
    let next = Int(next)
    var passed = passed
    var needsTextComparison = false
    var name = passed & bit == 0 ? next : first
    while name < end {
      let word = JSONWord(bits: tape[name])
      if word.isKind(.string) || byBytes && word.isKind(.unicodeString) {
        if JSONItemContext.equal(bytes + word.offset, word.length, key, length) {
          if name >= next, !needsTextComparison {
            self.next = UInt32(truncatingIfNeeded: JSONWord.next(after: name + 1, on: tape))
            self.passed = passed | bit
          }
          return (name, needsTextComparison)
        }
        if name >= next { passed |= Self.bit(bytes + word.offset, word.length) }
      } else {
        needsTextComparison = true
      }
      name = JSONWord.next(after: name + 1, on: tape)
    }
    return (-1, needsTextComparison)
  }

  @inline(__always)
  private static func bit(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt64 {
    1 &<< (UInt64(truncatingIfNeeded: length) &* 11 &+ (length > 0 ? UInt64(name[0]) : 0))
  }
}
