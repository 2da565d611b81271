import GRDB
import GRDBSQLite
import QuireCore
import QuireExport
import QuirePagination

/// A prepared statement that writes an item's row. Texts are bound where they stand in the page,
/// and copied only if they were written with escapes or white space.
///
/// It is a struct because its properties are read for each value: in a class, each access would be
/// checked for exclusivity.
struct SQLiteRow {
  private let statement: Statement
  private let pointer: OpaquePointer
  private let connection: OpaquePointer?
  private let types: [ColumnType]
  /// Whether each column holds a part of the key.
  private let isKey: [Bool]
  /// The number of the last row that has a value in each column.
  private var seen: [Int]
  private var mark = 0
  private var scratch: [UInt8] = []
  private var rest: [UInt8] = []

  init(_ sql: String, _ columns: TableColumns, _ database: Database) throws {
    statement = try database.makeStatement(sql: sql)
    pointer = statement.sqliteStatement
    connection = database.sqliteConnection
    types = columns.columns.map(\.type)
    isKey = columns.columns.indices.map { columns.isKey($0) }
    seen = Array(repeating: 0, count: types.count)
  }

  /// Writes a row. If `isChecked`, it is written only if the columns can hold it unchanged. Returns
  /// whether it was written.
  @discardableResult
  mutating func insert(
    _ item: TableItem, by columns: inout TableColumns, isChecked: Bool = false
  ) throws -> Bool {
    mark += 1
    columns.beginItem()
    rest.removeAll(keepingCapacity: true)
    sqlite3_clear_bindings(pointer)
    var (fits, keys) = (true, 0)
    try item.visit(
      { member in
        if isChecked {
          guard fits, let place = columns.fittingIndex(of: member), seen[place] != mark else {
            return fits = false
          }
          seen[place] = mark
          if member.kind != .null, columns.isKey(place) { keys += 1 }
          return try bind(member, of: item, at: place)
        }
        guard let place = columns.index(of: member.name), seen[place] != mark else {
          if columns.keepsRest { item.add(member, to: &rest) }
          return
        }
        seen[place] = mark
        try bind(member, of: item, at: place)
      },
      finish: {
        fits = fits && !(isChecked && keys < columns.key.count)
        guard fits else { return }
        if !item.isDeletion { try bindOwn(item, columns) }
        let result = sqlite3_step(pointer)
        sqlite3_reset(pointer)
        if result != SQLITE_DONE { throw failure(result) }
      })
    return fits
  }

  // MARK: Values

  @inline(__always)
  private mutating func bind(_ member: RawMember, of item: TableItem, at place: Int) throws {
    let index = Int32(place + 1)
    let result: Int32
    switch member.kind {
    case .null: return
    case .string: result = bindText(member.text, at: index)
    case .number where types[place] == .text:
      scratch.removeAll(keepingCapacity: true)
      NumberText(member.text).append(asTextIn: .sqlite, isKey: true, to: &scratch)
      result = bindScratch(at: index)
    case .number: result = bindNumber(member.text, at: place)
    case .true, .false:
      result =
        types[place] == .boolean
        ? sqlite3_bind_int64(pointer, index, member.kind == .true ? 1 : 0)
        : bindText(member.text, at: index)
    case .escapedString:
      scratch.removeAll(keepingCapacity: true)
      JSONText.append(member.text, to: &scratch)
      result = bindScratch(at: index)
    case .invalidUnicodeString:
      scratch.removeAll(keepingCapacity: true)
      if isKey[place] {
        // As it was written: two keys must not become one.
        item.append(member, to: &scratch)
      } else {
        JSONText.append(member.text, to: &scratch)
      }
      scratch = Array(String(decoding: scratch, as: UTF8.self).utf8)
      item.add(member, to: &rest)
      result = bindScratch(at: index)
    case .container:
      scratch.removeAll(keepingCapacity: true)
      item.append(member, to: &scratch)
      result = bindScratch(at: index)
    }
    if result != SQLITE_OK { throw failure(result) }
  }

  @inline(__always)
  private func bindNumber(_ text: UnsafeBufferPointer<UInt8>, at place: Int) -> Int32 {
    let index = Int32(place + 1)
    switch types[place] {
    case .integer, .number:
      if let integer = NumberText(text).integer {
        return sqlite3_bind_int64(pointer, index, integer)
      }
      return sqlite3_bind_double(pointer, index, NumberText(text).double)
    case .decimal: return sqlite3_bind_double(pointer, index, NumberText(text).double)
    case .none, .boolean, .json, .text: return bindText(text, at: index)
    }
  }

  /// Binds bytes that must live until the row is written.
  @inline(__always)
  private func bindText(_ text: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
    guard let start = text.baseAddress, !text.isEmpty else {
      return sqlite3_bind_text(pointer, index, "", 0, Self.copied)
    }
    return sqlite3_bind_text64(
      pointer, index, UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self),
      sqlite3_uint64(text.count), nil, UInt8(SQLITE_UTF8))
  }

  private func bindScratch(at index: Int32) -> Int32 { bindCopy(scratch, at: index) }

  private func bindCopy(_ bytes: [UInt8], at index: Int32) -> Int32 {
    guard !bytes.isEmpty else { return sqlite3_bind_text(pointer, index, "", 0, Self.copied) }
    return bytes.withUnsafeBytes { bytes in
      sqlite3_bind_text64(
        pointer, index, bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
        sqlite3_uint64(bytes.count), Self.copied, UInt8(SQLITE_UTF8))
    }
  }

  /// `SQLITE_TRANSIENT`, with which SQLite copies the bytes that are bound.
  private static var copied: sqlite3_destructor_type {
    unsafeBitCast(-1, to: sqlite3_destructor_type.self)
  }

  // MARK: Columns of the sink's own

  private mutating func bindOwn(_ item: TableItem, _ columns: TableColumns) throws {
    if let place = columns.itemIndex {
      scratch.removeAll(keepingCapacity: true)
      item.append(to: &scratch)
      try check(bindScratch(at: Int32(place + 1)))
    }
    if let place = columns.restIndex, !rest.isEmpty {
      rest.append(UInt8(ascii: "}"))
      try check(bindCopy(rest, at: Int32(place + 1)))
    }
  }

  private func check(_ result: Int32) throws {
    if result != SQLITE_OK { throw failure(result) }
  }

  private func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: sqlite3_extended_errcode(connection)),
      message: sqlite3_errmsg(connection).map { String(cString: $0) } ?? "code \(code)")
  }
}
