import QuireCore
import QuirePagination

/// A secret to find in a text: as it is or in another letter case, percent-encoded once or several
/// times, escaped as in JSON, XML, a JSON Pointer or Swift, or in several of these ways at once.
struct SecretPattern {
  private let bytes: [UInt8]
  /// The minimum number of bytes by which the beginning of the secret is recognized at the end of a
  /// truncated text.
  private let shortestBeginning: Int

  /// The result of comparing a text with the secret from some offset on.
  enum Match: Equatable {
    case none
    /// The text contains the secret up to this offset.
    case whole(end: Int)
    /// The text ends within the secret.
    case beginning
  }

  init(_ bytes: some Sequence<UInt8>, shortestBeginning: Int = 1) {
    self.bytes = bytes.map(Self.folded)
    self.shortestBeginning = shortestBeginning
  }

  /// Compares the text from `start` on with the secret. With `isCut`, also finds a beginning of the
  /// secret that reaches the end.
  func match(in text: UnsafeBufferPointer<UInt8>, at start: Int, isCut: Bool = false) -> Match {
    guard let first = bytes.first, Self.mayBegin(text[start], first) else { return .none }
    // Pairs of positions in the secret and in the text that were reached; rarely more than one.
    var open = [(matched: 0, offset: start)]
    var seen: Set<Place> = []
    var reachesCut = false
    while let (matched, offset) = open.popLast() {
      if matched == bytes.count { return .whole(end: offset) }
      if offset == text.count {
        reachesCut = reachesCut || matched >= shortestBeginning
        continue
      }
      guard seen.isEmpty || !seen.contains(Place(matched, offset)) else { continue }
      if !open.isEmpty || !seen.isEmpty { seen.insert(Place(matched, offset)) }
      if isCut, matched >= shortestBeginning, Self.isCutEscape(text, at: offset) {
        reachesCut = true
      }
      let byte = text[offset]
      for (value, end) in Self.escapes(text, at: offset) where continues(matched, value) {
        open.append((matched + value.count, end))
      }
      // Repeated escaping puts any number of backslashes before a character.
      if byte == UInt8(ascii: "\\"), matched > 0 { open.append((matched, offset + 1)) }
      if Self.folded(byte) == bytes[matched] || byte == UInt8(ascii: "+") && bytes[matched] == 0x20
      {
        open.append((matched + 1, offset + 1))
      }
    }
    return isCut && reachesCut ? .beginning : .none
  }

  private struct Place: Hashable {
    let matched, offset: Int
    init(_ matched: Int, _ offset: Int) { (self.matched, self.offset) = (matched, offset) }
  }

  private func continues(_ matched: Int, _ value: [UInt8]) -> Bool {
    matched + value.count <= bytes.count
      && zip(bytes[matched...], value).allSatisfy { $0 == Self.folded($1) }
  }

  /// Returns whether a text with this first byte may be a spelling of a secret that begins with
  /// `first`.
  private static func mayBegin(_ byte: UInt8, _ first: UInt8) -> Bool {
    folded(byte) == first || "%\\&~+".utf8.contains(byte)
  }

