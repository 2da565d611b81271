#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A measure of the text, or CDATA section, at the end of a page that is no longer parsed. Such a
/// page is kept until it is complete, to be mended, so a text without end must be stopped.
struct XMLTextGuard {
  /// The index from which the search continues.
  private var searched = 0
  /// The start of the last tag or of the open section.
  private var start = 0
  private var isInSection = false

  private static let opening = "<![CDATA["

  /// Returns the number of bytes from the last `<`, or from the start of the open section, to the
  /// end of `text`, which begins with the text of the last call.
  mutating func openLength(in text: UnsafeBufferPointer<UInt8>) -> Int {
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
        // The mark may continue in the next bytes.
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
