import QuireJSON
import QuirePagination
import QuireXML
import Foundation
import Quire
import QuireExport

/// Writes items that were set aside, each as a line of JSON: to a file, or to stderr.
struct BadItemWriter {
  private let file: LineWriter?
  private let meter: ProgressMeter

  /// A writer into `file`, or to stderr where it is nil.
  init(_ file: LineWriter?, meter: ProgressMeter) {
    self.file = file
    self.meter = meter
  }

  /// What a report keeps of the file.
  var record: FileRecord? { file?.record }

  /// Writes the items that were set aside on `page`, before the page itself counts as written: a
  /// failure in between repeats them, and loses none.
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

  /// Makes sure that the file holds what was written.
  func finish() throws { try file?.finish() }

  /// Has the system confirm what is in the file.
  func confirm() { file?.confirm() }

  private static func line(
    _ item: BadItem, at position: Position?, on page: SinkPage
  ) throws -> [UInt8] {
    Array(try JSONEncoder.ordered.encode(Record(item, at: position, on: page)))
  }

  /// What is kept of a bad item.
  private struct Record: Encodable {
    /// The page in this export and the item in it, both from 0.
    let page: Int
    let index: Int
    /// Where the page starts, for `--from`; nil on stderr, for it may hold what the server means for
    /// the caller alone.
    let position: Position?
    /// Where in the item it is broken.
    let path: String
    let message: String
    /// The item as it came: as text, or in base 64 where it is none.
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
