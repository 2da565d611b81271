/// The records of one page, and what follows them.
struct DemoSlice {
  static let defaultSize = 100
  static let largestSize = 1_000

  /// Places in the listing, from 0.
  let range: Range<Int>

  /// The records after the first `offset`, at most `size`; empty behind the end.
  init(offset: Int, size: Int) {
    let start = min(offset, DemoRecords.count)
    range = start..<min(start + size, DemoRecords.count)
  }

  /// The page with that number, counted from 1.
  init(page: Int, size: Int) { self.init(offset: max(page - 1, 0) * size, size: size) }

  /// The page behind an opaque token; the first one without.
  init(token: String?, size: Int) throws {
    self.init(offset: try token.map(Self.offset) ?? 0, size: size)
  }

  private static func offset(of token: String) throws -> Int {
    guard token.hasPrefix(mark), token.hasSuffix(tail),
      let offset = Int(token.dropFirst(mark.count).dropLast(tail.count))
    else { throw DemoFailure("The cursor is not one of this API's.") }
    return offset
  }

  /// The records as a JSON array.
  var list: String { DemoRecords.list(range) }

  /// Whether records follow.
  var hasMore: Bool { range.upperBound < DemoRecords.count }

  /// The token of the page after this one. It holds characters that must be percent-encoded exactly
  /// once.
  var nextToken: String? { hasMore ? Self.mark + "\(range.upperBound)" + Self.tail : nil }

  /// The same as JSON: a string, or null.
  var nextTokenText: String { nextToken.map { "\"\($0)\"" } ?? "null" }

  private static let mark = "a/b+"
  private static let tail = "=="
}
