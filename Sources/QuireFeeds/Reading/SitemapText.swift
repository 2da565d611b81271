import QuireCore
import QuirePagination

/// Reads a sitemap in the text format: one address on each line, in UTF-8.
///
/// Source: the sitemaps protocol (https://www.sitemaps.org/protocol.html), "Text file".
struct SitemapText {
  private let limits: DecodingLimits
  private let scope = FeedScope(url: nil)
  /// The start of the current line, whose end has not been received.
  private var line: [UInt8] = []
  private var entries: [FeedEntry] = []
  private var lineCount = 0
  private var repairs = RepairTally()

  init(_ limits: DecodingLimits) { self.limits = limits }

  /// The media types of plain text, and those that say nothing about the content. The empty one
  /// stands for a missing Content-Type.
  private static let types: Set<String> = [
    "", "text/plain", "application/octet-stream", "application/gzip", "application/x-gzip",
  ]

  /// Whether a page that begins with `text` is a sitemap in the text format; nil if more bytes are
  /// needed to know.
  static func begins(_ text: ArraySlice<UInt8>, contentType: String?) -> Bool? {
    guard types.contains(MediaType(contentType).name) else { return false }
    let start = String(decoding: text.prefix(8), as: UTF8.self).lowercased()
    let schemes = ["http://", "https://"]
    if schemes.contains(where: { start.hasPrefix($0) }) { return true }
    return text.count < 8 && schemes.contains { $0.hasPrefix(start) } ? nil : false
  }

  mutating func receive(_ slice: [UInt8]) throws(PageError) {
    var rest = slice[...]
    while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
      line += rest[..<end]
      rest = rest[(end + 1)...]
      try endLine()
    }
    line += rest
    try checkLine()
  }

  /// Returns the entries, and the repairs: one for each line that is not an address.
  ///
  /// Throws `truncated` unless the body is known to be complete, because the format itself has no
  /// end mark.
  mutating func finish(isWhole: Bool) throws(PageError) -> ([FeedEntry], [FeedRepair]) {
    guard isWhole else {
      throw PageError(
        .truncated,
        "The sitemap is a text, which has no end of its own, and the server does not say how long it is: it "
          + "may be cut off.")
    }
    try endLine()
    return (entries, repairs.repairs)
  }

  private func checkLine() throws(PageError) {
    guard line.count <= limits.itemBytes else {
      throw PageError(
        .limitExceeded,
        "Line \(lineCount + 1) of the sitemap has more than \(limits.itemBytes) bytes.",
        remedies: [.raise(.init("DecodingLimits.itemBytes"))])
    }
  }

  private mutating func endLine() throws(PageError) {
    try checkLine()
    defer { line.removeAll(keepingCapacity: true) }
    lineCount += 1
    let text = String(decoding: line, as: UTF8.self).trimmingBlanks
    guard !text.isEmpty else { return }
    guard let url = scope.absolute(text), let origin = try? Origin(url: url),
      ["http", "https"].contains(origin.scheme)
    else {
      repairs.add(.badAddress)
      return
    }
    guard entries.count < limits.items else {
      throw .tooManyEntries(limits.items)
    }
    var entry = FeedEntry()
    entry.url = url
    entries.append(entry)
  }
}
