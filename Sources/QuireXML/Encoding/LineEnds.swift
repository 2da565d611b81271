#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A filter that turns every line end into one line feed, as XML 1.0 requires (section 2.11).
///
/// libxml2 does so for text, but not in CDATA sections, and then its offsets are not those of the
/// bytes.
struct LineEnds {
  private var endedWithReturn = false

  mutating func unify(in bytes: inout XMLBuffer<UInt8>, from start: Int) {
    guard start < bytes.count else { return }
    var index = start
    var kept = start
    if endedWithReturn, bytes.base[index] == UInt8(ascii: "\n") { index += 1 }
    endedWithReturn = bytes.base[bytes.count - 1] == UInt8(ascii: "\r")
    if index == kept {
      // Most pages have no carriage return.
      guard let first = memchr(bytes.base + start, 0x0D, bytes.count - start) else { return }
      index = UnsafeRawPointer(first) - UnsafeRawPointer(bytes.base)
      kept = index
    }
    while index < bytes.count {
      var byte = bytes.base[index]
      index += 1
      if byte == UInt8(ascii: "\r") {
        byte = UInt8(ascii: "\n")
        if index < bytes.count, bytes.base[index] == byte { index += 1 }
      }
      bytes.base[kept] = byte
      kept += 1
    }
    bytes.removeLast(bytes.count - kept)
  }
}
