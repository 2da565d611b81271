import QuireCore

/// Decodes pages that are lines: CSV, whose rows become objects of texts by the names in the first line, and
/// JSON Lines. Each page is made into a list of JSON, which a decoder of JSON reads, so that items are typed,
/// raw or made by a closure as those of any page are.
///
/// In CSV, an empty cell without quotes is null, and every other one is a text: nothing is guessed to be
/// a number. Rows are as long as the first line, or the page is `malformed`. The items are the page, whatever
/// the description says: there is nothing around them. Neither format shows its own end, so a page is whole
/// only where the server says how long it is.
public struct RowsPageDecoder<Item: Sendable>: PageDecoder {
  private let format: PageFormat
  private let json: any PageDecoder<Item>

  /// A decoder of pages of `csv` or `jsonLines` whose items `json` makes.
  public init(_ format: PageFormat, json: any PageDecoder<Item>) {
    self.format = format
    self.json = json
  }

  /// Starts one page.
  ///
  /// Throws what the decoder of JSON throws.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    var inner = context
    inner.contentType = "application/json"
    inner.items = .root
    context.note?.bind(format)
    let type = MediaType(context.contentType).name
    return Session(
      format: format, isTabbed: type == "text/tab-separated-values", base: try json.begin(inner))
  }

  /// As the decoder of JSON.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try json.value(type, of: body, context)
  }

  private struct Session: PageDecoding {
    let format: PageFormat
    let isTabbed: Bool
    var base: any PageDecoding<Item>
    var bytes: [UInt8] = []

    mutating func receive(_ slice: [UInt8]) {
      if bytes.isEmpty { bytes = slice } else { bytes += slice }
    }

    mutating func finish() throws -> any PageDocument {
      try refuseWideEncodings()
      let page = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes[3...] : bytes[...]
      bytes = []
      var text: [UInt8] = []
      switch format {
      case .csv:
        var table = TableText(page, delimiter: isTabbed ? 0x09 : nil)
        text = try table.json()
      default: text = try LinesText.json(page)
      }
      try base.receive(text)
      return try base.finish()
    }

    /// Throws `malformed` for UTF-16 and UTF-32, in which a line or its end has a zero: taken for UTF-8, it would
    /// make names and texts with zeros in between.
    private func refuseWideEncodings() throws(PageError) {
      let head = bytes.prefix(bytes.prefix { $0 != 0x0A }.count + 2)
      guard head.contains(0) || head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
      else { return }
      throw PageError(
        .malformed,
        "The page is encoded in UTF-16 or UTF-32, and pages of lines are read in UTF-8 alone. Ask the "
          + "server for UTF-8.")
    }

    mutating func itemCount() throws -> Int? { try base.itemCount() }

    mutating func items() throws -> DecodedItems<Item> { try base.items() }
  }
}

/// JSON Lines as a list of JSON.
enum LinesText {
  /// Throws `malformed` for a line that is no single value, and `truncated` where the page ends inside of one; what a
  /// value is, the decoder of JSON says.
  static func json(_ page: ArraySlice<UInt8>) throws(PageError) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "[")]
    output.reserveCapacity(page.count + 2)
    var (number, rest) = (0, page)
    while !rest.isEmpty {
      let end = rest.firstIndex(of: 0x0A) ?? rest.endIndex
      // RFC 7464 puts this byte in front of each value.
      let line = rest.first == 0x1E ? rest[..<end].dropFirst() : rest[..<end]
      rest = rest[end...].dropFirst()
      number += 1
      guard line.contains(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { continue }
      let isOpen = isOpenAtEnd(line)
      if isOpen == true, line.endIndex == page.endIndex {
        throw PageError(.truncated, "The page is cut off: it ends inside of its line \(number).")
      }
      guard isOpen == false else {
        throw PageError(
          .malformed,
          "Line \(number) of the page is no single JSON value, as each line of JSON Lines is. Where the "
            + "page is one value over several lines, its format is JSON.")
      }
      if output.count > 1 { output.append(UInt8(ascii: ",")) }
      output += line
    }
    output.append(UInt8(ascii: "]"))
    return output
  }

  /// Whether a bracket or a string that begins in the line does not end there; nil where it holds more than one
  /// value.
  private static func isOpenAtEnd(_ line: ArraySlice<UInt8>) -> Bool? {
    var (depth, isText, isEscaped) = (0, false, false)
    for byte in line {
      if isText {
        if isEscaped {
          isEscaped = false
        } else if byte == UInt8(ascii: "\\") {
          isEscaped = true
        } else if byte == UInt8(ascii: "\"") {
          isText = false
        }
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "["), UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "]"), UInt8(ascii: "}"): depth -= 1
      case UInt8(ascii: ",") where depth == 0: return nil
      default: break
      }
      if depth < 0 { return nil }
    }
    return depth > 0 || isText
  }
}

