import QuirePagination

/// Parses a short text byte by byte.
struct DateScanner {
  var rest: Slice<UnsafeBufferPointer<UInt8>>

  init(rest: Slice<UnsafeBufferPointer<UInt8>>) { self.rest = rest }

  /// A time of day.
  struct Time {
    var hour = 0
    var minute = 0
    var second = 0.0
    var isTwelveHour = false
  }

  /// An offset from UTC.
  struct Zone {
    var seconds: Int
    var isInRFC822 = false
  }

  var isAtEnd: Bool { rest.isEmpty }
  var peekIsDigit: Bool { rest.first.map(Self.isDigit) ?? false }

  private static func isDigit(_ byte: UInt8) -> Bool { 0x30...0x39 ~= byte }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest = rest.dropFirst()
    return true
  }

  mutating func skip(_ characters: String) {
    rest = rest.drop { characters.utf8.contains($0) }
  }

  mutating func skipSpaces() -> Int {
    let before = rest.count
    rest = rest.drop(while: \.isWhiteSpace)
    return before - rest.count
  }

  /// Skips everything up to a character and the character itself. Returns false if there is none.
  mutating func skip(through end: Unicode.Scalar) -> Bool {
    rest = rest.drop { $0 != UInt8(ascii: end) }
    return skipOne()
  }

  /// Skips one byte. Returns false at the end.
  mutating func skipOne() -> Bool {
    guard !rest.isEmpty else { return false }
    rest = rest.dropFirst()
    return true
  }

  mutating func digits() -> (value: Int, digits: Int)? {
    let digits = rest.prefix(while: Self.isDigit)
    guard 1...9 ~= digits.count else { return nil }
    return (number(of: digits), digits.count)
  }

  mutating func number(exactly count: Int) -> Int? {
    let digits = rest.prefix(count)
    guard digits.count == count, digits.allSatisfy(Self.isDigit) else { return nil }
    return number(of: digits)
  }

  mutating func number(upTo count: Int) -> Int? {
    let digits = rest.prefix(count).prefix(while: Self.isDigit)
    return digits.isEmpty ? nil : number(of: digits)
  }

  /// Skips digits, and returns the number that they write.
  private mutating func number(of digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    rest = rest[digits.endIndex...]
    return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  /// Skips `st`, `nd`, `rd` or `th`, and the French `er`.
  mutating func takeOrdinal() {
    let word = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
    if ["st", "nd", "rd", "th", "er"].contains(word) { rest = rest.dropFirst(2) }
  }

  /// Reads a word of letters in any script, and returns it in lowercase; empty if there is none.
  mutating func word() -> String {
    let letters = rest.prefix { $0 >= 0x80 || 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 }
    rest = rest[letters.endIndex...]
    return String(decoding: letters, as: UTF8.self).lowercased()
  }

  /// Reads `hh.mm` or `hh.mm.ss`.
  mutating func dottedTime() -> Time? {
    let start = rest
    guard let hour = number(upTo: 2), take("."), let minute = number(exactly: 2) else {
      return restore(start)
    }
    var time = Time(hour: hour, minute: minute)
    if take("."), let second = number(exactly: 2) { time.second = Double(second) }
    return time
  }

  /// Reads `hh:mm`, `hh:mm:ss` with fractions, or `hhmmss`, optionally followed by AM or PM; after
  /// the `T` of ISO 8601, `hhmm` too.
  mutating func time(isAfterT: Bool = false) -> Time? {
    var time = Time()
    let start = rest
    guard let hour = number(upTo: 2) else { return nil }
    time.hour = hour
    if take(":") {
      guard let minute = number(upTo: 2) else { return restore(start) }
      time.minute = minute
      if take(":") {
        guard let second = number(upTo: 2) else { return restore(start) }
        time.second = Double(second)
        fraction(&time)
      }
    } else {
      guard let minute = number(exactly: 2) else { return restore(start) }
      time.minute = minute
      if let second = number(exactly: 2) {
        time.second = Double(second)
      } else {
        // Four digits are a year, unless a `T` came before or a `Z` follows.
        guard isAfterT || rest.first == UInt8(ascii: "Z") else { return restore(start) }
      }
    }
    meridiem(&time)
    return time
  }

  private mutating func restore(_ start: Slice<UnsafeBufferPointer<UInt8>>) -> Time? {
    rest = start
    return nil
  }

  private mutating func fraction(_ time: inout Time) {
    guard let mark = rest.first, mark == UInt8(ascii: ".") || mark == UInt8(ascii: ",") else {
      return
    }
    let digits = rest.dropFirst().prefix(while: Self.isDigit)
    guard !digits.isEmpty else { return }
    var scale = 0.1
    for digit in digits {
      time.second += Double(digit - 0x30) * scale
      scale /= 10
    }
    rest = rest[digits.endIndex...]
  }

  /// Reads AM or PM, if one follows.
  private mutating func meridiem(_ time: inout Time) {
    let start = rest
    _ = skipSpaces()
    var length = 2
    var word = String(decoding: rest.prefix(4), as: UTF8.self).lowercased()
    if word == "a.m." || word == "p.m." { length = 4 }
    word = word.filter { $0 != "." }
    guard word.hasPrefix("am") || word.hasPrefix("pm"),
      rest.dropFirst(length).first.map({ $0 < 0x41 }) ?? true, 1...12 ~= time.hour
    else {
      rest = start
      return
    }
    rest = rest.dropFirst(length)
    time.isTwelveHour = true
    time.hour = time.hour % 12 + (word.hasPrefix("pm") ? 12 : 0)
  }

  /// Reads `Z`, `+hh:mm`, `-hhmm`, `-hmm`, `+hh`, a name, or a name followed by an offset, such as
  /// `GMT+2` and `EST -0500`.
  mutating func zone() -> Zone? {
    let start = rest
    let name = word()
    if name.isEmpty { return offset() }
    if name == "z" { return Zone(seconds: 0, isInRFC822: true) }
    guard let known = DateWords.zone(name) else {
      rest = start
      return nil
    }
    // An offset takes precedence over the name.
    let end = rest
    _ = skipSpaces()
    if let offset = offset() { return Zone(seconds: offset.seconds) }
    rest = end
    return Zone(seconds: known.seconds, isInRFC822: known.isInRFC822)
  }

  private mutating func offset() -> Zone? {
    let start = rest
    let sign = take("+") ? 1 : take("-") ? -1 : 0
    // Three digits are `hmm`: the zero before the hour was left out.
    let count = rest.prefix(while: Self.isDigit).count
    guard sign != 0, let hours = number(upTo: count == 3 ? 1 : 2) else {
      rest = start
      return nil
    }
    let hasColon = take(":")
    let minutes = number(exactly: 2)
    guard hours <= 15, minutes ?? 0 < 60, !hasColon || minutes != nil else {
      rest = start
      return nil
    }
    return Zone(
      seconds: sign * (hours * 3_600 + (minutes ?? 0) * 60),
      isInRFC822: !hasColon && minutes != nil && count == 4)
  }
}
