#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Measures the text between two tags, and the CDATA section, that a page which is not parsed any more ends
/// with: what is to be mended is kept until it is whole, and a text without end must not be.
struct XMLTextGuard {
  /// Where the search goes on.
  private var searched = 0
  /// Where the last tag or the open section begins.
  private var start = 0
  private var isInSection = false

  private static let opening = "<![CDATA["

  /// Bytes from the last `<`, or from the beginning of the open section, to the end of `text`, of which what
  /// came the last time is the beginning.
  mutating func longest(in text: UnsafeBufferPointer<UInt8>) -> Int {
    while searched < text.count, let base = text.baseAddress {
      let mark = Int32(isInSection ? 0x5D : 0x3C)
      guard let found = memchr(base + searched, mark, text.count - searched) else {
        searched = text.count
        break
      }
      let place = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      let rest = text[place...]
      let wanted = isInSection ? "]]>" : Self.opening
      let isWhole = rest.prefix(wanted.utf8.count).elementsEqual(wanted.utf8)
      if !isWhole, rest.count < wanted.utf8.count, wanted.utf8.starts(with: rest) {
        // It may go on with the next bytes.
        searched = place
        break
      }
      searched = place + 1
      if !isInSection { start = place }
      if isWhole {
        isInSection.toggle()
        start = place
      }
    }
    return text.count - start
  }
}
