import QuireCore

/// What may stand before a page's JSON.
enum JSONPrologue {
  /// How many bytes to skip: a UTF-8 byte order mark, white space, and one guard against cross-site
  /// script inclusion.
  ///
  /// Throws `malformed` for UTF-16 and UTF-32.
  static func length(of bytes: [UInt8]) throws -> Int {
    try refuseWideEncodings(bytes.prefix(4))
    var start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    start += bytes[start...].prefix { [0x20, 0x09, 0x0A, 0x0D].contains($0) }.count
    for (prefix, needsLine) in guards where bytes[start...].starts(with: prefix.utf8) {
      guard needsLine else { return start + prefix.utf8.count }
      let rest = bytes[(start + prefix.utf8.count)...]
      let lineEnd = rest.prefix(2).firstIndex(of: UInt8(ascii: "\n"))
      if let lineEnd, rest[..<lineEnd].allSatisfy({ $0 == UInt8(ascii: "\r") }) {
        return lineEnd + 1
      }
    }
    return start
  }

  /// The guards in use: Gerrit and Angular's server side, Google, Facebook; and whether a line end
  /// must follow.
  private static let guards: [(prefix: String, needsLine: Bool)] = [
    (")]}'", true), (")]}',", true), ("while(1);", false), ("for(;;);", false),
    ("for (;;);", false),
  ]

  /// JSON starts with an ASCII character, so one of the first two bytes is 0 only in a wide encoding.
  private static func refuseWideEncodings(_ head: ArraySlice<UInt8>) throws {
    guard head.count >= 2 else { return }
    let (first, second) = (head[0], head[1])
    let isMarked = first == 0xFF && second == 0xFE || first == 0xFE && second == 0xFF
    guard isMarked || (first == 0) != (second == 0) || first == 0 && head.count == 4 else { return }
    throw PageError(
      .malformed,
      """
      The page is encoded in UTF-16 or UTF-32; JSON between systems must be UTF-8 \
      (RFC 8259, section 8.1). Ask the server for UTF-8.
      """)
  }
}
