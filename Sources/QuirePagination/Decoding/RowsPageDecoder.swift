import QuireCore

/// A decoder for pages of rows: CSV and JSON Lines.
///
/// Each page is converted to a JSON array, which a JSON decoder reads, so items can be typed, raw
/// or made by a closure like those of any page. A row of CSV becomes an object of texts, with the
/// names in the first line.
///
/// In CSV, an empty cell without quotes is null, and every other cell is a text: none is guessed to
/// be a number. A row whose length differs from the first line's makes the page `malformed`. If the
/// Content-Type says that there are no names (`header=absent`, RFC 4180, section 3), they are `c1`,
/// `c2` and so on. A page whose first line has none of the names of the first page's is an error: it
/// may be a row, or the words of one. A page that begins like HTML, XML or JSON is
/// `unexpectedMediaType`, and so is a notice that no Content-Type calls a table: a line of one cell
/// alone, and a first line of one cell, or a line alone, that reads like a sentence. A first line
/// `sep=;`, as spreadsheets write it, sets the delimiter. A table has the encoding of its byte order
/// mark, else that of the Content-Type's `charset`, else UTF-8; JSON Lines are in UTF-8.
///
/// The rows are the items, and the description's item path is ignored, because nothing surrounds
/// them. Neither format shows its own end, so a page is known to be complete only if the server
/// declares its length.
public struct RowsPageDecoder<Item: Sendable>: PageDecoder {
  private let format: PageFormat
  private let json: any PageDecoder<Item>

  /// Creates a decoder for pages of `csv` or `jsonLines` whose items `json` decodes.
  public init(_ format: PageFormat, json: any PageDecoder<Item>) {
    self.format = format
    self.json = json
  }

  /// Starts decoding a page.
  ///
  /// Throws what the JSON decoder throws.
  public func begin(_ context: DecodingContext) throws -> any PageDecoding<Item> {
    var inner = context
    inner.contentType = "application/json"
    inner.items = .root
    context.note?.bind(format)
    return Session(
      format: format, type: MediaType(context.contentType), json: json, context: inner,
      base: try json.begin(inner))
  }

  /// Decodes a single value with the JSON decoder.
  public func value<Value: Decodable>(
    _ type: Value.Type, of body: [UInt8], _ context: DecodingContext
  ) throws -> Value {
    try json.value(type, of: body, context)
  }

  private struct Session: PageDecoding {
    let format: PageFormat
    let type: MediaType
    let json: any PageDecoder<Item>
    /// The context of a page of JSON.
    let context: DecodingContext
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
        try table.checkFormat(isDeclared: type.format == .csv, known: context.columns)
        text = try table.json(after: context.columns)
        context.note?.bind(format, columns: table.columns.map { ColumnNames($0) })
      default: text = try LinesText(page).json()
      }
      do {
        try base.receive(text)
        return try base.finish()
      } catch let error as PageError where format != .csv {
        throw located(error, in: page)
      }
    }

    /// Returns the error of a page of JSON Lines with the place in the page, and not in the array
    /// that was made of it, which is found by decoding each line alone.
    private func located(_ error: PageError, in page: ArraySlice<UInt8>) -> PageError {
      var whole = context
      whole.delivery = .whole
      (whole.note, whole.expectedBytes) = (nil, nil)
      let message = LinesText(page).firstFault(error.code) { [whole] line in
        var session = try json.begin(whole)
        try session.receive(line)
        _ = try session.finish()
      }
      var error = error
      error.message = message ?? error.message
      return error
    }

    mutating func itemCount() throws -> Int? { try base.itemCount() }

    mutating func items() throws -> DecodedItems<Item> { try base.items() }
  }
}

/// A page of rows in its original encoding.
private struct PageText {
  private let bytes: [UInt8]
  private let charset: String?

  init(_ bytes: [UInt8], charset: String?) {
    (self.bytes, self.charset) = (bytes, charset)
  }

