package import QuirePagination

/// The type of a table's column. A column is widened when a value does not fit, and never narrowed;
/// the result does not depend on the order of the values.
package enum ColumnType: String, Codable, Sendable {
  /// Only nulls so far.
  case none
  case boolean
  /// Whole numbers that fit 64 bits.
  case integer
  /// Numbers with a fraction or an exponent; `number` also has whole numbers among them.
  case decimal, number
  /// Objects and arrays, as JSON text.
  case json
  /// Any values: strings as their text, numbers as a column of numbers writes them, all others as
  /// JSON text.
  case text

  /// Returns the narrowest type for the values of both.
  package func joined(_ other: ColumnType) -> ColumnType {
    switch (self, other) {
    case _ where self == other: self
    case (.none, let type), (let type, .none): type
    case (.integer, .decimal), (.decimal, .integer), (.integer, .number), (.number, .integer),
      (.decimal, .number), (.number, .decimal):
      .number
    default: .text
    }
  }
}

/// The capabilities of a kind of database.
package struct TableDialect: Sendable {
  /// Whether names that differ only in the case of ASCII letters are equal.
  package var foldsCase: Bool
  /// The maximum length of a name in bytes of UTF-8.
  package var longestName: Int
  /// Names that a column must not have.
  package var reserved: Set<String>
  /// Whether numeric columns hold decimals of any length; otherwise only those that a `Double`
  /// gives back unchanged.
  package var hasLongDecimals: Bool
  /// Whether texts can contain the character NUL.
  package var holdsNUL: Bool

  package init(
    foldsCase: Bool, longestName: Int, reserved: Set<String> = [], hasLongDecimals: Bool,
    holdsNUL: Bool
  ) {
    self.foldsCase = foldsCase
    self.longestName = longestName
    self.reserved = reserved
    self.hasLongDecimals = hasLongDecimals
    self.holdsNUL = holdsNUL
  }

  /// Returns the form of a name that is equal for all names that the database takes as equal.
  package func folded(_ name: some Sequence<UInt8>) -> [UInt8] {
    name.map { foldsCase && (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
  }

  /// Returns the type of one value.
  @inline(__always)
  package func type(of member: RawMember) -> ColumnType {
    switch member.kind {
    case .null: .none
    case .true, .false: .boolean
    case .string, .escapedString, .invalidUnicodeString: .text
    case .container: .json
    case .number: NumberText(member.text).type(in: self)
    }
  }
}

extension String {
  /// The text as a quoted SQL identifier.
  package var quotedName: String { "\"\(replacing("\"", with: "\"\""))\"" }
}

