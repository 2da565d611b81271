/// The 10,000 records of the demo API, the same in every run and every style of JSON.
///
/// They contain what careless tools damage: numbers beyond 2⁵³, trailing zeros, escapes, non-ASCII.
enum DemoRecords {
  static let count = 10_000

  /// Returns the record with a number, counted from 1, as the server writes it: with a space after
  /// each comma and colon.
  static func text(_ number: Int) -> String { text(number, space: " ") }

  /// Returns the record as `quire export` must write it: only the white space between tokens is
  /// removed.
  static func line(_ number: Int) -> String { text(number, space: "") }

  /// Returns the records of a range, counted from 0, as a JSON array; `wrap` gets each record's
  /// number and text.
  static func list(_ range: Range<Int>, wrap: (Int, String) -> String = { $1 }) -> String {
    "[" + range.map { wrap($0 + 1, text($0 + 1)) }.joined(separator: ", ") + "]"
  }

  private static let colours = ["red", "gr\\u00fcn", "bleu", "синий", "黄色"]

  private static func text(_ number: Int, space: String) -> String {
    let fields = [
      ("id", "\(number)"),
      ("name", "\"Record \(number)\""),
      ("price", "\(number % 100).\(number % 10)0"),
      ("serial", "\(9_007_199_254_740_993 + number)"),
      ("colour", "\"\(colours[number % colours.count])\""),
      ("path", "\"demo\\/\(number)\""),
      ("parent", number % 7 == 0 ? "\(number / 7)" : "null"),
      ("tags", "[\"n\(number % 3)\",\(space)\"m\(number % 5)\"]"),
    ]
    return "{" + fields.map { "\"\($0)\":\(space)\($1)" }.joined(separator: ",\(space)") + "}"
  }
}

/// The records of one page.
struct DemoSlice {
  static let defaultSize = 100
  static let largestSize = 1_000

  /// The indices of the records, from 0.
  let range: Range<Int>

  /// Creates the page of at most `size` records after the first `offset`; empty after the end.
  init(offset: Int, size: Int) {
    let start = min(offset, DemoRecords.count)
    range = start..<min(start + size, DemoRecords.count)
  }

  /// Creates the page with a number, counted from 1.
  init(page: Int, size: Int) { self.init(offset: max(page - 1, 0) * size, size: size) }

  /// Creates the page for an opaque token, or the first page for nil. Throws `DemoFailure` for a
  /// token that this API has not made.
  init(token: String?, size: Int) throws {
    self.init(offset: try token.map(Self.offset) ?? 0, size: size)
  }

  private static func offset(of token: String) throws -> Int {
    guard token.hasPrefix(mark), token.hasSuffix(tail),
      let offset = Int(token.dropFirst(mark.count).dropLast(tail.count)), offset >= 0
    else { throw DemoFailure("The cursor is not one of this API's.") }
    return offset
  }

  /// The records as a JSON array.
  var list: String { DemoRecords.list(range) }

  /// Whether records follow.
  var hasMore: Bool { range.upperBound < DemoRecords.count }

  /// The token of the next page; nil on the last page. It contains characters that must be
  /// percent-encoded exactly once.
  var nextToken: String? { hasMore ? Self.mark + "\(range.upperBound)" + Self.tail : nil }

  /// The token as JSON: a string, or null.
  var nextTokenText: String { nextToken.map { "\"\($0)\"" } ?? "null" }

  private static let mark = "a/b+"
  private static let tail = "=="
}
