import Foundation
import QuireCore
import QuireListModel
import QuireTesting
import Testing

@testable import TerminalReader

/// The store of the example, as one that a reader of the guide writes.
@Suite(.timeLimit(.minutes(15))) struct FileListStoreTests {
  private typealias Store = FileListStore<ListStoreConformance.Item>

  @Test("18-Store, 18-Reader: the example's store in a file keeps every promise of a store")
  func conforms() async throws {
    let file = TemporaryFile()
    try await ListStoreConformance.check { Store(file.path) }
  }

  @Test("18-Store, 18-Reader: a file that is cut off or damaged is never taken for a listing")
  func damages() async throws {
    let damages: [(inout Data) -> Void] = [
      { $0 = Data() },
      { $0.removeLast(2000) },
      { $0.removeLast() },
      { $0[$0.count / 2] = 0x0A },
      { $0.replaceSubrange(0..<9, with: [0, 1, 2]) },
      {
        $0 = Data(
          String(decoding: $0, as: UTF8.self).replacing("\"form\":1", with: "\"form\":2").utf8)
      },
    ]
    for damage in damages {
      let file = TemporaryFile()
      let url = URL(fileURLWithPath: file.path)
      try await ListStoreConformance.check(
        damagedBy: {
          var data = try Data(contentsOf: url)
          damage(&data)
          try data.write(to: url)
        }
      ) { Store(file.path) }
    }
  }

  @Test("18-Store, 18-Reader: a page is put where an earlier one was torn, and not behind it")
  func torn() async throws {
    let file = TemporaryFile()
    let url = URL(fileURLWithPath: file.path)
    let pages = (0..<3).map { StoredPage(Page([ListStoreConformance.Item(id: $0, text: "")])) }
    for (index, page) in pages.enumerated() {
      try await Store(file.path).keep(page, at: index, isLast: true)
    }
    try Data(contentsOf: url).dropLast(5).write(to: url)
    #expect(try await Store(file.path).pages() == Array(pages.prefix(2)))
    try await Store(file.path).keep(pages[2], at: 2, isLast: true)
    #expect(try await Store(file.path).pages() == pages)
  }
}
