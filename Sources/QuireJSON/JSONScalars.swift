import QuireCore
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The reason why a value does not fit a type.
enum JSONProblem: Error {
  /// The value is null.
  case null
  /// The value is of another kind.
  case mismatch
  /// A number that the type cannot hold.
  case unfit
  /// Text that no string can hold.
  case text
}

/// Reading strings, numbers and truth values from the index, as `JSONDecoder` does.
extension JSONItemContext {
  func string(at node: Int) throws(JSONProblem) -> String {
    let word = word(at: node)
    let text = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
    if word.isKind(.string) { return String(checkedUTF8: text, isASCII: true) }
    switch word.kind {
    case .string, .unicodeString: return String(checkedUTF8: text, isASCII: false)
    case .escapedString: return JSONText.string(text)
    case .surrogateString, .invalidString: throw .text
    case .null: throw .null
    default: throw .mismatch
    }
  }

  @inline(__always)
  func bool(at node: Int) throws(JSONProblem) -> Bool {
    let word = word(at: node)
    if word.isKind(.true) { return true }
    if word.isKind(.false) { return false }
    // Also for null, as in `JSONDecoder`.
    throw .mismatch
  }

  @inline(__always)
  func integer<Integer: FixedWidthInteger & Decodable>(
    _ type: Integer.Type, at node: Int
  ) throws(JSONProblem) -> Integer {
    let word = word(at: node)
    if word.isKind(.number) {
      if let value = JSONNumber.integer(type, bytes + word.offset, word.length) { return value }
    } else if !word.isKind(.longNumber) {
      throw word.isKind(.null) ? .null : .mismatch
    }
    return try unusual(type, at: node)
  }

  @inline(__always)
  func float<Float: JSONFloat>(
    _ type: Float.Type, at node: Int
  ) throws(JSONProblem) -> Float {
    let word = word(at: node)
    if word.isKind(.number) {
      if let value = JSONNumber.float(type, bytes + word.offset, word.length) { return value }
    } else if !word.isKind(.longNumber) {
      if word.isKind(.null) { throw .null }
      return try spelled(type, at: node)
    }
    return try unusual(type, at: node)
  }

  /// Reads an infinity or NaN by the words of the strategy `convertFromString`; a string with
  /// escapes does not match, as in `JSONDecoder`.
  @inline(never)
  private func spelled<Float: JSONFloat>(
    _ type: Float.Type, at node: Int
  ) throws(JSONProblem) -> Float {
    guard case .convertFromString(let positive, let negative, let nan) = options.floats,
      word(at: node).kind == .string || word(at: node).kind == .unicodeString
    else { throw .mismatch }
    let text = try string(at: node)
    if text.utf8.elementsEqual(positive.utf8) { return .infinity }
    if text.utf8.elementsEqual(negative.utf8) { return -.infinity }
    if text.utf8.elementsEqual(nan.utf8) { return .nan }
    throw .mismatch
  }

  func decimal(at node: Int) throws(JSONProblem) -> Decimal {
    let word = word(at: node)
    guard word.kind == .number || word.kind == .longNumber else {
      throw word.kind == .null ? .null : .mismatch
    }
    // Up to 36 digits need no rounding, and without an exponent the value is in range.
    let text = UnsafeBufferPointer(start: bytes + word.offset, count: word.length)
    if word.length <= 36, text.allSatisfy({ $0 | 0x20 != UInt8(ascii: "e") }),
      let value = Decimal(string: String(decoding: text, as: UTF8.self))
    {
      return value
    }
    return try unusual(Decimal.self, at: node)
  }

  /// Decodes a number in an unusual form for its type, such as `1e2` for an integer, with
  /// `JSONDecoder` itself.
  @inline(never)
  private func unusual<Number: Decodable>(
    _ type: Number.Type, at node: Int
  ) throws(JSONProblem) -> Number {
    guard
      let value = try? JSONDecoder().decode(
        type, from: Data(document.bytes[document.range(of: node)]))
    else {
      throw .unfit
    }
    return value
  }
}

/// A floating-point type that JSON numbers are read as.
protocol JSONFloat: BinaryFloatingPoint, Decodable, LosslessStringConvertible {
  /// The powers of ten that the type holds exactly, from 1 on.
  static var exactPowers: [Self] { get }
  /// The largest integer up to which the type holds all integers.
  static var exactIntegers: UInt64 { get }
}

extension Double: JSONFloat {
  static let exactPowers: [Double] = powers(23)
  static var exactIntegers: UInt64 { 1 << 53 }
}

extension Float: JSONFloat {
  static let exactPowers: [Float] = powers(11)
  static var exactIntegers: UInt64 { 1 << 24 }
}