  /// Returns the text in UTF-8, without a byte order mark. Its reader validates it. A byte order
  /// mark takes precedence over the declared charset, as in XML (RFC 7303, section 3.2).
  ///
  /// Throws `malformed` for an unknown encoding, and for bytes that are invalid in the declared
  /// one.
  func utf8(readsUTF16: Bool) throws(PageError) -> ArraySlice<UInt8> {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return bytes[3...] }
    let label = charset.map { "\(ServerText($0, limit: 64))" }
    if readsUTF16, let encoding = byMark {
      return try text(bytes[2...], in: encoding, named: "UTF-16")
    }
    guard let charset, let label else { return try asUTF8() }
    guard var encoding = TextEncoding(label: charset) else {
      // Servers write many things there, and bytes that are valid UTF-8 are hardly anything else.
      if String(validating: bytes, as: UTF8.self) != nil { return try asUTF8() }
      throw PageError(
        .malformed,
        "The server says that the page is encoded in \(label), which is not known here, and it is not UTF-8. "
          + "Ask the server for UTF-8.")
    }
    if encoding.isASCIICompatible {
      guard !encoding.isUnicode else { return try asUTF8() }
    } else if bytes.first != 0, bytes.dropFirst().first == 0 {
      // A "utf-16" without a mark: its bytes tell the order; the standard assumes big-endian.
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

  /// UTF-16, if the page starts with its byte order mark; nil for the mark of UTF-32.
  private var byMark: TextEncoding? {
    guard !bytes.starts(with: [0xFF, 0xFE, 0, 0]) else { return nil }
    if bytes.starts(with: [0xFF, 0xFE]) { return .utf16LittleEndian }
    return bytes.starts(with: [0xFE, 0xFF]) ? .utf16BigEndian : nil
  }

  /// Throws `malformed` for UTF-16 and UTF-32, which show by a byte order mark, or by a zero in the
  /// first line or its end. Read as UTF-8, they would give names and texts with zeros in between.
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

/// A conversion of JSON Lines, or of a JSON text sequence (RFC 7464), to a JSON array.
struct LinesText {
  private let page: ArraySlice<UInt8>
  /// The byte between values. In a sequence, each value begins with a record separator, which no
  /// JSON contains, and may have several lines.
  private let separator: UInt8
  private static let recordSeparator: UInt8 = 0x1E

  /// What a value is called in messages.
  private var unit: String { separator == Self.recordSeparator ? "text" : "line" }

  init(_ page: ArraySlice<UInt8>) {
    separator = page.first == Self.recordSeparator ? Self.recordSeparator : 0x0A
    self.page = separator == 0x0A ? page : page.dropFirst()
  }

  /// Returns the values as a JSON array.
  ///
  /// Throws `malformed` for a line that is not one value, and `truncated` if the page ends inside a
  /// value. The values themselves are checked by the JSON decoder.
  func json() throws(PageError) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "[")]
    output.reserveCapacity(page.count + 2)
    var (number, rest) = (0, page)
    while !rest.isEmpty {
      let end = rest.firstIndex(of: separator) ?? rest.endIndex
      let text = rest[..<end]
      rest = rest[end...].dropFirst()
      number += 1
      guard let value = Self.value(in: text) else { continue }
      let isOpen = Self.isOpenAtEnd(value)
      if isOpen == true, value.endIndex == page.endIndex {
        throw PageError(
          .truncated, "The page is cut off: it ends inside of its \(unit) \(number).")
      }
      guard isOpen == false else {
        throw PageError(
          .malformed,
          noValue(number)
            + (separator == 0x0A
              ? " Where the page is one value over several lines, its format is JSON." : ""))
      }
      if output.count > 1 { output.append(UInt8(ascii: ",")) }
      output += value
    }
    output.append(UInt8(ascii: "]"))
    return output
  }

  /// Returns the value in a line, without a record separator before it; nil for a blank line.
  private static func value(in line: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let value = line.first == recordSeparator ? line.dropFirst() : line
    return value.contains { ![0x20, 0x09, 0x0A, 0x0D].contains($0) } ? value : nil
  }

  /// Returns the message that the line with this number, from 1, is broken.
  private func noValue(_ number: Int) -> String {
    separator == Self.recordSeparator
      ? "Text \(number) of the page is no single JSON value, as each text of a sequence is."
      : "Line \(number) of the page is no single JSON value, as each line of JSON Lines is."
  }

  /// Returns the message of the first line for which `check` throws, with the line's number, from
  /// 1; nil if there is none. Of an error with another code than `code` only the number is used.
  func firstFault(_ code: PageError.Code, by check: ([UInt8]) throws -> Void) -> String? {
    let lines = page.split(separator: separator, omittingEmptySubsequences: false)
    for (index, text) in lines.enumerated() {
      guard let value = Self.value(in: text) else { continue }
      do {
        try check(Array(value))
      } catch let error as PageError {
        guard error.code == code else { return noValue(index + 1) }
        let place = "of \(unit) \(index + 1)"
        return error.message.replacing("(line 1)", with: place)
          .replacing("(line ", with: "\(place) (its line ")
          .replacing("the end of the page", with: "the end of the \(unit)")
      } catch {
        return nil
      }
    }
    return nil
  }

  /// Returns whether the line ends inside a bracket or a string; nil if it contains more than one
  /// value or closes a bracket that is not open.
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

