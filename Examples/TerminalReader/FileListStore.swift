import Foundation
import Quire
import QuireListModel

/// Keeps a list's pages in a file, one line of JSON for each.
actor FileListStore<Item: Codable & Sendable>: ListStore {
  private let file: URL

  init(_ path: String) { file = URL(fileURLWithPath: path) }

  /// The pages kept. A line that was not written to its end is none.
  func pages() throws -> [StoredPage<Item>] {
    try lines().map { try JSONDecoder().decode(StoredPage<Item>.self, from: $0) }
  }

  /// Writes a page: at the end of the file where it is the next one, else the file anew.
  func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) throws {
    let line = try JSONEncoder().encode(page)
    let kept = try lines()
    guard index == kept.count, index > 0 else {
      let rest = isLast ? [] : kept.dropFirst(index + 1)
      let text = (kept.prefix(index) + [line] + rest).map { $0 + [0x0A] }.joined()
      return try Data(text).write(to: file, options: .atomic)
    }
    let end = try FileHandle(forWritingTo: file)
    defer { try? end.close() }
    try end.seekToEnd()
    try end.write(contentsOf: line + [0x0A])
  }

  private func lines() throws -> [Data] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let data = try Data(contentsOf: file)
    let end = data.lastIndex(of: 0x0A).map { data.index(after: $0) } ?? data.startIndex
    return data[..<end].split(separator: 0x0A).map { Data($0) }
  }
}
