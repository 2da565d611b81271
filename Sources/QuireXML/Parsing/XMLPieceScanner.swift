#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// A scanner that cuts a page into pieces for libxml2, and limits the size of a single construct.
///
/// libxml2 2.9.14 reads a tag as soon as it sees any `>`, even in an attribute's value, and
/// searches an unfinished CDATA section from its start for every piece. So tags, comments,
/// instructions, CDATA sections and document types are passed on complete, and everything else in
/// pieces of 4 KiB that end before a `<` if possible. The pieces depend on the bytes so far, not on
/// their slices. The time is linear: an open construct is searched once for its end.
struct XMLPieceScanner {
  enum Piece: Equatable {
    /// Pass on the bytes up to this one.
    case until(Int)
    /// Wait for more.
    case more
    /// The construct at the start is longer than it may be.
    case tooLong(Construct)
    /// No markup of XML starts like this.
    case unknown
  }

  enum Construct: Equatable {
    case tag, comment, text, doctype
  }

  /// The number of bytes of a piece, unless a construct is longer.
  static let size = 4 << 10

  let limits: XMLLimits
  /// The start of the text that the last piece continued or began.
  private var textStart: Int?
  /// The start of the construct within which the bytes end; nil if they do not.
  private(set) var cutConstructStart: Int?
  /// The index from which the end of the open construct is searched for.
  private var searched = 0
  /// The quote that is open there; 0 for none.
  private var quote: UInt8 = 0

  init(limits: XMLLimits) { self.limits = limits }

  /// Adjusts the indices after the first `count` bytes were removed.
  mutating func forgot(_ count: Int) {
    searched = max(0, searched - count)
    textStart = textStart.map { $0 - count }
  }

  /// Returns the next piece of `bytes`, which starts at `start`; `isLast` is whether all bytes have
  /// arrived.
  mutating func piece(
    of bytes: UnsafeBufferPointer<UInt8>, from start: Int, isLast: Bool
  ) -> Piece {
    guard start < bytes.count else { return .more }
    let piece = piece(of: bytes, from: start)
    switch piece {
    case .until: (searched, quote) = (0, 0)
    case .more where isLast:
      if bytes[start] == UInt8(ascii: "<") { cutConstructStart = start }
      return .until(bytes.count)
    case .more, .tooLong, .unknown: break
    }
    return piece
  }

