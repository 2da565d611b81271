import QuireJSON
import QuirePagination
import QuireXML
import Foundation
import Quire
import QuireExport

/// Writes bad items, each as a line of JSON, to a file or to standard error.
struct BadItemWriter {
  private let file: LineWriter?
  private let meter: ProgressMeter

  /// Creates a writer into `file`, or to standard error if it is nil.
  init(_ file: LineWriter?, meter: ProgressMeter) {
    self.file = file
    self.meter = meter
  }

  /// The file's entry in a report; nil for standard error.
  var record: FileRecord? { file?.record }

  /// Writes the bad items of `page` before the page itself is committed: a failure in between
  /// repeats them and loses none.
  func write(_ page: SinkPage) throws {
    for item in page.badItems {
      let line = try Self.line(item, at: file == nil ? nil : page.position, on: page)
      if let file {
        file.appendLine { $0 += line }
      } else {
        meter.clear()
        Diagnostics.write(String(decoding: line, as: UTF8.self))
      }
    }
    try file?.commit()
  }

  /// Commits what was written, and returns once it survives a loss of power. Throws if the system
  /// reports that data were lost.
  func store() throws { try file?.store() }

  /// Asks the system to store what was committed.
  func confirm() { file?.confirm() }

  private static func line(
    _ item: BadItem, at position: Position?, on page: SinkPage
  ) throws -> [UInt8] {
    Array(try JSONEncoder.ordered.encode(Record(item, at: position, on: page)))
  }

  /// The line of a bad item.
  private struct Record: Encodable {
    /// The page in this export and the item in it, both from 0.
    let page: Int
    let index: Int
    /// Where the page starts, for `--from`. Nil on standard error, because a position may hold
    /// values that the server means for this client alone.
    let position: Position?
    /// The path in the item at which decoding failed.
    let path: String
    let message: String
    /// The item's bytes as text, or in base 64 if they are not UTF-8.
    let text: String?
    let base64: Data?

    init(_ item: BadItem, at position: Position?, on page: SinkPage) {
      self.page = page.index
      index = item.index
      self.position = position
      path = item.path
      message = item.message
      text = String(validating: item.bytes, as: UTF8.self)
      base64 = text == nil ? Data(item.bytes) : nil
    }
  }
}