/// A conversion of a table (RFC 4180) to a JSON array.
struct TableText {
  private let page: ArraySlice<UInt8>
  private var place: Int
  private let delimiter: UInt8
  /// Whether the first line names the columns.
  private let hasNames: Bool
  private var line = 1
  /// The names in the first line, each as the start of a JSON member; nil if it has none.
  private(set) var columns: [[UInt8]]?

  init(_ page: ArraySlice<UInt8>, delimiter: UInt8?, hasNames: Bool) {
    self.page = page
    self.hasNames = hasNames
    if let (declared, end) = Self.declaredDelimiter(of: page) {
      (self.delimiter, place, line) = (declared, end, 2)
    } else {
      (self.delimiter, place) = (delimiter ?? Self.delimiter(of: page), page.startIndex)
    }
  }

  /// Returns the delimiter that a first line `sep=;` declares, as spreadsheets write it, and the
  /// start of the next line; nil if the table has no line like it.
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

  /// Returns the most frequent of the usual delimiters in the first line, outside of quotes; a
  /// comma if it has none.
  private static func delimiter(of page: ArraySlice<UInt8>) -> UInt8 {
    var counts = [Int](repeating: 0, count: delimiters.count)
    var isQuoted = false
    for byte in page {
      if byte == 0x22 { isQuoted.toggle() }
      if !isQuoted, byte == 0x0A || byte == 0x0D { break }
      if !isQuoted, let index = delimiters.firstIndex(of: byte) { counts[index] += 1 }
    }
    let most = counts.max() ?? 0
    return delimiters[counts.firstIndex(of: most) ?? 0]
  }

  /// The usual delimiters, the likeliest first.
  private static let delimiters = Array(",;\t|".utf8)

  /// Returns the rows as a JSON array of objects. `known` are the columns of the listing's first
  /// page.
  ///
  /// Throws `malformed` with the line where the text is no table, `shape` if none of its names is
  /// known, `truncated` if it ends inside a row, and `limitExceeded` if long names make the rows
  /// many times as large as the page.
  mutating func json(after known: ColumnNames? = nil) throws(PageError) -> [UInt8] {
    var output: [UInt8] = [UInt8(ascii: "[")]
    guard place < page.endIndex else { return output + [UInt8(ascii: "]")] }
    let names = try names()
    if Set(names).count < names.count {
      throw PageError(.malformed, "The first line of the table has a name twice.")
    }
    if hasNames {
      try checkNames(names, known)
      columns = names
    }
    while place < page.endIndex {
      let start = line
      let cells = try row()
      // A blank line is no row. In a table with one column it is a row with a null.
      if cells.count == 1, cells[0] == nil, names.count > 1 { continue }
      guard cells.count == names.count else {
        // A row that is too short and has no line end may have been cut off.
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
        if let cell { Self.append(quoted: cell, to: &output) } else { output += "null".utf8 }
      }
      output.append(UInt8(ascii: "}"))
      try DecodingLimits.checkGrowth(toBytes: output.count, of: page.count)
    }
    output.append(UInt8(ascii: "]"))
    return output
  }

