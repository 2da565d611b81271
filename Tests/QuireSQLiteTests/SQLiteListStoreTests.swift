import Foundation
import GRDB
import QuireCore
import QuireExport
import QuireListModel
import QuireSQLite
import QuireTesting
import TestSupport
import Testing

/// Pages of lists in a file of SQLite.
@Suite(.timeLimit(.minutes(15))) struct SQLiteListStoreTests {
  private typealias Item = ListStoreConformance.Item
  private typealias Store = SQLiteListStore<Item>

  private static func damage(_ path: String, _ sql: String) throws {
    try DatabaseQueue(path: path).write { try $0.execute(sql: sql) }
  }

  /// Overwrites the bytes from one on, up to the end of the file.
  private static func overwrite(_ path: String, from offset: Int) throws {
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    for index in offset..<bytes.count { bytes[index] = 0xA5 }
    try bytes.write(to: URL(fileURLWithPath: path))
  }

  @Test("18-Store: a file of SQLite keeps every promise of a store")
  func conforms() async throws {
    let tables = try Tables()
    let path = tables.path
    try await ListStoreConformance.check { Store(path) }
    // Beside other lists and tables of the file, which stay.
    try Self.damage(tables.path, "CREATE TABLE mine (a); INSERT INTO mine VALUES (7)")
    let other = try await Store(tables.path).pages()
    try await ListStoreConformance.check { Store(path, list: "other") }
    #expect(try await Store(tables.path).pages() == other && !other.isEmpty)
    #expect(try tables.rows("SELECT a FROM mine") == ["i7"])
  }

  @Test(
    "18-Store: a file that is damaged, cut off, of a later version or of other items is never taken for a listing"
  )
  func damages() async throws {
    let damages: [(String) throws -> Void] = [
      { try Self.overwrite($0, from: 0) },
      { try Self.overwrite($0, from: 4096) },
      { path in
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 4096 + 512)
        try file.close()
      },
      { try Self.damage($0, "DELETE FROM quire_list WHERE number = 1") },
      { try Self.damage($0, "UPDATE quire_list SET body = substr(body, 1, 99) WHERE number = 1") },
      { try Self.damage($0, "UPDATE quire_list SET body = '{\"items\":[1]}'") },
      { try Self.damage($0, "UPDATE quire_list SET form = 2") },
    ]
    for damage in damages {
      let tables = try Tables()
      let path = tables.path
      try await ListStoreConformance.check(damagedBy: { try damage(path) }) { Store(path) }
    }
  }

  @Test("18-Store: what a later version has kept is told of, and stays as it is")
  func later() async throws {
    let tables = try Tables()
    let page = StoredPage(Page([Item(id: 1, text: "a")]))
    try await Store(tables.path).keep(page, at: 0, isLast: true)
    try Self.damage(tables.path, "UPDATE quire_list SET form = 2, body = 'later'")
    for _ in 0..<2 {
      let error = await #expect(throws: SinkError.self) { try await Store(tables.path).pages() }
      #expect(error?.code == .notOurs && error?.message.contains("later version") == true)
      await #expect(throws: SinkError.self) {
        try await Store(tables.path).keep(page, at: 0, isLast: true)
      }
    }
    #expect(try tables.rows("SELECT number, form, body FROM quire_list") == ["i0|i2|later"])
  }

  @Test("18-Store: a model whose file cannot be used shows its list all the same, and says why")
  @MainActor func failing() async throws {
    let tables = try Tables()
    try Data("no database, but notes".utf8).write(to: URL(fileURLWithPath: tables.path))
    let source = ScriptedSource(items: [[Item(id: 1, text: "a")], [Item(id: 2, text: "b")]])
    for path in [tables.path, tables.folder.path, "/nowhere/at/all"] {
      let model = ListModel(Cursor(source), store: Store(path))
      try await model.start()
      await model.settleStore()
      #expect(model.items.first?.id == 1 && model.snapshot.storeError is SinkError)
    }
    #expect(try String(contentsOfFile: tables.path, encoding: .utf8) == "no database, but notes")
  }

  @Test("18-Store: a model shows at once what the run before has kept in the file")
  @MainActor func restores() async throws {
    let tables = try Tables()
    let source = ScriptedSource(items: [[Item(id: 1, text: "a")], [Item(id: 2, text: "b")]])
    let options = ListOptions(threshold: .onDemand)
    let first = ListModel(Cursor(source), options: options, store: Store(tables.path))
    try await first.start()
    try await first.loadMore()
    await first.settleStore()
    source.fail(1, times: 1)
    let second = ListModel(Cursor(source), options: options, store: Store(tables.path))
    await #expect(throws: PageError.self) { try await second.start() }
    #expect(second.items.map(\.id) == [1, 2] && second.snapshot.list.isStale)
    #expect(second.snapshot.refreshError != nil && second.snapshot.storeError == nil)
  }
}
