import QuireCore
import QuireJSON
import QuirePagination

/// Repairs JSON that no parser accepts: commas before a closing bracket, and control characters in
/// strings.
struct JSONSyntaxRepair {
  private var commas = 0
  private var controls = 0

  /// The repairs, by kind.
  var repairs: [FeedRepair] {
    var tally = RepairTally()
    tally.add(.strayComma, commas)
    tally.add(.controlCharacter, controls)
    return tally.repairs
  }

  /// Returns the page without these commas, with line breaks and tabs in strings escaped and other
  /// control characters removed from them. Returns the page unchanged if it has more of them than
  /// a feed that was written by mistake.
  mutating func mended(_ page: [UInt8]) -> [UInt8] {
    let most = max(10_000, page.count / 8)
    var output: [UInt8] = []
    var (copied, comma, isInString, isEscaped) = (0, Int?.none, false, false)
    for (place, byte) in page.enumerated() {
      if commas + controls > most { break }
      if isInString {
        if byte < 0x20 {
          output += page[copied..<place] + Self.escaped(byte)
          (copied, controls) = (place + 1, controls + 1)
        }
        if byte == UInt8(ascii: "\""), !isEscaped { isInString = false }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case UInt8(ascii: ","):
        comma = place
        continue
      case UInt8(ascii: "]"), UInt8(ascii: "}"):
        if let comma {
          output += page[copied..<comma]
          (copied, commas) = (comma + 1, commas + 1)
        }
      case UInt8(ascii: "\""): isInString = true
      default: break
      }
      comma = nil
    }
    guard commas + controls <= most else {
      (commas, controls) = (0, 0)
      return page
    }
    return copied == 0 ? page : output + page[copied...]
  }

  private static func escaped(_ control: UInt8) -> [UInt8] {
    switch control {
    case 0x09: Array("\\t".utf8)
    case 0x0A: Array("\\n".utf8)
    case 0x0D: Array("\\r".utf8)
    default: []
    }
  }
}

/// Repairs JSON text that no string can hold: bytes that are not UTF-8, and half surrogate pairs,
/// such as in a title that was cut within an emoji. They become U+FFFD.
struct JSONTextRepair {
  let limits: DecodingLimits
  let isStrict: Bool
  /// The number of repaired values.
  private(set) var count = 0

  /// Returns all items of a page in order, including those with bytes that are not UTF-8, which
  /// were collected as bad items.
  func items(of decoded: DecodedItems<RawItem>) throws -> [RawItem] {
    guard !decoded.badItems.isEmpty else { return decoded.items }
    var items: [RawItem] = []
    var (good, bad) = (decoded.items[...], decoded.badItems[...])
    for index in 0..<decoded.count {
      if let next = bad.first, next.index == index {
        items.append(try RawItem(next.bytes, limits: limits))
        bad.removeFirst()
      } else if let next = good.popFirst() {
        items.append(next)
      }
    }
    return items
  }

  mutating func value(of item: RawItem) throws -> JSONValue {
    do {
      return try item.value
    } catch let error as PageError {
      return try mended(Array(item.bytes), error)
    }
  }

  mutating func value(at path: PagePath, of document: any PageDocument) throws -> JSONValue? {
    do {
      return try document.value(at: path)
    } catch let error as PageError {
      guard let page = document as? JSONDocument, let bytes = try page.compact(at: path, of: 0)
      else { throw error }
      return try mended(bytes, error)
    }
  }

  /// Returns the repaired value, and counts it. Throws `error` if it is not a repairable one, or if
  /// reading is strict.
  private mutating func mended(_ json: [UInt8], _ error: PageError) throws -> JSONValue {
    guard error.code == .malformed, !isStrict else { throw error }
    count += 1
    return try RawItem(Self.mended(json), limits: limits).value
  }

  /// Returns JSON with each invalid byte sequence and each half surrogate pair replaced by U+FFFD.
  private static func mended(_ json: [UInt8]) -> [UInt8] {
    var bytes = Array(String(decoding: json, as: UTF8.self).utf8)
    JSONText.replaceUnstorableEscapes(in: &bytes, keepsNUL: true)
    return bytes
  }
}