  /// Throws `unexpectedMediaType` if the page is of another format, or a notice in place of a
  /// table. `isDeclared` tells whether the Content-Type names this format, and `known`
  /// are the columns of the listing's first page.
  func checkFormat(isDeclared: Bool, known: ColumnNames?) throws(PageError) {
    // A row can begin like anything.
    guard hasNames else { return }
    let text = page[place...].drop(while: \.isWhiteSpace)
    let first = ServerText(bytes: text.prefix { !endsLine($0) }, limit: 200)
    if let format = Self.otherFormat(of: text) {
      throw PageError(
        .unexpectedMediaType,
        "The page is read as a table, and begins like \(format): \(first)",
        remedies: format == "JSON"
          ? [Remedy(.decoder, ["JSON"], condition: "if all pages are like it")] : [])
    }
    let line = text.prefix { !endsLine($0) }
    guard !isDeclared, known == nil, !line.isEmpty else { return }
    let isAlone = text[line.endIndex...].allSatisfy(\.isWhiteSpace)
    let isNotice =
      line.contains(delimiter) ? isAlone && isSentence(line) : isAlone || isSentence(line)
    guard isNotice else { return }
    throw PageError(
      .unexpectedMediaType,
      "Neither its first line nor the Content-Type shows that the page is a table: \(first). A login page, a "
        + "proxy or another address may have answered.")
  }

  /// Whether a line reads like a sentence, of three words or more.
  private func isSentence(_ line: ArraySlice<UInt8>) -> Bool {
    let words = line.split(separator: 0x20)
    return words.count > 2 && words.last?.last.map { ".!?".utf8.contains($0) } == true
  }

  /// Returns the name of the format that a text without white space before it begins like; nil if
  /// it may be a table.
  private static func otherFormat(of text: ArraySlice<UInt8>) -> String? {
    guard let first = text.first else { return nil }
    let rest = text.dropFirst().drop(while: \.isWhiteSpace)
    switch first {
    case UInt8(ascii: "<"):
      // Tables of quotations have such names: `<TICKER>,<PER>,<DATE>`.
      let behind = text.drop { $0 != UInt8(ascii: ">") }.dropFirst().first
      return behind.map(delimiters.contains) ?? false ? nil : "HTML or XML"
    case UInt8(ascii: "{"): return "JSON"
    case UInt8(ascii: "["):
      // A name can have brackets around it, too: `[id],[name]`.
      let begins = rest.first.map { #"[]{"-0123456789"#.utf8.contains($0) } ?? true
      return begins ? "JSON" : nil
    default:
      let isWord = ["true", "false", "null"].contains { word in
        text.starts(with: word.utf8) && text.dropFirst(word.utf8.count).allSatisfy(\.isWhiteSpace)
      }
      return isWord ? "JSON" : nil
    }
  }

  private func checkNames(_ names: [[UInt8]], _ known: ColumnNames?) throws(PageError) {
    guard let known, known.isDisjoint(with: names) else { return }
    let first = ServerText(bytes: page.prefix { !endsLine($0) }, limit: 200)
    throw PageError(
      .shape,
      "The first line of the table has none of the names of the first page's: \(first). It may be a row, or "
        + "an error in place of a page. Ask the server for names on each page.")
  }

  /// Reads the names of the columns from the first line, each as the start of a JSON member.
  /// Without names, the columns are numbered and the first line is left to be read as a row.
  private mutating func names() throws(PageError) -> [[UInt8]] {
    let start = (place, line)
    let first = try row()
    guard !hasNames else {
      return first.map { cell in
        var name: [UInt8] = []
        Self.append(quoted: cell ?? [], to: &name)
        return name + [UInt8(ascii: ":")]
      }
    }
    (place, line) = start
    return first.indices.map { Array("\"c\($0 + 1)\":".utf8) }
  }

  /// Reads the cells up to the end of the line; nil for an empty cell without quotes.
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

  private static func append(quoted text: [UInt8], to output: inout [UInt8]) {
    text.withUnsafeBufferPointer { JSONText.append(quoted: $0, to: &output) }
  }
}
