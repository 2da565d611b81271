import QuirePagination

/// The names of objects, so that a key finds its member by comparing eight names at once.
///
/// Each object takes a run of words: a byte for each name, made of its length and some of its
/// letters, then the node of each name. Runs are kept while their item is decoded.
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
