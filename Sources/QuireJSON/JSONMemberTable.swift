import QuirePagination

/// What is known of the names of objects while their item is decoded, a run of words for each object.
///
/// Where names are looked for as they stand in the page, that is how far they have been read. Where each
/// would have to be changed at every look, it is a byte for each name, made of its length and some of its
/// letters as changed, so that a key is compared with eight names at once, and then the node of each.
struct JSONMemberTable {
  private var storage: UnsafeMutableRawPointer
  private var capacity = 512
  private var used = 0
  /// Tells the runs of this item from those of items before it.
  private(set) var generation: UInt32 = 0

  init() { storage = .allocate(byteCount: capacity, alignment: 8) }

  /// To be called once, when the table is used no more.
  func free() { storage.deallocate() }

  mutating func removeAll() {
    used = 0
    generation &+= 1
  }

  /// Makes room for the names of an object, and returns where its run starts: signatures of eight names
  /// a word, then the nodes.
  @inline(__always)
  mutating func reserve(names: Int) -> Int {
    let start = used
    used += Self.size(ofSignatures: names) + (names * 4 + 7) & ~7
    if used > capacity { grow() }
    if names > 0 {
      storage.storeBytes(of: 0, toByteOffset: start + (names - 1) & ~7, as: UInt64.self)
    }
    return start
  }

  /// Makes room for how far an object's names have been read, and returns where that is.
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

  @inline(__always)
  private static func size(ofSignatures names: Int) -> Int { (names + 7) & ~7 }

  /// Notes a name.
  @inline(__always)
  func set(_ number: Int, of names: Int, in run: Int, _ signature: UInt8, node: Int) {
    storage.storeBytes(of: signature, toByteOffset: run + number, as: UInt8.self)
    storage.storeBytes(
      of: UInt32(truncatingIfNeeded: node),
      toByteOffset: run + Self.size(ofSignatures: names) + number * 4, as: UInt32.self)
  }

  /// The node of a name.
  @inline(__always)
  func node(_ number: Int, of names: Int, in run: Int) -> Int {
    Int(
      storage.load(
        fromByteOffset: run + Self.size(ofSignatures: names) + number * 4, as: UInt32.self))
  }

  /// The signatures of eight names, the first in the lowest byte; those behind the last name mean
  /// nothing.
  @inline(__always)
  subscript(run: Int, word: Int) -> UInt64 {
    UInt64(littleEndian: storage.load(fromByteOffset: run + word * 8, as: UInt64.self))
  }

  /// A byte made of a name.
  @inline(__always)
  static func signature(_ name: UnsafePointer<UInt8>, _ count: Int) -> UInt8 {
    guard count > 0 else { return 0 }
    let letters =
      UInt32(name[0]) &* 7 &+ UInt32(name[count >> 1]) &* 31 &+ UInt32(name[count - 1]) &* 101
    return UInt8(truncatingIfNeeded: UInt32(truncatingIfNeeded: count) &* 57 &+ letters)
  }
}

/// How far the names of an object have been read: a type asks for its members in the page's order, as a rule,
/// so that the next key is one of the next names.
struct JSONNameProgress {
  /// The first name that was not passed.
  private var next: UInt32
  /// Bits of the names before it; of a key with another bit, none of them is the name.
  private var passed: UInt64 = 0

  init(from firstName: Int) { next = UInt32(truncatingIfNeeded: firstName) }

  /// The first name of these bytes between `first` and `end`; -1 when there is none. Passes it.
  ///
  /// `isOdd` is whether a name before it, or any where there is none, has to be told by other means: one
  /// with escapes, and one that is not ASCII unless `byBytes`.
  @inline(__always)
  mutating func find(
    _ key: UnsafePointer<UInt8>, _ length: Int, from first: Int, to end: Int,
    in bytes: UnsafePointer<UInt8>, _ tape: UnsafePointer<UInt64>, byBytes: Bool = false
  ) -> (name: Int, isOdd: Bool) {
    let bit = Self.bit(key, length)
    let next = Int(next)
    var passed = passed
    var isOdd = false
    var name = passed & bit == 0 ? next : first
    while name < end {
      let word = JSONWord(bits: tape[name])
      if word.isKind(.string) || byBytes && word.isKind(.unicodeString) {
        if JSONItemContext.equal(bytes + word.offset, word.length, key, length) {
          if name >= next, !isOdd {
            self.next = UInt32(truncatingIfNeeded: Self.name(after: name, tape))
            self.passed = passed | bit
          }
          return (name, isOdd)
        }
        if name >= next { passed |= Self.bit(bytes + word.offset, word.length) }
      } else {
        isOdd = true
      }
      name = Self.name(after: name, tape)
    }
    return (-1, isOdd)
  }

  @inline(__always)
  private static func name(after name: Int, _ tape: UnsafePointer<UInt64>) -> Int {
    JSONWord(bits: tape[name + 1]).isContainer ? Int(tape[name + 2] >> 32) : name + 2
  }

  @inline(__always)
  private static func bit(_ name: UnsafePointer<UInt8>, _ length: Int) -> UInt64 {
    1 &<< (UInt64(truncatingIfNeeded: length) &* 11 &+ (length > 0 ? UInt64(name[0]) : 0))
  }
}