extension JSONFloat {
  fileprivate static func powers(_ count: Int) -> [Self] {
    (1..<count).reduce(into: [1]) { powers, _ in powers.append((powers.last ?? 1) * 10) }
  }
}

/// Conversion of a number from its text, which the scanner has checked.
enum JSONNumber {
  /// Returns the integer; nil if the text has a point or an exponent, or the type cannot hold it.
  @inline(__always)
  static func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ text: UnsafePointer<UInt8>, _ count: Int
  ) -> Integer? {
    // Any 18 digits fit into 64 bits.
    guard count <= 18 else {
      return Integer(
        String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self))
    }
    let isNegative = text[0] == UInt8(ascii: "-")
    var value: Int64 = 0
    var index = isNegative ? 1 : 0
    while index < count {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      value = value &* 10 &+ Int64(digit)
      index += 1
    }
    return Integer(exactly: isNegative ? 0 &- value : value)
  }

  /// Returns the nearest value; nil if it is too large or too small for the type.
  ///
  /// If the mantissa and the power of ten are exact, one rounding suffices (Clinger 1990, "How to
  /// read floating point numbers accurately"); other numbers are left to the standard library.
  @inline(__always)
  static func float<Float: JSONFloat>(
    _ type: Float.Type, _ text: UnsafePointer<UInt8>, _ count: Int
  ) -> Float? {
    guard let parts = parts(text, count), parts.mantissa <= Float.exactIntegers,
      abs(parts.exponent) < Float.exactPowers.count, parts.mantissa != 0 || !parts.hasExponent
    else { return otherFloat(type, text, count) }
    let mantissa = Float(parts.mantissa)
    let power = Float.exactPowers[abs(parts.exponent)]
    let value = parts.exponent < 0 ? mantissa / power : mantissa * power
    return parts.isNegative ? -value : value
  }

  private struct Parts {
    var isNegative = false
    var mantissa: UInt64 = 0
    var exponent = 0
    var hasExponent = false
  }

  /// Splits a number; nil for more than 18 digits, and for exponents of more than three.
  @inline(__always)
  private static func parts(_ text: UnsafePointer<UInt8>, _ count: Int) -> Parts? {
    guard count <= 20 else { return nil }
    var parts = Parts()
    parts.isNegative = text[0] == UInt8(ascii: "-")
    var index = parts.isNegative ? 1 : 0
    var digits = 0
    var point: Int?
    while index < count {
      let byte = text[index]
      let digit = byte &- UInt8(ascii: "0")
      if digit < 10 {
        parts.mantissa = parts.mantissa &* 10 &+ UInt64(digit)
        digits += 1
      } else if byte == UInt8(ascii: ".") {
        point = digits
      } else {
        break
      }
      index += 1
    }
    guard digits <= 18 else { return nil }
    if index < count {
      guard let exponent = integer(Int.self, text + index + 1, count - index - 1, plus: true),
        abs(exponent) < 1000
      else { return nil }
      parts.exponent = exponent
      parts.hasExponent = true
    }
    if let point { parts.exponent -= digits - point }
    return parts
  }

  @inline(__always)
  private static func integer(
    _ type: Int.Type, _ text: UnsafePointer<UInt8>, _ count: Int, plus: Bool
  ) -> Int? {
    text[0] == UInt8(ascii: "+")
      ? integer(type, text + 1, count - 1) : integer(type, text, count)
  }

  @inline(never)
  private static func otherFloat<Float: JSONFloat>(
    _ type: Float.Type, _ text: UnsafePointer<UInt8>, _ count: Int
  ) -> Float? {
    let bytes = UnsafeBufferPointer(start: text, count: count)
    guard let value = Float(String(decoding: bytes, as: UTF8.self)), value.isFinite else {
      return nil
    }
    // A zero must be written as zero: a number that is rounded to it is too small. With an
    // exponent, that is not decided here.
    if value == 0, bytes.contains(where: { $0 | 0x20 == UInt8(ascii: "e") }) { return nil }
    return value == 0 && bytes.contains { $0 &- UInt8(ascii: "1") < 9 } ? nil : value
  }
}

extension JSONText {
  /// Returns the text of a string's content with escapes, which the scanner has checked.
  static func string(_ written: UnsafeBufferPointer<UInt8>) -> String {
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: written.count) { output in
      guard let from = written.baseAddress, let to = output.baseAddress else { return "" }
      let (count, isASCII) = resolve(from, written.count, into: to)
      return String(
        checkedUTF8: UnsafeBufferPointer(start: to, count: count), isASCII: isASCII)
    }
  }
}
