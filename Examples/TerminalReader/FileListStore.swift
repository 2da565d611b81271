import Foundation
import Quire
import QuireListModel

/// Stores a list's pages in a file, one line of JSON for each.
actor FileListStore<Item: Codable & Sendable>: ListStore {
  /// A line of the file, with the version of its format.
  private struct Line: Codable {
    var form = 1
    var page: StoredPage<Item>
  }

  /// The error for a file that a later version has written. The file is left unchanged.
  struct Later: Error, CustomStringConvertible {
    let path: String
    var description: String { "\(path) was written by a later version. Name another file." }
  }

  /// The part of a line that every version can read.
  private struct Form: Decodable { var form: Int }

  private let file: URL

  init(_ path: String) { file = URL(fileURLWithPath: path) }

  /// Returns the stored pages. An incomplete last line, which a killed process leaves, is ignored.
  func pages() throws -> [StoredPage<Item>] {
    try lines().map { try JSONDecoder().decode(Line.self, from: $0).page }
  }

  /// Writes a page: appends it if it follows the stored ones, otherwise rewrites the file. After
  /// the last page no others are kept.
  func keep(_ page: StoredPage<Item>, at index: Int, isLast: Bool) throws {
    let line = try JSONEncoder().encode(Line(page: page)) + [0x0A]
    let kept = try lines()
    guard index == kept.count, index > 0 else {
      let rest = isLast ? [] : kept.dropFirst(index + 1)
      let text = kept.prefix(index).flatMap { $0 + [0x0A] } + line + rest.flatMap { $0 + [0x0A] }
      return try Data(text).write(to: file, options: .atomic)
    }
    let end = try FileHandle(forWritingTo: file)
    defer { try? end.close() }
    // Remove an incomplete last line first.
    try end.truncate(atOffset: UInt64(kept.reduce(0) { $0 + $1.count + 1 }))
    try end.seekToEnd()
    try end.write(contentsOf: line)
  }

  /// Returns the complete lines of the file. Throws `Later` if a later version has written it.
  private func lines() throws -> [Data] {
    guard FileManager.default.fileExists(atPath: file.path) else { return [] }
    let data = try Data(contentsOf: file)
    let end = data.lastIndex(of: 0x0A).map { data.index(after: $0) } ?? data.startIndex
    let lines = data[..<end].split(separator: 0x0A).map { Data($0) }
    let form = lines.first.flatMap { try? JSONDecoder().decode(Form.self, from: $0).form }
    if let form, form > 1 { throw Later(path: file.path) }
    return lines
  }
}
