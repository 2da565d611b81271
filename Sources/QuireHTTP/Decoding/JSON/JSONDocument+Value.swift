package import QuireCore

/// From the tape to values.
extension JSONDocument {
  /// A container whose children are being read.
  private struct Frame {
    let isObject: Bool
    let end: Int
    var name = ""
    var elements: [JSONValue] = []
    var members: [JSONValue.Member] = []

    mutating func append(_ value: JSONValue) {
      if isObject { members.append(.init(name, value)) } else { elements.append(value) }
    }

    var value: JSONValue { isObject ? .object(members) : .array(elements) }
  }

  /// The node and everything in it; of members with the same name, all are kept, in order.
  ///
  /// Throws as `scalar(at:)` does.
  package func value(of node: Int) throws -> JSONValue {
    var frames: [Frame] = []
    var index = node
    while true {
      if let frame = frames.last, frame.isObject, index < frame.end {
        frames[frames.count - 1].name = try text(at: index)
        index += 1
      }
      var finished: JSONValue?
      if let frame = frames.last, index == frame.end {
        finished = frame.value
        frames.removeLast()
      } else if word(at: index).kind.isContainer {
        frames.append(
          Frame(isObject: word(at: index).kind == .object, end: next(after: index)))
        index += 2
      } else {
        finished = try scalar(at: index)
        index += 1
      }
      guard let finished else { continue }
      if frames.isEmpty { return finished }
      frames[frames.count - 1].append(finished)
    }
  }

  private func scalar(at node: Int) throws -> JSONValue {
    let word = word(at: node)
    switch word.kind {
    case .null: return .null
    case .false: return .bool(false)
    case .true: return .bool(true)
    case .number: return .number(String(decoding: bytes[word.content], as: UTF8.self))
    case .longNumber: throw flawError(at: node)
    default: return .string(try text(at: node))
    }
  }

  /// The text of a string or a name.
  ///
  /// Throws `malformed` when no text can hold it.
  func text(at node: Int) throws -> String {
    let word = word(at: node)
    switch word.kind {
    case .surrogateString, .invalidString: throw flawError(at: node)
    case .escapedString: return String(decoding: unescaped(word.content), as: UTF8.self)
    default: return String(decoding: bytes[word.content], as: UTF8.self)
    }
  }

  /// The text between quotes with its escapes resolved, as UTF-8. The scanner has checked them.
  func unescaped(_ range: Range<Int>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    var index = range.lowerBound
    while index < range.upperBound {
      guard bytes[index] == UInt8(ascii: "\\") else {
        result.append(bytes[index])
        index += 1
        continue
      }
      if bytes[index + 1] == UInt8(ascii: "u") {
        let (scalar, length) = escapedScalar(at: index)
        result.append(contentsOf: UTF8.encode(scalar).map(Array.init) ?? [])
        index += length
      } else {
        result.append(Self.character(forEscape: bytes[index + 1]))
        index += 2
      }
    }
    return result
  }

  private static func character(forEscape letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }

  /// The character that `\uXXXX`, or a pair of them, stands for, and their length.
  private func escapedScalar(at index: Int) -> (UnicodeScalar, length: Int) {
    let unit = unit(at: index + 2)
    if let scalar = UnicodeScalar(unit) { return (scalar, 6) }
    let low = self.unit(at: index + 8)
    let value = 0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(low & 0x3FF))
    return (UnicodeScalar(value) ?? "\u{FFFD}", 12)
  }

  private func unit(at index: Int) -> UInt16 {
    bytes[index..<index + 4].reduce(0) { $0 << 4 | (JSONStringScanner.hexadecimal($1) ?? 0) }
  }
}