/// A table (RFC 4180) as a list of JSON.
struct TableText {
  private let page: ArraySlice<UInt8>
  private var place: Int
  private let delimiter: UInt8
  private var line = 1

  init(_ page: ArraySlice<UInt8>, delimiter: UInt8?) {
    self.page = page
    place = page.startIndex
    self.delimiter = delimiter ?? Self.delimiter(of: page)
  }

  /// The one of the usual delimiters that the first line has most of, outside of quotes; a comma where it has
  /// none.
  private static func delimiter(of page: ArraySlice<UInt8>) -> UInt8 {
    let known = Array(",;\t|".utf8)
    var counts = [Int](repeating: 0, count: known.count)
    var isQuoted = false
    for byte in page {
      if byte == 0x22 { isQuoted.toggle() }
      if !isQuoted, byte == 0x0A { break }
      if !isQuoted, let index = known.firstIndex(of: byte) { counts[index] += 1 }
    }
    let most = counts.max() ?? 0
    return known[counts.firstIndex(of: most) ?? 0]
  }

  /// Throws `malformed` with the line where the text stops being a table, `truncated` where it ends inside of a row,
  /// and `limitExceeded` where long names make the rows many times as large as the page.
  mutating func json() throws(PageError) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "[")]
    guard place < page.endIndex else { return output + [UInt8(ascii: "]")] }
    let names = try row().map { cell in Self.quoted(cell ?? []) + [UInt8(ascii: ":")] }
    if Set(names).count < names.count {
      throw PageError(.malformed, "The first line of the table has a name twice.")
    }
    while place < page.endIndex {
      let start = line
      let cells = try row()
      // A line end behind the last row is no row.
      if cells.count == 1, cells[0] == nil, names.count > 1 { continue }
      guard cells.count == names.count else {
        // A row that is too short and has no line end behind it may be a part of one.
        let isCut = cells.count < names.count && place == page.endIndex && !endsLine(page.last)
        throw PageError(
          isCut ? .truncated : .malformed,
          "The row in line \(start) of the table has \(cells.count.counted("cell")), and its first line has "
            + "\(names.count).")
      }
      output.append(output.count > 1 ? UInt8(ascii: ",") : 0x20)
      output.append(UInt8(ascii: "{"))
      for (index, cell) in cells.enumerated() {
        if index > 0 { output.append(UInt8(ascii: ",")) }
        output += names[index]
        output += cell.map(Self.quoted) ?? Array("null".utf8)
      }
      output.append(UInt8(ascii: "}"))
      try DecodingLimits.checkGrowth(toBytes: output.count, of: page.count)
    }
    output.append(UInt8(ascii: "]"))
    return output
  }

  /// The cells up to the end of a line; nil for one without anything.
  private mutating func row() throws(PageError) -> [[UInt8]?] {
    var cells: [[UInt8]?] = []
    while true {
      cells.append(try cell())
      guard place < page.endIndex else { return cells }
      let byte = page[place]
      place += 1
      if byte == delimiter { continue }
      if byte == 0x0D, place < page.endIndex, page[place] == 0x0A { place += 1 }
      line += 1
      return cells
    }
  }

  private mutating func cell() throws(PageError) -> [UInt8]? {
    guard place < page.endIndex, page[place] == 0x22 else {
      let rest = page[place...]
      let end = rest.firstIndex { $0 == delimiter || $0 == 0x0A || $0 == 0x0D } ?? page.endIndex
      defer { place = end }
      return end == place ? nil : Array(page[place..<end])
    }
    let start = line
    var text: [UInt8] = []
    place += 1
    while place < page.endIndex {
      let byte = page[place]
      place += 1
      if byte == 0x0A { line += 1 }
      guard byte == 0x22 else {
        text.append(byte)
        continue
      }
      if place < page.endIndex, page[place] == 0x22 {
        text.append(byte)
        place += 1
        continue
      }
      guard place == page.endIndex || [delimiter, 0x0A, 0x0D].contains(page[place]) else { break }
      return text
    }
    guard place < page.endIndex else {
      throw PageError(
        .truncated,
        "The quote that opens in line \(start) of the table is not closed: the page was cut off.")
    }
    throw PageError(
      .malformed,
      "Something stands behind the closing quote of a cell, in line \(line) of the table.")
  }

  private func endsLine(_ byte: UInt8?) -> Bool { byte == 0x0A || byte == 0x0D }

  /// The text as a string of JSON.
  private static func quoted(_ text: [UInt8]) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "\"")]
    output.reserveCapacity(text.count + 2)
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): output += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        output += Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]]
      default: output.append(byte)
      }
    }
    output.append(UInt8(ascii: "\""))
    return output
  }
}
