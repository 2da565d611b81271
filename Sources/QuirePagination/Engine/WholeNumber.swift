import QuireCore

/// Whole numbers as servers spell them: `40`, `40.0`, `4e1`, `"1,234"`, `"1 234"`.
enum WholeNumber {
  /// Returns the number; nil for anything else, such as `40.5`, and for an ambiguous text, such as
  /// `1.234`. A number beyond `Int` becomes the nearest `Int`.
  static func read(_ text: String, isText: Bool = false) -> Int? {
    var rest = text.trimmingBlanks[...]
    // Nearly all numbers are digits alone.
    if let number = Int(rest) { return number }
    let isNegative = rest.first == "-"
    if isNegative || rest.first == "+" { rest.removeFirst() }
    let parts = rest.split(
      maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { $0 == "e" || $0 == "E" })
    guard let shift = parts.count < 2 ? 0 : exponent(parts[1]),
      let (whole, fraction) = digits(of: parts[0], isGrouped: parts.count < 2),
      !isText || parts.count > 1 || fraction.count != 3,
      let number = value(whole + fraction, times: shift - fraction.count)
    else { return nil }
    return isNegative ? -number : number
  }

  /// Returns an exponent, limited to 2⁴⁰, which exceeds the number of digits in any text.
  private static func exponent(_ text: Substring) -> Int? {
    let digits = text.first.map { "+-".contains($0) } == true ? text.dropFirst() : text
    guard !digits.isEmpty, digits.utf8.allSatisfy(isDigit) else { return nil }
    let number = Int(digits) ?? longest
    return min(number, longest) * (text.first == "-" ? -1 : 1)
  }

  private static let longest = 1 << 40

  /// Returns the digits before and behind the decimal point.
  private static func digits(
    of text: Substring, isGrouped: Bool
  ) -> (whole: [UInt8], fraction: [UInt8])? {
    var sides = text.split(separator: ".", omittingEmptySubsequences: false)
    var whole = sides.removeFirst()
    // Several points separate groups, as in much of Europe; one point could be either.
    if isGrouped, sides.count > 1 { (whole, sides) = (text, []) }
    guard sides.count < 2 else { return nil }
    let fraction = Array((sides.first ?? "").utf8)
    guard fraction.allSatisfy(isDigit), let joined = joined(whole, isGrouped: isGrouped) else {
      return nil
    }
    return joined.isEmpty ? nil : (joined, fraction)
  }

  /// Returns the digits without separators; nil unless they are groups of three, or of two before
  /// the last three (as in India), with one kind of separator.
  private static func joined(_ text: Substring, isGrouped: Bool) -> [UInt8]? {
    guard let separator = text.first(where: { !$0.utf8.allSatisfy(isDigit) }) else {
      return Array(text.utf8)
    }
    guard isGrouped, ",.' _\u{A0}\u{2009}\u{202F}\u{2019}".contains(separator) else { return nil }
    let groups = text.split(separator: separator, omittingEmptySubsequences: false)
      .map { Array($0.utf8) }
    guard groups.allSatisfy({ $0.allSatisfy(isDigit) }), let first = groups.first,
      (1...3).contains(first.count), groups.last?.count == 3
    else { return nil }
    let inner = groups.dropFirst().dropLast()
    let isThrees = inner.allSatisfy { $0.count == 3 }
    let isTwos = first.count < 3 && inner.allSatisfy { $0.count == 2 }
    return isThrees || isTwos ? groups.flatMap(\.self) : nil
  }

  /// Returns the digits times a power of ten; nil if a fraction remains.
  private static func value(_ digits: [UInt8], times power: Int) -> Int? {
    var digits = digits[...]
    var power = power
    while power < 0, let last = digits.popLast() {
      guard last == UInt8(ascii: "0") else { return nil }
      power += 1
    }
    var number = 0
    for digit in digits {
      number = number.times(10).plus(Int(digit - UInt8(ascii: "0")))
    }
    while power > 0, number > 0, number < Int.max {
      number = number.times(10)
      power -= 1
    }
    return number
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}
