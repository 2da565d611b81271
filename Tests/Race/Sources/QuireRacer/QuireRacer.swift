import Glibc
import Quire
import QuireJSON
import QuirePagination

/// The race by the library: `QuireRacer bytes|untyped|typed|readable|lines URL PAGES cursor|paginator|executor`.
///
/// It follows Link headers by a cursor, by a paginator, or by a cursor on the transport's own thread.
@main
struct QuireRacer {
  static func main() async throws {
    let arguments = CommandLine.arguments
    let race = Race(url: arguments[2] + "1", pages: Int(arguments[3]) ?? 0, reader: arguments[4])
    let sum =
      switch arguments[1] {
      case "bytes": try await race.walk(BytesPageDecoder()) { $0.reduce(0) { $0 + $1.count } }
      case "untyped":
        try await race.walk(JSONRawPageDecoder()) { issues in
          try issues.reduce(0) { sum, issue in
            guard let number = issue.integer("number"), let title = issue.string("title"),
              let login = issue.string("user/login")
            else { throw Missing() }
            return sum + number + title.utf8.count + login.utf8.count
          }
        }
      case "typed": try await race.walk(JSONPageDecoder<Issue>()) { $0.reduce(0) { $0 + $1.sum } }
      case "readable":
        try await race.walk(JSONReadablePageDecoder<Issue>()) { $0.reduce(0) { $0 + $1.sum } }
      default: try await race.write()
      }
    if arguments[1] != "lines" { print(sum) }
  }
}

struct Race {
  let url: String
  let pages: Int
  let reader: String

  /// The sum of what `use` makes of each page's items.
  @concurrent func walk<Item>(
    _ decoder: some PageDecoder<Item>, use: @Sendable ([Item]) throws -> Int
  ) async throws -> Int {
    let transport = CurlTransport()
    var cursor = PageClient(transport: transport)
      .cursor(at: url, pagination: .linkHeader, decoder: decoder)
    cursor.limits.pages = pages
    var sum = 0
    switch reader {
    case "paginator": for try await page in Paginator(cursor) { sum += try use(page.items) }
    case "executor":
      sum = try await withTaskExecutorPreference(transport) { [cursor] in
        var sum = 0
        for try await page in cursor { sum += try use(page.items) }
        return sum
      }
    default: for try await page in cursor { sum += try use(page.items) }
    }
    return sum
  }

  func write() async throws -> Int {
    try await walk(JSONRawPageDecoder()) { items in
      var lines: [UInt8] = []
      for item in items {
        item.appendCompact(to: &lines)
        lines.append(0x0A)
      }
      // FileHandle would bring all of Foundation, which Quire does without.
      var rest = lines[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Glibc.write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        guard count > 0 else { throw Missing() }
        rest = rest.dropFirst(count)
      }
      return 0
    }
  }
}

struct Missing: Error {}
