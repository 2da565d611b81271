extension JSONValue {
  /// Reads one JSON value from a text (RFC 8259) without loss: numbers keep their spelling, objects
  /// the order of their members and repeated names.
  ///
  /// For the small texts beside pages: descriptions, positions, bodies of requests. Throws
  /// `malformed` with the byte at which the text stops being JSON, and `limitExceeded` for more
  /// than 512 levels of nesting.
  package init(parsing text: some Sequence<UInt8>) throws(PageError) {
    let bytes = Array(text)
    var parser = JSONValueParser(bytes)
    do {
      self = try parser.document()
    } catch {
      throw error.pageError(in: bytes)
    }
  }

  /// Reads one JSON value from text.
  package init(parsing text: String) throws(PageError) { try self.init(parsing: text.utf8) }
}

/// A recursive parser, which calls itself once for each level of nesting.
private struct JSONValueParser {
  struct Fault: Error {
    var offset: Int
    var expected: String
    var isTooDeep = false

    func pageError(in bytes: [UInt8]) -> PageError {
      guard !isTooDeep else {
        return PageError(
          .limitExceeded, "The JSON text nests deeper than \(JSONValueParser.depth) levels.")
      }
      let line = bytes.prefix(offset).count { $0 == 0x0A } + 1
      return PageError(
        .malformed,
        "The text is no JSON: at byte \(offset) (line \(line)), \(expected) should stand.")
    }
  }

  static let depth = 512

  private let bytes: [UInt8]
  private var place = 0
  private var level = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { place = 3 }
  }

  mutating func document() throws(Fault) -> JSONValue {
    let value = try value()
    guard byte == nil else { throw fault("the end") }
    return value
  }

  private func fault(_ expected: String) -> Fault { Fault(offset: place, expected: expected) }

  /// The next byte that is not white space; moves `place` to it.
  private var byte: UInt8? {
    mutating get {
      while place < bytes.count {
        switch bytes[place] {
        case 0x20, 0x09, 0x0A, 0x0D: place += 1
        default: return bytes[place]
        }
      }
      return nil
    }
  }

  /// Whether the next byte is `wanted`; if so, moves behind it.
  private mutating func take(_ wanted: Unicode.Scalar) -> Bool {
    guard byte == UInt8(ascii: wanted) else { return false }
    place += 1
    return true
  }

  private mutating func value() throws(Fault) -> JSONValue {
    level += 1
    defer { level -= 1 }
    guard level <= Self.depth else {
      throw Fault(offset: place, expected: "", isTooDeep: true)
    }
    guard let byte else { throw fault("a value") }
    switch byte {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try elements())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
    default:
      for (word, value) in [
        ("true", JSONValue.bool(true)), ("false", .bool(false)), ("null", .null),
      ]
      where bytes[place...].starts(with: word.utf8) {
        place += word.utf8.count
        return value
      }
      throw fault("a value")
    }
  }

  private mutating func members() throws(Fault) -> [JSONValue.Member] {
    place += 1
    var members: [JSONValue.Member] = []
    if take("}") { return members }
    repeat {
      guard byte == UInt8(ascii: "\"") else { throw fault("a member's name in quotes") }
      let name = try string()
      guard take(":") else { throw fault("\":\"") }
      members.append(.init(name, try value()))
    } while take(",")
    guard take("}") else { throw fault("\",\" or \"}\"") }
    return members
  }

  private mutating func elements() throws(Fault) -> [JSONValue] {
    place += 1
    var elements: [JSONValue] = []
    if take("]") { return elements }
    repeat { elements.append(try value()) } while take(",")
    guard take("]") else { throw fault("\",\" or \"]\"") }
    return elements
  }

  private mutating func number() throws(Fault) -> String {
    let start = place
    if bytes[place] == UInt8(ascii: "-") { place += 1 }
    let whole = place
    try digits()
    guard bytes[whole] != UInt8(ascii: "0") || place == whole + 1 else {
      throw Fault(offset: whole, expected: "a number without leading zeros")
    }
    if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
      place += 1
      try digits()
    }
    if place < bytes.count, "eE".utf8.contains(bytes[place]) {
      place += 1
      if place < bytes.count, "+-".utf8.contains(bytes[place]) { place += 1 }
      try digits()
    }
    return String(decoding: bytes[start..<place], as: UTF8.self)
  }

  private mutating func digits() throws(Fault) {
    let start = place
    while place < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[place] { place += 1 }
    guard place > start else { throw fault("a digit") }
  }

  private mutating func string() throws(Fault) -> String {
    place += 1
    var text = ""
    var start = place
    while place < bytes.count, bytes[place] >= 0x20 {
      let byte = bytes[place]
      place += 1
      switch byte {
      case UInt8(ascii: "\""):
        return text + (try self.text(from: start))
      case UInt8(ascii: "\\"):
        text += try self.text(from: start)
        text.append(try escaped())
        start = place
      default: break
      }
    }
    throw fault(
      place < bytes.count ? "an escape instead of a control character" : "a closing quote")
  }

  /// Returns the text from `start` up to the quote or backslash that was just read.
  private func text(from start: Int) throws(Fault) -> String {
    guard let text = try? UTF8Span(validating: bytes.span.extracting(start..<place - 1)) else {
      throw fault("text in UTF-8 before this quote")
    }
    return String(copying: text)
  }

  /// Reads the escape behind a backslash and returns its character.
  private mutating func escaped() throws(Fault) -> Character {
    guard place < bytes.count else { throw fault("an escape") }
    let byte = bytes[place]
    place += 1
    switch byte {
    case _ where "\"\\/bfnrt".utf8.contains(byte):
      return Character(Unicode.Scalar(JSONText.character(forEscape: byte)))
    case UInt8(ascii: "u"):
      var unit = UInt32(try codeUnit())
      if 0xD800..<0xDC00 ~= unit, bytes[place...].starts(with: "\\u".utf8) {
        place += 2
        let low = UInt32(try codeUnit())
        guard 0xDC00..<0xE000 ~= low else { throw fault("the second half of a surrogate pair") }
        unit = 0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00)
      }
      guard let scalar = Unicode.Scalar(unit) else {
        throw fault("both halves of a surrogate pair")
      }
      return Character(scalar)
    default: throw fault("an escape that JSON has")
    }
  }

  private mutating func codeUnit() throws(Fault) -> UInt16 {
    guard place + 4 <= bytes.count,
      bytes[place..<place + 4].allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let unit = UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    else { throw fault("four hexadecimal digits") }
    place += 4
    return unit
  }
}
