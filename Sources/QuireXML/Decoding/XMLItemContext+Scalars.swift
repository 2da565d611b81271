#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// From text to numbers, truth values, dates and data.
extension XMLItemContext {
  func string(_ value: XMLValue) throws -> String {
    try checkScalar(value, String.self)
    return withBytes(of: value) { String(decoding: $0, as: UTF8.self) }
  }

  func integer<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ value: XMLValue
  ) throws -> Integer {
    try checkScalar(value, type)
    let result = withBytes(of: value) { Self.parse(type, XMLText.trimmed($0)) }
    guard let result else { throw mismatch(type, value) }
    return result
  }

  func double(_ value: XMLValue) throws -> Double {
    try checkScalar(value, Double.self)
    let result = withBytes(of: value) { bytes -> Double? in
      let text = XMLText.trimmed(bytes)
      guard text.count <= numberLength else { return nil }
      switch String(decoding: text, as: UTF8.self) {
      case "INF", "+INF": return .infinity
      case "-INF": return -.infinity
      case "NaN": return .nan
      case let text:
        let isNumber = text.utf8.allSatisfy {
          0x30...0x39 ~= $0 || "+-.eE".utf8.contains($0)
        }
        return isNumber ? Double(text) : nil
      }
    }
    guard let result else { throw mismatch(Double.self, value) }
    return result
  }

  func bool(_ value: XMLValue) throws -> Bool {
    try checkScalar(value, Bool.self)
    let text = withBytes(of: value) { String(decoding: XMLText.trimmed($0), as: UTF8.self) }
    switch text {
    case "true", "1", "True", "TRUE": return true
    case "false", "0", "False", "FALSE": return false
    default: throw mismatch(Bool.self, value)
    }
  }

  func date(_ value: XMLValue) throws -> Date {
    try checkScalar(value, Date.self)
    let text = withBytes(of: value) { String(decoding: XMLText.trimmed($0), as: UTF8.self) }
    switch options.dates {
    case .iso8601:
      guard let date = XMLDate.parse(text) else { throw mismatch(Date.self, value) }
      return date
    case .secondsSince1970: return Date(timeIntervalSince1970: try double(value))
    case .custom(let read): return try read(text)
    }
  }

  func data(_ value: XMLValue) throws -> Data {
    try checkScalar(value, Data.self)
    switch options.data {
    case .base64:
      let text = withBytes(of: value) { Data($0.filter { !XMLText.isSpace($0) }) }
      guard let data = Data(base64Encoded: text) else { throw mismatch(Data.self, value) }
      return data
    case .custom(let read):
      return try read(withBytes(of: value) { String(decoding: $0, as: UTF8.self) })
    }
  }

  func url(_ value: XMLValue) throws -> URL {
    try checkScalar(value, URL.self)
    let text = withBytes(of: value) { String(decoding: XMLText.trimmed($0), as: UTF8.self) }
    guard let url = URL(string: text) else { throw mismatch(URL.self, value) }
    return url
  }

  func decimal(_ value: XMLValue) throws -> Decimal {
    try checkScalar(value, Decimal.self)
    let text = withBytes(of: value) { String(decoding: XMLText.trimmed($0), as: UTF8.self) }
    guard text.utf8.count <= numberLength, let decimal = Decimal(string: text) else {
      throw mismatch(Decimal.self, value)
    }
    return decimal
  }

  /// An element that holds others is no scalar: reading its text alone would lose them.
  private func checkScalar(_ value: XMLValue, _ type: Any.Type) throws {
    switch value.role {
    case .attribute, .text: return
    case .list: throw mismatch(type, value)
    case .whole, .member:
      let first = value.node + 1
      if Int(index.records[value.node].next) == first { return }
      if Int(index.records[value.node].next) == first + 1, index.records[first].kind != .element {
        return
      }
      if index.children(of: value.node).contains(where: { _ in true }) {
        throw mismatch(type, value, "it holds elements")
      }
    }
  }

  // MARK: Integers

  /// An optional sign and digits, nothing else.
  static func parse<Integer: FixedWidthInteger>(
    _ type: Integer.Type, _ text: UnsafeBufferPointer<UInt8>
  ) -> Integer? {
    var index = 0
    var isNegative = false
    if let sign = text.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
      isNegative = sign == UInt8(ascii: "-")
      index = 1
    }
    guard index < text.count else { return nil }
    var value: Integer = 0
    while index < text.count {
      let digit = text[index] &- UInt8(ascii: "0")
      guard digit < 10 else { return nil }
      let (product, overflows) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflowsToo) =
        isNegative
        ? product.subtractingReportingOverflow(Integer(digit))
        : product.addingReportingOverflow(Integer(digit))
      if overflows || overflowsToo { return nil }
      value = sum
      index += 1
    }
    return value
  }
}
