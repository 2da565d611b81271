import QuireCore

/// Decodes pages that are lines: CSV, whose rows become objects of texts by the names in the first line, and
/// JSON Lines. Each page is made into a list of JSON, which a decoder of JSON reads, so that items are typed,
/// raw or made by a closure as those of any page are.
///
/// In CSV, an empty cell without quotes is null, and every other one is a text: nothing is guessed to be
/// a number. Rows are as long as the first line, or the page is `malformed`. Where the Content-Type says that
/// there are no names (`header=absent`, RFC 4180, section 3), they are `c1`, `c2` and so on. A first line
/// `sep=;`, as spreadsheets write it, sets the delimiter. A table is in the encoding of its byte order mark,
/// else in that of the Content-Type's `charset`, else in UTF-8; JSON Lines are in UTF-8.
///
/// The items are the page, whatever the description says: there is nothing around them. Neither format shows
/// its own end, so a page is whole only where the server says how long it is.
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
    return Session(
      format: format, type: MediaType(context.contentType), base: try json.begin(inner))
  }

  /// As the decoder of JSON.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try json.value(type, of: body, context)
  }

  private struct Session: PageDecoding {
    let format: PageFormat
    let type: MediaType
    var base: any PageDecoding<Item>
    var bytes: [UInt8] = []

    mutating func receive(_ slice: [UInt8]) {
      if bytes.isEmpty { bytes = slice } else { bytes += slice }
    }

    mutating func finish() throws -> any PageDocument {
      let page = try PageText(bytes, charset: format == .csv ? type.charset : nil)
        .utf8(readsUTF16: format == .csv)
      bytes = []
      var text: [UInt8] = []
      switch format {
      case .csv:
        var table = TableText(
          page, delimiter: type.name == "text/tab-separated-values" ? 0x09 : nil,
          hasNames: type.parameter("header")?.lowercased() != "absent")
        text = try table.json()
      default: text = try LinesText.json(page)
      }
      try base.receive(text)
      return try base.finish()
    }

    mutating func itemCount() throws -> Int? { try base.itemCount() }

    mutating func items() throws -> DecodedItems<Item> { try base.items() }
  }
}

/// The text of a page of lines, whatever it is encoded in.
private struct PageText {
  private let bytes: [UInt8]
  private let charset: String?

  init(_ bytes: [UInt8], charset: String?) {
    (self.bytes, self.charset) = (bytes, charset)
  }

  /// The text in UTF-8, which its reader checks, without a byte order mark. The mark comes before what HTTP
  /// says, as in XML (RFC 7303, section 3.2).
  ///
  /// Throws `malformed` for an encoding that is not read, and for bytes that are not in the declared one.
  func utf8(readsUTF16: Bool) throws(PageError) -> ArraySlice<UInt8> {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return bytes[3...] }
    let label = charset.map { "\(ServerText($0, limit: 64))" }
    if readsUTF16, let encoding = byMark {
      return try text(bytes[2...], in: encoding, named: "UTF-16")
    }
    guard let charset, let label else { return try asUTF8() }
    guard var encoding = TextEncoding(label: charset) else {
      // Servers write many things there, and text that can be read as UTF-8 is nothing else.
      if String(validating: bytes, as: UTF8.self) != nil { return try asUTF8() }
      throw PageError(
        .malformed,
        "The server says that the page is encoded in \(label), which is not known here, and it is not UTF-8. "
          + "Ask the server for UTF-8.")
    }
    if encoding.isASCIICompatible {
      guard !encoding.isUnicode else { return try asUTF8() }
    } else if bytes.first != 0, bytes.dropFirst().first == 0 {
      // "utf-16" without a mark: the bytes tell the order, and big-endian is the standard's guess.
      encoding = .utf16LittleEndian
    }
    return try text(bytes[...], in: encoding, named: label)
  }

  private func text(
    _ text: ArraySlice<UInt8>, in encoding: TextEncoding, named label: String
  ) throws(PageError) -> ArraySlice<UInt8> {
    guard let text = encoding.utf8(of: text) else {
      throw PageError(
        .malformed,
        "The page is said to be encoded in \(label), and has bytes that are not. Ask the server for UTF-8, or "
          + "its owner for the right charset.")
    }
    return text[...]
  }

  private func asUTF8() throws(PageError) -> ArraySlice<UInt8> {
    try refuseWideEncodings()
    return bytes[...]
  }

  /// UTF-16 by its byte order mark; that of UTF-32 is none.
  private var byMark: TextEncoding? {
    guard !bytes.starts(with: [0xFF, 0xFE, 0, 0]) else { return nil }
    if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
    return bytes.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
  }

  /// Throws `malformed` for UTF-16 and UTF-32, in which a line or its end has a zero: taken for UTF-8, it would
  /// make names and texts with zeros in between.
  private func refuseWideEncodings() throws(PageError) {
    let head = bytes.prefix(bytes.prefix { $0 != 0x0A }.count + 2)
    guard head.contains(0) || head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF])
    else { return }
    throw PageError(
      .malformed,
      "The page is encoded in UTF-16 or UTF-32, and the server does not say so, or pages of this format are "
        + "read in UTF-8 alone. Ask the server for UTF-8.")
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
  /// Whether the first line has the names of the columns.
  private let hasNames: Bool
  private var line = 1

  init(_ page: ArraySlice<UInt8>, delimiter: UInt8?, hasNames: Bool) {
    self.page = page
    self.hasNames = hasNames
    if let (declared, end) = Self.declaredDelimiter(of: page) {
      (self.delimiter, place, line) = (declared, end, 2)
    } else {
      (self.delimiter, place) = (delimiter ?? Self.delimiter(of: page), page.startIndex)
    }
  }

  /// The delimiter that a first line `sep=;` names, as spreadsheets write it for each other, and where the line
  /// behind it begins; nil for a table that has no such line.
  private static func declaredDelimiter(
    of page: ArraySlice<UInt8>
  ) -> (delimiter: UInt8, end: Int)? {
    var line = page.prefix { $0 != 0x0A && $0 != 0x0D }
    var rest = page[line.endIndex...]
    if rest.first == 0x0D { rest = rest.dropFirst() }
    if rest.first == 0x0A { rest = rest.dropFirst() }
    if line.count == 7, line.first == 0x22, line.last == 0x22 {
      line = line.dropFirst().dropLast()
    }
    guard line.count == 5, let delimiter = line.last, delimiter < 0x80, delimiter != 0x22,
      String(decoding: line.dropLast(), as: UTF8.self).lowercased() == "sep="
    else { return nil }
    return (delimiter, rest.startIndex)
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
    let names = try names()
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

  /// The names of the columns as members begin, from the first line, which is read with them; by their number
  /// where the table has none, so that the first line is a row.
  private mutating func names() throws(PageError) -> [[UInt8]] {
    let start = (place, line)
    let first = try row()
    guard !hasNames else {
      return first.map { cell in Self.quoted(cell ?? []) + [UInt8(ascii: ":")] }
    }
    (place, line) = start
    return first.indices.map { Array("\"c\($0 + 1)\":".utf8) }
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
