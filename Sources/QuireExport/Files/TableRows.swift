import QuireCore
import QuireJSON
import QuirePagination

/// Encodes items as rows of cells (RFC 4180), and finds the columns in the items.
struct TableRows {
  /// The byte between cells: a comma or a tab.
  let delimiter: UInt8
  /// The bytes at the end of a line.
  private let lineEnd: [UInt8]
  private let guardsFormulas: Bool
  /// The paths of the chosen columns; nil if columns are found in the items.
  private let chosen: [PagePath]?
  /// The names of the columns. A name that occurs twice in an item has two columns, as in tables
  /// from servers.
  private(set) var columns: [String] = []
  /// The index of the first column of each name.
  private var places: [ExactName: Int] = [:]
  private var uses: [ColumnUse] = []
  /// Whether the first line is written. Rows before a column that is found later have fewer cells.
  var hasHead: Bool
  /// Whether columns are found in the items rather than chosen.
  var isFinding: Bool { chosen == nil }
  /// Whether rows were written that have fewer cells than there are columns, or are empty lines.
  private(set) var isRagged = false
  /// The number of rows so far.
  private var row = 0
  /// The bytes of the items so far, and the cells that these leave empty.
  private var (itemBytes, emptyCells) = (0, 0)
  /// The maximum number of found columns: the limit of the widest spreadsheets.
  private static let mostColumns = 16_384

  init(
    _ format: FileFormat, chosen: [TableColumn]?, guardsFormulas: Bool, found: [String]?,
    isRagged: Bool
  ) {
    delimiter = format.kind == .tsv ? 0x09 : UInt8(ascii: ",")
    lineEnd = format.kind == .tsv ? [0x0A] : [0x0D, 0x0A]
    self.guardsFormulas = guardsFormulas
    self.chosen = chosen?.map(\.path)
    hasHead = found != nil
    self.isRagged = isRagged
    for name in chosen?.map(\.name) ?? found ?? [] { addColumn(name) }
  }

  /// The first line, with the names of the columns.
  var head: [UInt8] {
    var line: [UInt8] = []
    for (index, name) in columns.enumerated() {
      if index > 0 { line.append(delimiter) }
      append(text: name, to: &line)
    }
    return line + lineEnd
  }

  /// Appends the row of an item.
  mutating func append(_ item: RawItem, to output: inout [UInt8]) throws {
    let start = output.count
    if let chosen {
      for (index, path) in chosen.enumerated() {
        if index > 0 { output.append(delimiter) }
        if let value = try item.valueOrText(at: path) { append(value, to: &output) }
      }
    } else {
      try appendFound(item, to: &output)
    }
    if output.count == start {
      // Readers skip empty lines, so a row of one empty cell is quoted. As long as columns may be
      // added, the line stays empty: when it is filled, a quoted cell would be an empty text.
      if isFinding { isRagged = true } else { output += [0x22, 0x22] }
    }
    output += lineEnd
  }

  /// Adds columns for the members of an item.
  mutating func find(_ item: RawItem) throws {
    row += 1
    for (name, _) in try members(of: item) { _ = try place(of: name) }
  }

  /// Returns the members of an item; an item that is not an object is a member called `value`.
  private func members(of item: RawItem) throws -> [(name: String, value: RawItem)] {
    if let members = item.members() { return members }
    guard item.bytes.first == UInt8(ascii: "{") else { return [("value", item)] }
    // The storage does not index the members of this format, so the bytes are parsed as JSON.
    return try RawItem(Array(item.bytes)).members() ?? [("value", item)]
  }

  private mutating func appendFound(_ item: RawItem, to output: inout [UInt8]) throws {
    var cells: [(place: Int, value: RawItem)] = []
    row += 1
    for (name, value) in try members(of: item) {
      cells.append((try place(of: name), value))
    }
    itemBytes += item.bytes.count
    emptyCells += columns.count - cells.count
    try Self.check(emptyCells, columns: columns.count, ofBytes: itemBytes)
    cells.sort { $0.place < $1.place }
    // Absent cells are appended as runs of delimiters: an item may have few of very many columns.
    var last = 0
    for (place, cell) in cells {
      appendDelimiters(place - last, to: &output)
      last = place
      // Half a surrogate pair cannot be decoded as text: the cell then keeps the JSON of the
      // server.
      let isContainer = cell.bytes.first.map("{[".utf8.contains) ?? false
      if !isContainer, let value = try? cell.value {
        append(value, to: &output)
      } else {
        append(quoted: cell.compact, to: &output)
      }
    }
    appendDelimiters(columns.count - 1 - last, to: &output)
  }

  /// Throws if a table has very many more empty cells than there is to write: one item with thousands
  /// of names lets each later one take kilobytes, however short it is.
  fileprivate static func check(
    _ emptyCells: Int, columns: Int, ofBytes bytes: Int
  ) throws(SinkError) {
    guard emptyCells > 64 << 20, emptyCells / 100 > bytes else { return }
    throw SinkError(
      .unfit,
      "The table would be hardly anything but empty cells: it has \(columns) columns, and most items have few of "
        + "these members. Name the columns that are wanted, or write JSON Lines.")
  }

  private func appendDelimiters(_ count: Int, to output: inout [UInt8]) {
    if count == 1 {
      output.append(delimiter)
    } else if count > 1 {
      output += [UInt8](repeating: delimiter, count: count)
    }
  }

