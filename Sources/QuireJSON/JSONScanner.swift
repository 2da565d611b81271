import QuirePagination

/// A scanner that reads a page once, checks that it is JSON (RFC 8259), and writes its tape.
///
/// There is no recursion: while a container is open, its second word holds the tape index of the
/// container around it, and its first word the number of children read so far. The page is padded
/// with zeros, which are neither white space nor part of any token, so that no read has to check
/// for the end, and sixteen bytes can be loaded anywhere. All is in one file, because the optimizer
/// must see the whole hot loop. Its wrapping arithmetic counts bytes of the page, and cannot
/// overflow.
struct JSONScanner {
  /// The number of zero bytes that must follow the page.
  static let padding = 16

  private let bytes: UnsafePointer<UInt8>
  private let end: Int
  private let words: UnsafeMutablePointer<UInt64>
  private let capacity: Int
  private let limits: DecodingLimits

  private var position: Int
  /// The number of words written.
  private(set) var used = 0
  /// Whether any value is flawed.
  private(set) var hasFlaws = false

  /// The innermost open container, whether it is an object, the number of children read in it, and
  /// the number of open containers.
  private var container = 0
  private var isObject = false
  private var count = 0
  private var depth = 0

  /// Creates a scanner of `bytes[start..<end]`, which `padding` zeros follow; `words` has room for
  /// `wordCapacity(for:limits:)` words.
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

  /// Returns a number of words that no page of `byteCount` bytes exceeds: each word takes a byte,
  /// except the second one of a container that is not closed. Reserved memory that is never written
  /// costs nothing.
  static func wordCapacity(for byteCount: Int, limits: DecodingLimits) -> Int {
    max(0, min(byteCount + min(byteCount, limits.depth), limits.events, JSONWord.maximumLength))
  }

  /// The name, in messages, of what follows the value of a page.
  static let end: StaticString = "the end of the page"

  /// Reads the whole page. Throws the first fault.
  mutating func scan() throws(JSONFault) {
    // A local copy, whose address is not taken, stays in registers.
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

  /// Reads up to the end of the next scalar or empty container, with the opening brackets and names
  /// before it. Names are read in one place only, which keeps the loop small enough to be compiled
  /// as one function.
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

  /// Reads the closing brackets and the comma after a value. Returns false at the end of the root.
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

  /// Reads `null`, `true` or `false`, whose first letter was read; `lastFour` are its last letters.
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

  /// Reads the string whose opening quote is at `position`. Plain ASCII, the common case, is read
  /// by sixteen bytes.
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

  /// Returns eight bytes as an integer, the first in the lowest bits.
  @inline(__always)
  static func load(_ bytes: UnsafePointer<UInt8>) -> UInt64 {
    UInt64(littleEndian: UnsafeRawPointer(bytes).loadUnaligned(as: UInt64.self))
  }

  /// Returns how many of sixteen bytes precede the first quote, backslash, control character or
  /// byte that is not ASCII; 16 if there is none.
  @inline(__always)
  static func plainBytes(_ bytes: UnsafePointer<UInt8>) -> Int {
    let chunk = UnsafeRawPointer(bytes).loadUnaligned(as: SIMD16<UInt8>.self)
    // The high bit of each byte marks a special one. In ASCII, each subtraction sets it only for
    // the bytes that it looks for. SIMD comparisons are not used: the compiler does not translate
    // them to the processor's.
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
    // A number that is too long is never read, but its length must fit a word, like a string's.
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

  /// Skips white space, and marks the container as having some.
  @inline(__always)
  private mutating func skipWhiteSpace() {
    if bytes[position] > 0x20 { return }
    words[container] |= JSONWord.spaced
    // Some servers write one space after each comma and colon.
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

  /// Returns the fault of a word that starts like `expected`: at the first letter that differs, or
  /// at the end of the page.
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