  private mutating func piece(of bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Piece {
    let end = min(start + Self.size, bytes.count)
    let earlier = textStart
    textStart = nil
    // Text counts as written, with its references, because that is how it is kept.
    if let earlier, Self.endOfText(in: bytes, start..<end) - earlier > limits.textBytes {
      return .tooLong(.text)
    }
    // An open construct is searched once, however small the slices are.
    if searched > start { return waiting(in: bytes, from: start) }
    let special = Self.special(in: bytes, start..<end)
    if special == start { return construct(in: bytes, from: start) }
    if let special { return .until(special) }
    if let tag = Self.last(UInt8(ascii: "<"), in: bytes, (start + 1)..<end) { return .until(tag) }
    if bytes[start] == UInt8(ascii: "<") { return tag(in: bytes, from: start) }
    textStart = earlier ?? start
    return text(in: bytes, from: start, until: end)
  }

  private mutating func waiting(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Piece {
    let second = start + 1 < bytes.count ? bytes[start + 1] : 0
    let isSpecial = second == UInt8(ascii: "!") || second == UInt8(ascii: "?")
    return isSpecial ? construct(in: bytes, from: start) : tag(in: bytes, from: start)
  }

  // MARK: Text

  /// Returns a piece that ends between characters, and not within `]]>`, which text must not hold.
  private func text(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int, until end: Int
  ) -> Piece {
    var cut = end
    while cut > start, cut < bytes.count, bytes[cut] & 0xC0 == 0x80 { cut -= 1 }
    while cut > start, bytes[cut - 1] == UInt8(ascii: "]") { cut -= 1 }
    if cut > start { return .until(cut) }
    // Nothing but brackets: no XML has so many.
    return end - start < Self.size ? .more : .until(end)
  }

  // MARK: Tags

  private mutating func tag(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Piece {
    var index = max(searched, start + 1)
    // Several tags may be in one piece, which is not searched for their ends.
    let longest = max(limits.tagBytes, Self.size)
    let stop = start + min(bytes.count - start, longest)
    while index < stop {
      let byte = bytes[index]
      if byte == UInt8(ascii: "<") {
        // No tag holds a `<`, in quotes or not: libxml2 reports it.
        return .until(index)
      } else if quote != 0 {
        if byte == quote { quote = 0 }
      } else if byte == UInt8(ascii: ">") {
        return .until(index + 1)
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      }
      index += 1
    }
    searched = index
    return bytes.count - start > longest ? .tooLong(.tag) : .more
  }

  // MARK: What starts with <! or <?

  private mutating func construct(
    in bytes: UnsafeBufferPointer<UInt8>, from start: Int
  ) -> Piece {
    func starts(with text: StaticString) -> Bool? {
      for index in 0..<text.utf8CodeUnitCount {
        guard start + index < bytes.count else { return nil }
        if bytes[start + index] != text.utf8Start[index] { return false }
      }
      return true
    }
    let kinds: [(StaticString, StaticString, Construct, Int)] = [
      ("<?", "?>", .comment, limits.commentBytes), ("<!--", "-->", .comment, limits.commentBytes),
      ("<![CDATA[", "]]>", .text, limits.textBytes),
    ]
    for (opening, closing, construct, limit) in kinds {
      guard let isThis = starts(with: opening) else { return .more }
      guard isThis else { continue }
      return whole(
        construct, in: bytes, from: start, opening: opening.utf8CodeUnitCount, until: closing,
        limit: limit)
    }
    guard let isDoctype = starts(with: "<!DOCTYPE") else { return .more }
    return isDoctype ? doctype(in: bytes, from: start) : .unknown
  }

  private mutating func whole(
    _ construct: Construct, in bytes: UnsafeBufferPointer<UInt8>, from start: Int, opening: Int,
    until closing: StaticString, limit: Int
  ) -> Piece {
    let content = start + opening + closing.utf8CodeUnitCount
    let from = max(searched, start + opening)
    if let end = Self.end(of: closing, in: bytes, from: from) {
      return end - content > limit ? .tooLong(construct) : .until(end)
    }
    searched = max(from, bytes.count - closing.utf8CodeUnitCount + 1)
    return bytes.count - content > limit ? .tooLong(construct) : .more
  }

  /// Returns a document type, which ends with the first `>` outside brackets, quotes and comments.
  /// It is searched from its start each time, because it is short.
  private func doctype(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Piece {
    let text = bytes[start..<start + min(bytes.count - start, limits.doctypeBytes)]
    let waiting = bytes.count - start > limits.doctypeBytes ? Piece.tooLong(.doctype) : .more
    var quote: UInt8 = 0
    var isInSubset = false
    var index = start
    while index < text.endIndex {
      let byte = text[index]
      if quote != 0 {
        if byte == quote { quote = 0 }
      } else if text[index...].starts(with: "<!--".utf8) {
        guard let end = Self.end(of: "-->", in: bytes, from: index + 4) else { return waiting }
        index = end - 1
      } else if text[index...].starts(with: "<?".utf8) {
        guard let end = Self.end(of: "?>", in: bytes, from: index + 2) else { return waiting }
        index = end - 1
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: "[") {
        isInSubset = true
      } else if byte == UInt8(ascii: "]") {
        isInSubset = false
      } else if byte == UInt8(ascii: ">"), !isInSubset {
        return .until(index + 1)
      }
      index += 1
    }
    return waiting
  }

  // MARK: Searching

  /// Returns the index after the first `closing`, which ends with `>`, that starts at `from` or
  /// later.
  private static func end(
    of closing: StaticString, in bytes: UnsafeBufferPointer<UInt8>, from: Int
  ) -> Int? {
    let length = closing.utf8CodeUnitCount
    var index = from + length - 1
    while index < bytes.count, let base = bytes.baseAddress,
      let found = memchr(base + index, 0x3E, bytes.count - index)
    {
      let place = UnsafeRawPointer(found) - UnsafeRawPointer(base)
      let isClosing = (1..<length).allSatisfy {
        bytes[place - $0] == closing.utf8Start[length - 1 - $0]
      }
      if isClosing { return place + 1 }
      index = place + 1
    }
    return nil
  }

  /// Returns the index of the first `<!` or `<?`, whose second byte may be just after the range.
  private static func special(in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> Int? {
    var first: Int?
    for mark in [UInt8(ascii: "!"), UInt8(ascii: "?")] {
      var from = range.lowerBound + 1
      let end = min(range.upperBound + 1, bytes.count)
      while from < end, let base = bytes.baseAddress,
        let found = memchr(base + from, Int32(mark), end - from)
      {
        let index = UnsafeRawPointer(found) - UnsafeRawPointer(base)
        if bytes[index - 1] == UInt8(ascii: "<") {
          first = min(first ?? index - 1, index - 1)
          break
        }
        from = index + 1
      }
    }
    return first
  }

  /// Returns the index of the first `<`, or the end of the range.
  private static func endOfText(
    in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
  ) -> Int {
    guard let base = bytes.baseAddress,
      let found = memchr(base + range.lowerBound, 0x3C, range.count)
    else { return range.upperBound }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  private static func last(
    _ byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>
  ) -> Int? {
    guard !range.isEmpty, let base = bytes.baseAddress else { return nil }
    var index = range.upperBound - 1
    while index >= range.lowerBound {
      if base[index] == byte { return index }
      index -= 1
    }
    return nil
  }
}