  /// Returns the column for the next value of this name in the row.
  private mutating func place(of name: String) throws(SinkError) -> Int {
    guard let first = places[ExactName(text: name)] else { return try newColumn(name) }
    var place = first
    if uses[first].row == row {
      if let next = uses[uses[first].latest].following {
        place = next
      } else {
        place = try newColumn(name)
      }
    }
    uses[first].row = row
    uses[first].latest = place
    return place
  }

  private mutating func newColumn(_ name: String) throws(SinkError) -> Int {
    // Limited because each row has a cell for each column: if every item had names of its own, the
    // file would grow with the square of their number.
    guard columns.count < Self.mostColumns else {
      throw SinkError(
        .unfit,
        "The items have members of more than \(Self.mostColumns) names, and a table has a column for each: more than a "
          + "spreadsheet has. Name the columns that are wanted, or write JSON Lines.")
    }
    isRagged = isRagged || hasHead
    return addColumn(name)
  }

  @discardableResult
  private mutating func addColumn(_ name: String) -> Int {
    let place = columns.count
    columns.append(name)
    uses.append(ColumnUse(row: row, latest: place, last: place))
    let first = places[ExactName(text: name), default: place]
    places[ExactName(text: name)] = first
    if first != place {
      uses[uses[first].last].following = place
      uses[first].last = place
    }
    return place
  }

  private func append(_ value: JSONValue, to output: inout [UInt8]) {
    switch value {
    case .null: break
    case .bool(let truth): output += (truth ? "true" : "false").utf8
    case .number(let text): output += text.utf8
    case .string(let text): append(text: text, to: &output)
    case .array, .object: append(quoted: Array(value.description.utf8), to: &output)
    }
  }

  private func append(text: String, to output: inout [UInt8]) {
    var bytes = Array(text.utf8)
    if guardsFormulas, let first = text.unicodeScalars.first, Self.formulaStarts.contains(first) {
      bytes.insert(UInt8(ascii: "'"), at: 0)
    }
    let needsQuotes =
      bytes.isEmpty
      || bytes.contains { $0 == delimiter || $0 == 0x22 || $0 == 0x0A || $0 == 0x0D }
      // Some readers trim white space at the ends of unquoted cells.
      || bytes.first == 0x20 || bytes.last == 0x20
    if needsQuotes { append(quoted: bytes, to: &output) } else { output += bytes }
  }

  /// The characters at the start of a text that make spreadsheets read it as a formula, including
  /// East Asian wide forms (OWASP, CSV Injection).
  private static let formulaStarts = Set(
    "=+-@\t\r\n\u{FF1D}\u{FF0B}\u{FF0D}\u{FF20}".unicodeScalars)

  private func append(quoted bytes: [UInt8], to output: inout [UInt8]) {
    output.append(0x22)
    for byte in bytes {
      if byte == 0x22 { output.append(0x22) }
      output.append(byte)
    }
    output.append(0x22)
  }
}

/// The use of the columns of one name within a row. Kept in the entry of the first of these
/// columns, except for `following`.
private struct ColumnUse {
  /// The last row with a value of this name.
  var row: Int
  /// The column of the last value of this name in that row.
  var latest: Int
  /// The last column of this name.
  var last: Int
  /// The next column of the same name.
  var following: Int?
}

/// A name compared by its bytes. Names with the same accent in different Unicode notation are equal
/// as `String`s, but have separate columns.
private struct ExactName: Hashable {
  let text: String

  static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

  func hash(into hasher: inout Hasher) {
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}

/// Copies the text of a table, padding every row with empty cells and replacing the first line by
/// one with all columns. An empty line of a table with one column becomes a quoted cell.
struct TableFiller {
  private let delimiter: UInt8
  private let columns: Int
  private var head: [UInt8]?
  private var delimiters = 0
  private var isQuoted = false
  private var isLineEmpty = true
  /// The bytes of the text so far, and the cells that were added to it.
  private var (textBytes, emptyCells) = (0, 0)

  init(_ rows: TableRows) {
    delimiter = rows.delimiter
    columns = rows.columns.count
    head = rows.head
  }

  /// Passes the padded text to `use` in pieces. `text` may be cut anywhere.
  mutating func fill(_ text: [UInt8], _ use: ([UInt8]) throws -> Void) throws {
    var output: [UInt8] = []
    output.reserveCapacity(text.count + 1024)
    textBytes += text.count
    for byte in text {
      if byte == 0x22 { isQuoted.toggle() }
      let isEnd = !isQuoted && (byte == 0x0A || byte == 0x0D)
      if let head {
        // The old first line is dropped.
        if isEnd, byte == 0x0A {
          output += head
          self.head = nil
        }
        continue
      }
      if isEnd, delimiters >= 0 {
        if isLineEmpty, columns <= 1 { output += [0x22, 0x22] }
        let missing = max(0, columns - 1 - delimiters)
        emptyCells += missing
        try TableRows.check(emptyCells, columns: columns, ofBytes: textBytes)
        output += repeatElement(delimiter, count: missing)
        delimiters = -1
      }
      if !isQuoted, byte == delimiter { delimiters = max(delimiters, 0) + 1 }
      output.append(byte)
      isLineEmpty = isEnd
      guard byte == 0x0A, !isQuoted else { continue }
      delimiters = 0
      guard output.count >= FileContent.pieceSize else { continue }
      try use(output)
      output.removeAll(keepingCapacity: true)
    }
    try use(output)
  }
}