/// The text of a JSON number.
package struct NumberText {
  private let text: UnsafeBufferPointer<UInt8>

  package init(_ text: UnsafeBufferPointer<UInt8>) { self.text = text }

  /// The value of a whole number that fits 64 bits and is written without a fraction or an
  /// exponent; nil otherwise.
  @inline(__always)
  package var integer: Int64? {
    var index = 0
    let isNegative = text.first == UInt8(ascii: "-")
    if isNegative { index = 1 }
    guard text.count - index <= 19 else { return nil }
    var magnitude: UInt64 = 0
    while index < text.count {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      magnitude = magnitude &* 10 &+ UInt64(digit)
      index += 1
    }
    if magnitude <= UInt64(Int64.max) {
      return isNegative ? -Int64(magnitude) : Int64(magnitude)
    }
    return isNegative && magnitude == UInt64(Int64.max) + 1 ? .min : nil
  }

  /// The nearest `Double`; not a number for malformed text.
  package var double: Double { Double(String(decoding: text, as: UTF8.self)) ?? .nan }

  /// Appends the text of the number in a column of texts.
  ///
  /// It is the one that the value gets if it was stored in a column of numbers and that becomes a
  /// column of texts. So the texts do not depend on when the first text came. In a key, equal
  /// numbers have equal texts: without zeros at the end of a fraction.
  package func append(asTextIn dialect: TableDialect, isKey: Bool, to output: inout [UInt8]) {
    let type = self.type(in: dialect)
    if type == .text || type == .integer && text.first != UInt8(ascii: "-") {
      output.append(contentsOf: text)
    } else if let integer {
      // -0 is no negative number.
      output.append(contentsOf: String(integer).utf8)
    } else if dialect.hasLongDecimals {
      appendPlain(withoutZeros: isKey, to: &output)
    } else {
      output.append(contentsOf: Self.text(of: double).utf8)
    }
  }

  /// Returns the text of a number that was stored as a `Double`, by which whole numbers are not
  /// told from integers.
  package static func text(of value: Double) -> String {
    Int64(exactly: value).map { String($0) } ?? value.description
  }

  /// Appends the number without an exponent, as PostgreSQL writes a `numeric`.
  private func appendPlain(withoutZeros: Bool, to output: inout [UInt8]) {
    let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
    let mantissa = unsigned.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
    let digits = mantissa.filter { $0 != UInt8(ascii: ".") }
    let power = Int(String(decoding: unsigned.dropFirst(mantissa.count + 1), as: UTF8.self)) ?? 0
    let zero = UInt8(ascii: "0")
    /// The number of digits before the point.
    let point = whole.count + power
    var before = Array(digits.prefix(max(point, 0)).drop { $0 == zero })
    if !before.isEmpty {
      before += repeatElement(zero, count: max(0, point - digits.count))
    }
    var behind = [UInt8](repeating: zero, count: max(0, -point))
    behind += digits.dropFirst(max(point, 0))
    if withoutZeros {
      while behind.last == zero { behind.removeLast() }
    }
    if text.first == UInt8(ascii: "-"), digits.contains(where: { $0 != zero }) {
      output.append(UInt8(ascii: "-"))
    }
    output += before.isEmpty ? [zero] : before
    if !behind.isEmpty { output += [UInt8(ascii: ".")] + behind }
  }

  @inline(__always)
  func type(in dialect: TableDialect) -> ColumnType {
    integer != nil ? .integer : typeOfLong(in: dialect)
  }

  private func typeOfLong(in dialect: TableDialect) -> ColumnType {
    let parts = Digits(text)
    let isWhole = !text.contains { $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "e") }
    if dialect.hasLongDecimals {
      // PostgreSQL's `numeric` has 131,072 digits before the point and 16,383 after it.
      guard text.count < 10_000, abs(parts.exponent) < 16_000 - text.count else { return .text }
      return isWhole ? .number : .decimal
    }
    if isWhole { return .text }
    // `Double` preserves any fifteen digits (IEEE 754, `DBL_DIG`).
    if parts.digits.count <= 15, abs(parts.exponent) < 290 { return .decimal }
    let value = double
    guard value.isFinite else { return .text }
    let shortest = value.description
    return Array(shortest.utf8).withUnsafeBufferPointer { Digits($0) == parts } ? .decimal : .text
  }

  /// The significant digits and the power of ten of the last one: equal numbers have equal digits
  /// and exponents.
  private struct Digits: Equatable {
    var digits: [UInt8] = []
    var exponent = 0
    var isNegative = false

    init(_ text: UnsafeBufferPointer<UInt8>) {
      var index = 0
      if text.first == UInt8(ascii: "-") { (isNegative, index) = (true, 1) }
      var isFraction = false
      while index < text.count, text[index] | 0x20 != UInt8(ascii: "e") {
        if text[index] == UInt8(ascii: ".") {
          isFraction = true
        } else {
          if isFraction { exponent -= 1 }
          digits.append(text[index])
        }
        index += 1
      }
      if index < text.count {
        let written = String(decoding: text[(index + 1)...], as: UTF8.self)
        // Exponents beyond those of all types need not differ.
        let power = Int(written) ?? (written.hasPrefix("-") ? .min : .max)
        exponent += min(max(power, -1 << 40), 1 << 40)
      }
      while digits.last == UInt8(ascii: "0") {
        digits.removeLast()
        exponent += 1
      }
      digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
    }
  }
}