  private static func folded(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  // MARK: Escapes

  /// Returns all readings of an escape at `offset`, and where each ends.
  private static func escapes(
    _ text: UnsafeBufferPointer<UInt8>, at offset: Int
  ) -> [(value: [UInt8], end: Int)] {
    switch text[offset] {
    case UInt8(ascii: "%"): percentEscapes(text, at: offset)
    case UInt8(ascii: "~"):
      switch byte(of: text, at: offset + 1) {
      case UInt8(ascii: "0"): [([UInt8(ascii: "~")], offset + 2)]
      case UInt8(ascii: "1"): [([UInt8(ascii: "/")], offset + 2)]
      default: []
      }
    case UInt8(ascii: "&"): entity(text, at: offset).map { [$0] } ?? []
    case UInt8(ascii: "\\"): backslashEscapes(text, at: offset)
    default: []
    }
  }

  /// Reads `%XX`, and `%25XX` and so on, which may also be a percent sign followed by text.
  private static func percentEscapes(
    _ text: UnsafeBufferPointer<UInt8>, at offset: Int
  ) -> [(value: [UInt8], end: Int)] {
    var found: [(value: [UInt8], end: Int)] = []
    var digits = offset + 1
    while let value = hex(text, digits, 2) {
      found.append(([UInt8(value)], digits + 2))
      guard value == 0x25 else { break }
      digits += 2
    }
    return found
  }

  /// Reads `\n`, `\u002f`, `\u{2F}`. Other characters may have any number of backslashes before
  /// them.
  private static func backslashEscapes(
    _ text: UnsafeBufferPointer<UInt8>, at offset: Int
  ) -> [(value: [UInt8], end: Int)] {
    switch byte(of: text, at: offset + 1) {
    case UInt8(ascii: "n"): return [([0x0A], offset + 2)]
    case UInt8(ascii: "r"): return [([0x0D], offset + 2)]
    case UInt8(ascii: "t"): return [([0x09], offset + 2)]
    case UInt8(ascii: "\\"): return [([UInt8(ascii: "\\")], offset + 2)]
    case UInt8(ascii: "/"): return [([UInt8(ascii: "/")], offset + 2)]
    case UInt8(ascii: "u") where byte(of: text, at: offset + 2) == UInt8(ascii: "{"):
      var end = offset + 3
      while hex(text, end, 1) != nil, end < offset + 10 { end += 1 }
      guard byte(of: text, at: end) == UInt8(ascii: "}"),
        let value = hex(text, offset + 3, end - offset - 3)
      else { return [] }
      return scalar(value).map { [($0, end + 1)] } ?? []
    case UInt8(ascii: "u"):
      guard let high = hex(text, offset + 2, 4) else { return [] }
      if (0xD800..<0xDC00).contains(high), byte(of: text, at: offset + 6) == UInt8(ascii: "\\"),
        let low = hex(text, offset + 8, 4), (0xDC00..<0xE000).contains(low)
      {
        return scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)).map { [($0, offset + 12)] }
          ?? []
      }
      return scalar(high).map { [($0, offset + 6)] } ?? []
    default: return []
    }
  }

  /// Reads a reference of XML, `&amp;` or `&#228;`.
  static func entity(
    _ text: UnsafeBufferPointer<UInt8>, at offset: Int
  ) -> (value: [UInt8], end: Int)? {
    guard let end = text[offset...].prefix(10).firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = String(decoding: text[(offset + 1)..<end], as: UTF8.self).lowercased()
    let value: [UInt8]? =
      switch name {
      case "amp": [UInt8(ascii: "&")]
      case "lt": [UInt8(ascii: "<")]
      case "gt": [UInt8(ascii: ">")]
      case "quot": [UInt8(ascii: "\"")]
      case "apos": [UInt8(ascii: "'")]
      case _ where name.hasPrefix("#x"):
        UInt32(name.dropFirst(2), radix: 16).flatMap { scalar(Int($0)) }
      case _ where name.hasPrefix("#"): UInt32(name.dropFirst()).flatMap { scalar(Int($0)) }
      default: nil
      }
    return value.map { ($0, end + 1) }
  }

  /// Returns whether the rest of the text is the beginning of an escape.
  private static func isCutEscape(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
    let rest = text.count - offset
    return switch text[offset] {
    case UInt8(ascii: "%"): rest < 3
    case UInt8(ascii: "~"): rest < 2
    case UInt8(ascii: "&"), UInt8(ascii: "\\"): rest < 10
    default: false
    }
  }

  private static func byte(of text: UnsafeBufferPointer<UInt8>, at offset: Int) -> UInt8? {
    offset < text.count ? text[offset] : nil
  }

  private static func hex(
    _ text: UnsafeBufferPointer<UInt8>, _ offset: Int, _ count: Int
  ) -> Int? {
    guard count > 0, offset + count <= text.count else { return nil }
    var value = 0
    for byte in text[offset..<(offset + count)] {
      guard let digit = byte.hexadecimalDigit else { return nil }
      value = value << 4 | Int(digit)
    }
    return value
  }

  private static func scalar(_ value: Int) -> [UInt8]? {
    UInt32(exactly: value).flatMap(Unicode.Scalar.init).map { Array(String($0).utf8) }
  }
}
