extension String {
  /// Creates a string by copying bytes that are known to be valid UTF-8, as every byte of a decoded
  /// page is. They are not validated again, except on Apple's systems before version 26.
  ///
  /// `isASCII` tells whether all bytes are ASCII; nil if that is unknown.
  @inline(__always)
  package init(checkedUTF8 bytes: UnsafeBufferPointer<UInt8>, isASCII: Bool? = nil) {
    if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
      // SAFETY: the caller has validated the bytes as UTF-8.
      var text = UTF8Span(unchecked: bytes.span, isKnownASCII: isASCII ?? false)
      if isASCII == nil { _ = text.checkForASCII() }
      self.init(copying: text)
    } else {
      self.init(decoding: bytes, as: UTF8.self)
    }
  }

  /// The text without white space at its ends.
  package var trimmingBlanks: String {
    guard let first = utf8.first, let last = utf8.last,
      !(0x21...0x7E).contains(first) || !(0x21...0x7E).contains(last)
    else { return self }
    let start = drop(while: \.isWhitespace)
    guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...last])
  }

  /// Returns the text with every occurrence of `part` replaced. It compares bytes, because as
  /// characters, `part` would not match before a combining accent.
  package func replacing(_ part: String, by other: String) -> String {
    let part = Array(part.utf8)
    guard !part.isEmpty else { return self }
    let bytes = Array(utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == part[0], bytes[index...].starts(with: part) {
        result += other.utf8
        index += part.count
      } else {
        result.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// The text as XML, for an element or for an attribute in double quotes. Line breaks and tabs are
  /// references, because parsers read other ones in attributes as spaces.
  package var escapedForXML: String {
    unicodeScalars.reduce(into: "") { result, scalar in
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\r", "\t": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
  }
}

extension UInt8 {
  /// Whether the byte is white space in XML (1.0, production 3) and in JSON (RFC 8259, section 2).
  @inlinable
  @inline(__always)
  package var isWhiteSpace: Bool { self == 0x20 || self == 0x0A || self == 0x09 || self == 0x0D }

  /// Whether the byte says nothing about the format of a page that begins with it: white space, a
  /// byte of a byte order mark, or a zero of UTF-16.
  package var mayPrecedeDocument: Bool {
    isWhiteSpace || [0xEF, 0xBB, 0xBF, 0xFE, 0xFF, 0].contains(self)
  }
}
