/// One way of paging the demo records: a path of the demo API, and how `quire export` reads it.
///
/// This table is all there is: the server routes by it, `make demo` walks through it, and the tests
/// check every row.
struct DemoStyle: Sendable {
  /// The name, which is the path too.
  let name: String
  /// What is special about it, in half a sentence.
  let summary: String
  /// What `quire export` needs besides the URL.
  let options: [String]
  /// The record with that number as the pages of this style have it.
  var text: @Sendable (Int) -> String = DemoRecords.text
  /// The exported line of the record with that number.
  var line: @Sendable (Int) -> String = DemoRecords.line
  /// Answers one request.
  let answer: @Sendable (DemoRequest) throws -> DemoAnswer

  var path: String { "/" + name }

  /// All styles, in the order in which they are shown.
  static let all: [DemoStyle] = links + counters + tokens + bodies + markup

  /// The arguments of the `quire` command that drains this style.
  func command(origin: String) -> [String] { ["export", origin + path] + options }
}
