import QuirePagination

/// Reads a page once, checks that it is JSON (RFC 8259), and writes its tape.
///
/// There is no recursion: while a container is open, its second word holds the tape index of the
/// container around it, and its first word the count of what was read in it so far. The bytes are
/// padded with zeros, which are neither white space nor part of any token: so no read needs to ask
/// for the end, and sixteen bytes can be loaded anywhere. One file, because the optimizer must see
/// the hot loop whole; what is added up there counts the page's bytes, and cannot overflow.
struct JSONScanner {
  /// Zero bytes that must follow the page.
  static let padding = 16

  private let bytes: UnsafePointer<UInt8>
  private let end: Int
  private let words: UnsafeMutablePointer<UInt64>
  private let capacity: Int
  private let limits: DecodingLimits

  private var position: Int
  /// Words written.
  private(set) var used = 0
  /// Whether any value is flawed.
  private(set) var hasFlaws = false

  /// The innermost open container, and what was read in it.
  private var container = 0
  private var isObject = false
  private var count = 0
  private var depth = 0

  /// A scanner of `bytes[start..<end]`, which `padding` zeros follow; `words` has room for
  /// `wordCapacity(for:limits:)`.
  init(
    bytes: UnsafePointer<UInt8>, start: Int, end: Int, words: UnsafeMutablePointer<UInt64>,
    limits: DecodingLimits
  ) {
    self.bytes = bytes
    self.end = end
    self.words = words
    self.limits = limits
    capacity = Self.wordCapacity(for: end - start, limits: limits)
    position = start
  }

  /// Words that no page of that many bytes can exceed: each takes a byte, but for a container that
  /// was not closed. Room that is not written costs no memory.
  static func wordCapacity(for byteCount: Int, limits: DecodingLimits) -> Int {
    max(0, min(byteCount + min(byteCount, limits.depth), limits.events, JSONWord.maximumLength))
  }

  /// What should follow the value of a page.
  static let end: StaticString = "the end of the page"

  /// Reads the whole page.
  mutating func scan() throws(JSONFault) {
    // A copy that nothing else has the address of stays in registers.
    var scanner = self
    defer { self = scanner }
    try scanner.readPage()
  }

  @inline(__always)
  private mutating func readPage() throws(JSONFault) {
    position = Self.endOfWhiteSpace(bytes, from: position)
    repeat { try readValue() } while try readSeparator()
    position = Self.endOfWhiteSpace(bytes, from: position)
    if position != end { throw Self.unexpected(position, end, Self.end) }
  }

  // MARK: Values

