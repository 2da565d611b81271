import CXML2
import QuirePagination

/// A table that numbers the names of a document. libxml2 keeps each string once, so names are equal
/// if their addresses are.
struct XMLNameTable {
  /// A name as libxml2 keeps it; the strings live as long as the parser.
  struct Entry: BitwiseCopyable {
    var local: UnsafePointer<xmlChar>
    var prefix: UnsafePointer<xmlChar>?
    var namespace: UnsafePointer<xmlChar>?
    /// The number of bytes of `prefix:local`.
    var length: UInt32

    /// Whether this name matches a name of a path.
    func matches(_ wanted: XMLPath.Name) -> Bool {
      switch wanted {
      case .any: true
      case .local(let local, let namespace):
        String(xmlChars: self.local) == local
          && (namespace == nil || namespace == self.namespace.map(String.init(namespace:)) ?? "")
      }
    }
  }

  private(set) var entries = XMLBuffer<Entry>(capacity: 64)
  /// A hash table with open addressing: 0 is empty, any other value the number of an entry plus 1.
  private var slots: UnsafeMutablePointer<UInt32>
  private var mask: Int

  init() {
    slots = Self.empty(256)
    mask = 255
  }

  func release() {
    entries.release()
    slots.deallocate()
  }

  @inline(__always)
  mutating func number(
    _ local: UnsafePointer<xmlChar>, _ prefix: UnsafePointer<xmlChar>?,
    _ namespace: UnsafePointer<xmlChar>?
  ) -> UInt32 {
    var slot = Self.hash(local, prefix, namespace) & mask
    while slots[slot] != 0 {
      let number = slots[slot] - 1
      let entry = entries.base + Int(number)
      if entry.pointee.local == local, entry.pointee.namespace == namespace,
        entry.pointee.prefix == prefix
      {
        return number
      }
      slot = (slot + 1) & mask
    }
    return insert(local, prefix, namespace, at: slot)
  }

  @inline(never)
  private mutating func insert(
    _ local: UnsafePointer<xmlChar>, _ prefix: UnsafePointer<xmlChar>?,
    _ namespace: UnsafePointer<xmlChar>?, at slot: Int
  ) -> UInt32 {
    let prefixLength = prefix.map { xmlStrlen($0) + 1 } ?? 0
    let number = UInt32(entries.count)
    entries.append(
      Entry(
        local: local, prefix: prefix, namespace: namespace,
        length: UInt32(xmlStrlen(local) + prefixLength)))
    slots[slot] = number + 1
    if entries.count * 2 > mask { grow() }
    return number
  }

  private mutating func grow() {
    slots.deallocate()
    mask = mask * 2 + 1
    slots = Self.empty(mask + 1)
    for index in 0..<entries.count {
      let entry = entries.base[index]
      var slot = Self.hash(entry.local, entry.prefix, entry.namespace) & mask
      while slots[slot] != 0 { slot = (slot + 1) & mask }
      slots[slot] = UInt32(index + 1)
    }
  }

  @inline(__always)
  private static func hash(
    _ local: UnsafePointer<xmlChar>, _ prefix: UnsafePointer<xmlChar>?,
    _ namespace: UnsafePointer<xmlChar>?
  ) -> Int {
    let mixed =
      UInt(bitPattern: local) ^ UInt(bitPattern: prefix) &* 31 ^ UInt(bitPattern: namespace) &* 131
    return Int(truncatingIfNeeded: (mixed &* 0x9E37_79B9_7F4A_7C15) >> 32)
  }

  private static func empty(_ count: Int) -> UnsafeMutablePointer<UInt32> {
    let slots = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    slots.initialize(repeating: 0, count: count)
    return slots
  }
}
