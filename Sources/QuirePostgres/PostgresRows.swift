import QuireCore
import QuireExport
import QuirePagination

/// A writer of items in the text format of `COPY` (PostgreSQL manual, COPY, "Text Format").
struct PostgresRows {
  /// The rows so far.
  private(set) var bytes: [UInt8] = []

  private var columns: TableColumns
  private let types: [ColumnType]
  private let isNumbered: Bool
  private var count = 0
  /// The range in `values` of each column's value, which belongs to the row with the number `mark`.
  private var cells: [(mark: Int, range: Range<Int>)]
  private var values: [UInt8] = []
  private var scratch: [UInt8] = []
  private var rest: [UInt8] = []

  init(_ columns: TableColumns, isNumbered: Bool) {
    self.columns = columns
    types = columns.columns.map(\.type)
    self.isNumbered = isNumbered
    cells = Array(repeating: (0, 0..<0), count: columns.columns.count)
  }

  /// Removes and returns the rows so far; nil if there are none.
  mutating func take() -> [UInt8]? {
    defer { bytes.removeAll(keepingCapacity: true) }
    return bytes.isEmpty ? nil : bytes
  }

  mutating func append(_ item: TableItem) throws {
    count += 1
    values.removeAll(keepingCapacity: true)
    rest.removeAll(keepingCapacity: true)
    columns.beginItem()
    try item.visit({ add($0, of: item) }, finish: {})
    addOwn(item)
    for cell in cells {
      if cell.mark == count {
        bytes.append(contentsOf: values[cell.range])
      } else {
        bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "N")])
      }
      bytes.append(UInt8(ascii: "\t"))
    }
    if isNumbered {
      bytes.append(contentsOf: String(count).utf8)
    } else {
      bytes.removeLast()
    }
    bytes.append(UInt8(ascii: "\n"))
  }

  private mutating func add(_ member: RawMember, of item: TableItem) {
    guard let place = columns.index(of: member.name), cells[place].mark != count else {
      if columns.keepsRest { item.add(member, to: &rest) }
      return
    }
    let start = values.count
    switch member.kind {
    case .null:
      values.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "N")])
    case .true: values.append(contentsOf: "true".utf8)
    case .false: values.append(contentsOf: "false".utf8)
    case .number where types[place] == .text:
      NumberText(member.text).append(
        asTextIn: .postgres, isKey: columns.isKey(place), to: &values)
    case .number: values.append(contentsOf: member.text)
    case .string: escape(member.text)
    case .escapedString, .invalidUnicodeString, .container:
      addEscaped(member, of: item, isKey: columns.isKey(place))
    }
    cells[place] = (count, start..<values.count)
  }

  /// Appends a value that may have escapes. Where these are such that PostgreSQL cannot hold them, they
  /// are replaced, and `rest` has the value as it was written. So has a key, because two keys must
  /// not become one.
  private mutating func addEscaped(_ member: RawMember, of item: TableItem, isKey: Bool) {
    scratch.removeAll(keepingCapacity: true)
    let isHeld = TableDialect.postgres.holds(member)
    if !isHeld { item.add(member, to: &rest) }
    if member.kind == .container || isKey && !isHeld {
      item.append(member, to: &scratch)
      // A NUL or half a surrogate pair would fail each query that looks into the column.
      if !isHeld, !isKey { JSONText.replaceUnstorableEscapes(in: &scratch) }
    } else {
      JSONText.append(member.text, to: &scratch)
    }
    escapeWritten()
  }

  private mutating func addOwn(_ item: TableItem) {
    if let place = columns.itemIndex {
      scratch.removeAll(keepingCapacity: true)
      item.append(to: &scratch)
      put(at: place)
    }
    if let place = columns.restIndex, !rest.isEmpty {
      rest.append(UInt8(ascii: "}"))
      scratch = rest
      put(at: place)
    }
  }

  private mutating func put(at place: Int) {
    let start = values.count
    escapeWritten()
    cells[place] = (count, start..<values.count)
  }

  /// Appends the text in `scratch`, and replaces invalid UTF-8 in it, which PostgreSQL refuses.
  private mutating func escapeWritten() {
    if !scratch.withUnsafeBufferPointer({ isUTF8($0) }) {
      scratch = Array(String(decoding: scratch, as: UTF8.self).utf8)
    }
    let text = scratch
    escape(text)
  }

  private func isUTF8(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.allSatisfy { $0 < 0x80 } || String(validating: text, as: UTF8.self) != nil
  }

  /// Appends a text, with the symbol ␀ for NUL, which PostgreSQL cannot hold.
  private mutating func escape(_ text: some Sequence<UInt8>) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\\"): values.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\\")])
      case UInt8(ascii: "\n"): values.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
      case UInt8(ascii: "\r"): values.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "r")])
      case UInt8(ascii: "\t"): values.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "t")])
      case 0: values.append(contentsOf: "␀".utf8)
      default: values.append(byte)
      }
    }
  }
}