  /// Reads a scalar or an empty container, behind the opening brackets of any others; each with the name before
  /// it, which is read in one place so that the loop stays small enough to be compiled as one.
  @inline(__always)
  private mutating func readValue() throws(JSONFault) {
    while true {
      if isObject { try readName() }
      switch bytes[position] {
      case UInt8(ascii: "\""): return try readString()
      case UInt8(ascii: "{"):
        try open(.object)
        if closeIfEmpty(UInt8(ascii: "}")) { return }
      case UInt8(ascii: "["):
        try open(.array)
        if closeIfEmpty(UInt8(ascii: "]")) { return }
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): return try readNumber()
      case UInt8(ascii: "t"): return try readLiteral(.true, "true", 0x6575_7274)
      case UInt8(ascii: "f"): return try readLiteral(.false, "false", 0x6573_6C61)
      case UInt8(ascii: "n"): return try readLiteral(.null, "null", 0x6C6C_756E)
      default: throw Self.unexpected(position, end, "a value")
      }
    }
  }

  /// Reads what follows a value: closing brackets and a comma. Returns false at the end.
  @inline(__always)
  private mutating func readSeparator() throws(JSONFault) -> Bool {
    while depth > 0 {
      count &+= 1
      skipWhiteSpace()
      let byte = bytes[position]
      if byte == UInt8(ascii: ",") {
        position &+= 1
        skipWhiteSpace()
        return true
      }
      guard byte == (isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
        throw Self.unexpected(
          position, end, isObject ? "a comma or \"}\"" : "a comma or \"]\"")
      }
      close()
    }
    return false
  }

  @inline(__always)
  private mutating func readName() throws(JSONFault) {
    guard bytes[position] == UInt8(ascii: "\"") else {
      throw Self.unexpected(position, end, "a name in quotes")
    }
    try readString()
    skipWhiteSpace()
    guard bytes[position] == UInt8(ascii: ":") else {
      throw Self.unexpected(position, end, "a colon")
    }
    position &+= 1
    skipWhiteSpace()
  }

  /// Reads `null`, `true` or `false`, whose first letter was seen; `lastFour` are its last letters.
  @inline(__always)
  private mutating func readLiteral(
    _ kind: JSONWord.Kind, _ name: StaticString, _ lastFour: UInt32
  ) throws(JSONFault) {
    let next = position &+ name.utf8CodeUnitCount
    let found = UnsafeRawPointer(bytes + next - 4).loadUnaligned(as: UInt32.self)
    guard UInt32(littleEndian: found) == lastFour else {
      throw Self.literalFault(name, bytes, position, end)
    }
    try append(JSONWord(kind, at: position, length: next &- position))
    position = next
  }

  // MARK: Containers

  @inline(__always)
  private mutating func open(_ kind: JSONWord.Kind) throws(JSONFault) {
    guard depth < limits.depth else {
      throw JSONFault(reason: .depth(limits.depth), offset: position)
    }
    guard used &+ 1 < capacity else { throw Self.tooManyEvents(position, capacity) }
    if depth > 0 { words[container] |= UInt64(bitPattern: Int64(count)) }
    words[used] = JSONWord(kind, at: position, length: 0).bits
    words[used &+ 1] = UInt64(bitPattern: Int64(container))
    container = used
    isObject = kind == .object
    count = 0
    depth &+= 1
    used &+= 2
    position &+= 1
  }

  @inline(__always)
  private mutating func closeIfEmpty(_ bracket: UInt8) -> Bool {
    skipWhiteSpace()
    guard bytes[position] == bracket else { return false }
    close()
    return true
  }

  /// Closes the innermost container at its bracket and returns to the one around it.
  @inline(__always)
  private mutating func close() {
    position &+= 1
    depth &-= 1
    words[container] |= UInt64(bitPattern: Int64(count))
    let outer = Int(truncatingIfNeeded: words[container &+ 1])
    words[container &+ 1] = JSONWord.closing(next: used, endOffset: position)
    guard depth > 0 else { return }
    let word = JSONWord(bits: words[outer])
    words[outer] |= words[container] & JSONWord.spaced
    container = outer
    isObject = word.isKind(.object)
    count = word.length
    words[outer] ^= UInt64(bitPattern: Int64(count))
  }

  @inline(__always)
  private mutating func append(_ word: JSONWord) throws(JSONFault) {
    guard used < capacity else { throw Self.tooManyEvents(position, capacity) }
    words[used] = word.bits
    used &+= 1
  }

  // MARK: Strings

  /// Reads the string whose opening quote is here; the common one, plain ASCII, by eight bytes.
  @inline(__always)
  private mutating func readString() throws(JSONFault) {
    let start = position &+ 1
    var index = start
    while true {
      let plain = Self.plainBytes(bytes + index)
      index &+= plain
      if plain < 16 { break }
    }
    var kind = JSONWord.Kind.string
    if bytes[index] != UInt8(ascii: "\"") {
      let tail = try JSONStringScanner.scan(bytes, from: index, end: end)
      (kind, index) = (tail.kind, tail.end)
      hasFlaws = hasFlaws || kind.isFlawed
    }
    guard index &- start <= JSONWord.maximumLength else {
      throw JSONFault(reason: .stringLength, offset: start &- 1)
    }
    try append(JSONWord(kind, at: start, length: index &- start))
    position = index &+ 1
  }

  /// Eight bytes, the first in the lowest bits.
  @inline(__always)
  static func load(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }

  /// How many of sixteen bytes stand before the first that is a quote, a backslash, a control character or
  /// not ASCII; 16 when none is.
  @inline(__always)
  static func plainBytes(_ bytes: UnsafePointer<UInt8>) -> Int {
    let chunk = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
    // The high bit of each byte says it. Subtracting sets that of no byte between 0x20 and 0x7F but the one that
    // is looked for. Comparisons of vectors are not compiled to those of the processor.
    let quote = (chunk ^ 0x22) &- 1
    let backslash = (chunk ^ 0x5C) &- 1
    let special = (chunk | quote | backslash | (chunk &- 0x20)) & 0x80
    let halves = unsafeBitCast(special, to: SIMD2<UInt64>.self)
    let (first, second) = (UInt64(littleEndian: halves[0]), UInt64(littleEndian: halves[1]))
    if first != 0 { return first.trailingZeroBitCount >> 3 }
    return second != 0 ? 8 &+ second.trailingZeroBitCount >> 3 : 16
  }

  // MARK: Numbers

  @inline(__always)
  private mutating func readNumber() throws(JSONFault) {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position &+= 1 }
    if bytes[position] == UInt8(ascii: "0") {
      position &+= 1
    } else {
      try readDigits()
    }
    if bytes[position] == UInt8(ascii: ".") {
      position &+= 1
      try readDigits()
    }
    if bytes[position] | 0x20 == UInt8(ascii: "e") {
      position &+= 1
      let sign = bytes[position]
      if sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position &+= 1 }
      try readDigits()
    }
    let length = position &- start
    let isLong = length > limits.numberLength
    hasFlaws = hasFlaws || isLong
    // The length of a number that will not be read does not matter; its end does, and a string's
    // limit serves.
    guard length <= JSONWord.maximumLength else {
      throw JSONFault(reason: .stringLength, offset: start)
    }
    try append(JSONWord(isLong ? .longNumber : .number, at: start, length: length))
  }

  @inline(__always)
  private mutating func readDigits() throws(JSONFault) {
    let start = position
    while bytes[position] &- UInt8(ascii: "0") < 10 { position &+= 1 }
    if position == start { throw Self.unexpected(position, end, "a digit") }
  }

  // MARK: White space and faults

  /// Skips white space in a container, and marks it.
  @inline(__always)
  private mutating func skipWhiteSpace() {
    if bytes[position] > 0x20 { return }
    words[container] |= JSONWord.spaced
    // Some servers write one space behind each comma and colon.
    if bytes[position] == 0x20, bytes[position &+ 1] > 0x20 {
      position &+= 1
    } else {
      position = Self.endOfWhiteSpace(bytes, from: position)
    }
  }

  @inline(never)
  private static func endOfWhiteSpace(_ bytes: UnsafePointer<UInt8>, from start: Int) -> Int {
    var index = start
    while true {
      switch bytes[index] {
      case 0x20, 0x0A, 0x0D, 0x09: index &+= 1
      default: return index
      }
      // Indentation comes in long runs of spaces.
      while load(bytes + index) == 0x2020_2020_2020_2020 { index &+= 8 }
    }
  }

  @inline(never)
  private static func unexpected(
    _ position: Int, _ end: Int, _ expected: StaticString
  ) -> JSONFault {
    JSONFault(
      reason: position == end ? .ended(expected: expected) : .unexpected(expected: expected),
      offset: position)
  }

  @inline(never)
  private static func tooManyEvents(_ position: Int, _ capacity: Int) -> JSONFault {
    JSONFault(reason: .events(capacity), offset: position)
  }

  /// The fault of a word that starts like `expected`: where it leaves it, or where the page ends.
  @inline(never)
  private static func literalFault(
    _ expected: StaticString, _ bytes: UnsafePointer<UInt8>, _ start: Int, _ end: Int
  ) -> JSONFault {
    var index = 0
    while index < expected.utf8CodeUnitCount, bytes[start + index] == expected.utf8Start[index] {
      index &+= 1
    }
    let reason: JSONFault.Reason =
      start + index == end ? .ended(expected: expected) : .unexpected(expected: expected)
    return JSONFault(reason: reason, offset: start + index)
  }
}
