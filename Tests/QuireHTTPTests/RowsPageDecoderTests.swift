import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import QuireXML
import Testing

@Suite("Pages of CSV and JSON Lines")
struct RowsPageDecoderTests {
  private func items(
    _ page: String, type: String?, formats: [PageFormat] = [], sliced size: Int = .max
  ) throws -> [String] {
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    var session = decoder.begin(DecodingContext(contentType: type, formats: formats))
    var rest = Array(page.utf8)[...]
    while !rest.isEmpty {
      try session.receive(Array(rest.prefix(size)))
      rest = rest.dropFirst(size)
    }
    _ = try session.finish()
    return try session.items().items.map(\.description)
  }

  @Test(
    "16-Rows: a row is an object of texts by the first line's names, however it is quoted or cut")
  func tables() throws {
    let page = "id,\"na\"\"me\",c\r\n1,\"a,\r\nb\",\r\n\"2\",x\"y,\"\"\r\n"
    let expected = [
      ##"{"id":"1","na\"me":"a,\r\nb","c":null}"##, ##"{"id":"2","na\"me":"x\"y","c":""}"##,
    ]
    for size in [1, 3, 7, .max] {
      #expect(try items(page, type: "text/csv; charset=utf-8", sliced: size) == expected)
    }
    #expect(try items(page.replacing("\r\n", with: "\n"), type: "text/csv").count == 2)
    #expect(try items(String(page.dropLast()), type: "text/csv") == expected)
    #expect(try items("a\tb\n1\t2\n", type: "text/tab-separated-values") == [#"{"a":"1","b":"2"}"#])
    #expect(try items("a;b\n1;2,5\n", type: "text/csv") == [#"{"a":"1","b":"2,5"}"#])
    #expect(try items("a;b\r1;2,5,6\r", type: "text/csv") == [#"{"a":"1","b":"2,5,6"}"#])
    #expect(try items("\u{FEFF}a\n1\n", type: "text/csv") == [#"{"a":"1"}"#])
    #expect(try items("", type: "text/csv") == [])
    #expect(try items("a,b\n", type: "text/csv") == [])
    #expect(try items("a,b\n1,2", type: "text/plain", formats: [.csv]) == [#"{"a":"1","b":"2"}"#])
  }

  /// The items of a page in an encoding of its own.
  private func items(_ page: [UInt8], type: String?) throws -> [String] {
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    var session = decoder.begin(DecodingContext(contentType: type))
    try session.receive(page)
    _ = try session.finish()
    return try session.items().items.map(\.description)
  }

  @Test("16-Rows: a table that says it has no line of names loses no row to them")
  func absentNames() throws {
    for type in ["text/csv; header=absent", "text/csv;charset=utf-8; Header=\"ABSENT\""] {
      #expect(
        try items("1,a\n2,\"b\"\n", type: type) == [
          #"{"c1":"1","c2":"a"}"#, #"{"c1":"2","c2":"b"}"#,
        ])
      #expect(try items("1,1", type: type) == [#"{"c1":"1","c2":"1"}"#])
      #expect(try items("", type: type) == [])
      #expect { try items("1,2\n3\n", type: type) } throws: { "\($0)".contains("line 2") }
    }
    #expect(try items("a,b\n1,2\n", type: "text/csv; header=present") == [#"{"a":"1","b":"2"}"#])
  }

  @Test(
    "16-Rows: a table is read in the encoding that its Content-Type or its byte order mark names")
  func encodedTables() throws {
    for charset in ["iso-8859-1", "\"windows-1252\"", "ISO-8859-15"] {
      #expect(
        try items(Array("n\n".utf8) + [0xE9, 0x0A], type: "text/csv; charset=\(charset)") == [
          #"{"n":"é"}"#
        ])
    }
    #expect(
      try items(Array("n\n".utf8) + [0x80, 0x0A], type: "text/csv;charset=windows-1252") == [
        #"{"n":"€"}"#
      ])
    #expect(
      try items([0x6E, 0x0A, 0x93, 0xFA, 0x96, 0x7B], type: "text/csv; charset=Shift_JIS") == [
        #"{"n":"日本"}"#
      ])
    for (mark, type) in [
      ("\u{FEFF}", "text/csv"), ("\u{FEFF}", "text/csv; charset=iso-8859-1"),
      ("", "text/csv; charset=utf-16"),
    ] {
      for isLittle in [true, false] {
        let page = (mark + "n;m\n1;é\n").utf16.flatMap { unit -> [UInt8] in
          let pair = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
          return isLittle ? pair : pair.reversed()
        }
        #expect(try items(page, type: type) == [#"{"n":"1","m":"é"}"#])
      }
    }
    #expect(try items("n\né\n", type: "text/csv; charset=utf8mb4") == [#"{"n":"é"}"#])
    #expect(try items("\u{FEFF}n\né\n", type: "text/csv; charset=iso-8859-1") == [#"{"n":"é"}"#])
  }

  @Test("16-Rows: a table that is not in the encoding it is said to be in is refused by that name")
  func wrongEncodings() {
    for (bytes, charset) in [
      ([0x6E, 0x0A, 0x93], "Shift_JIS"), ([0x6E, 0x0A, 0xFF, 0xFF, 0x0A], "euc-jp"),
      ([0x6E, 0x0A, 0xE9, 0x0A], "x-unheard-of"), ([0, 0x6E, 0], "utf-16be"),
    ] as [([UInt8], String)] {
      let error = #expect(throws: PageError.self, "\(charset)") {
        try items(bytes, type: "text/csv; charset=\(charset)")
      }
      #expect(error?.code == .malformed && error?.message.contains(charset) == true)
    }
  }

  @Test(
    "16-Rows: a first line that names the delimiter, as spreadsheets write it, is no line of names")
  func declaredDelimiters() throws {
    let expected = [#"{"id":"1","a":"2,3,4"}"#]
    for line in ["sep=;\n", "sep=;\r\n", "SEP=;\r", "\"sep=;\"\n", "\u{FEFF}sep=;\n"] {
      #expect(try items("\(line)id;a\n1;2,3,4\n", type: "text/csv") == expected, "\(line)")
    }
    #expect(try items("sep=\t\nid\ta\n1\t2,3,4\n", type: "text/csv") == expected)
    #expect(try items("sep=;\n1;2\n", type: "text/csv; header=absent") == [#"{"c1":"1","c2":"2"}"#])
    #expect(try items("sep=;", type: "text/csv") == [])
    #expect { try items("sep=;\nid;a\n1\n", type: "text/csv") } throws: {
      "\($0)".contains("line 3")
    }
    #expect(try items("sep=,b\n1,2\n", type: "text/csv") == [#"{"sep=":"1","b":"2"}"#])
  }

  @Test(
    "16-Rows, N25: a page of another format is no table, and neither is a notice",
    arguments: [
      ("<!DOCTYPE html><html><body>Log in</body></html>", "text/html"),
      ("<html>\n<body>Log in</body>\n</html>\n", "text/csv"),
      ("\n<h1>Maintenance, sorry</h1>", "text/html"), ("<Error><Code>A</Code></Error>", "text/csv"),
      ("<?xml version=\"1.0\"?><a/>", nil), ("[]", "application/json"), ("[{\"a\":1}]", "text/csv"),
      ("{}", "text/plain"), ("false", "text/csv"), ("null\n", "text/plain"),
      ("Service temporarily unavailable", "text/plain"), ("Log in\r\n", "text/html"),
      ("The service is down.\nTry again later.\n", "text/plain"),
      ("Sorry, we are down!\r\n\r\n", "text/plain"),
    ] as [(String, String?)])
  func otherFormats(page: String, type: String?) {
    for size in [1, .max] {
      let error = #expect(throws: PageError.self) {
        try items(page, type: type, formats: [.csv], sliced: size)
      }
      #expect(error?.code == .unexpectedMediaType)
    }
  }

  @Test("16-Rows: names in brackets, and tables that no Content-Type calls so, are read")
  func unusualTables() throws {
    #expect(try items("<TICKER>,<PER>\nA,D\n", type: "text/csv").count == 1)
    #expect(try items("[id],[name]\n1,a\n", type: "text/csv").count == 1)
    for type in ["text/plain", "text/html", nil] {
      #expect(try items("id,name\n", type: type, formats: [.csv]) == [])
      #expect(try items("id\n1\n", type: type, formats: [.csv]).count == 1)
      #expect(try items("Part No.\n1\n", type: type, formats: [.csv]).count == 1)
      #expect(try items("name of it, no.\na,1\n", type: type, formats: [.csv]).count == 1)
      #expect(try items("", type: type, formats: [.csv]) == [])
    }
    #expect(try items("id\n", type: "text/csv") == [])
    #expect(try items("How is it?\nfine\n", type: "text/csv").count == 1)
    #expect(try items("true,b\n", type: "text/csv") == [])
  }

  @Test("16-Rows: HTML in a row makes no page of HTML of it")
  func rowsOfHTML() throws {
    #expect(
      try items("id,body\n1,<html></html>\n2,<!DOCTYPE html>\n", type: "text/csv") == [
        #"{"id":"1","body":"<html></html>"}"#, #"{"id":"2","body":"<!DOCTYPE html>"}"#,
      ])
    let lines = [#"{"body":"<html>"}"#, #"{"body":"b"}"#]
    #expect(
      try items(lines.joined(separator: "\n"), type: "application/x-ndjson") == lines)
  }

  @Test("16-Rows: a table that is cut, ragged or ambiguous is refused with the line")
  func brokenTables() {
    for (page, words) in [
      ("a,b\n1\n", "line 2"), ("a,b\n1,2\n\n3,4,5\n", "line 4"), ("a,b\n1,2,3", "line 2"),
      ("a,b\n\"1\"x,2\n", "line 2"), ("a,a\n1,2\n", "twice"),
    ] {
      #expect { try items(page, type: "text/csv") } throws: { error in
        guard let error = error as? PageError, error.code == .malformed else { return false }
        return error.message.contains(words)
      }
    }
    #expect { try items("<!DOCTYPE html><html>", type: "text/csv") } throws: {
      ($0 as? PageError)?.code == .unexpectedMediaType
    }
  }

  @Test("16-Rows: a broken line of JSON Lines is named by its place in the page")
  func brokenLines() {
    for (page, words) in [
      ("{\"a\":1}\n{\"a\":x}\n{\"a\":3}\n", "at byte 5 of line 2, a value should follow"),
      ("\n{\"a\":1}\n\nNaN\n", "at byte 0 of line 4, a value should follow"),
      ("1\n{\"a\":1}{\"a\":2}\n", "at byte 7 of line 2, "), ("1\n2\ntru\n", "Line 3 of the page"),
    ] {
      let error = #expect(throws: PageError.self) {
        try items(page, type: "application/x-ndjson")
      }
      #expect(error?.code == .malformed)
      #expect(error?.message.contains(words) == true, "\(error?.message ?? "")")
      #expect(error?.message.contains("]") == false)
    }
  }

  @Test("A position tells a table by its names, and takes no table with one of them for another")
  func recallsNames() throws {
    for count in [1, 2, 8, 40] {
      let names = (0..<count).map { Array("\"name\($0)\":".utf8) }
      let note = PageFormatNote()
      #expect(note.form == nil)
      note.bind(.csv, columns: ColumnNames(names))
      let recalled = PageFormatNote()
      recalled.recall(try #require(note.form))
      #expect(recalled.format == .csv && recalled.form == note.form)
      let columns = try #require(recalled.columns)
      for name in names { #expect(!columns.isDisjoint(with: [Array("\"x\":".utf8), name])) }
      guard count < 8 else { continue }
      #expect(columns.isDisjoint(with: [Array("\"code\":".utf8), Array("\"message\":".utf8)]))
    }
    let json = PageFormatNote()
    json.bind(.json)
    #expect(json.form == "json")
    json.recall("csv.1")
    #expect(json.form == "json" && json.format == .json)
    let none = PageFormatNote()
    for form in ["", "html", "."] { none.recall(form) }
    #expect(none.format == nil)
  }

  @Test("Long names of columns make no page many times as large: a table is refused before it is")
  func longNames() throws {
    let name = String(repeating: "n", count: 100_000)
    let rows = String(repeating: "1\n", count: 100_000)
    #expect { try items("\(name)\n\(rows)", type: "text/csv") } throws: {
      ($0 as? PageError)?.code == .limitExceeded
    }
    // A few long names are as good as any.
    #expect(try items("\(name)\n1\n2\n", type: "text/csv").count == 2)
    #expect(try items("", type: "application/jsonl") == [])
    #expect(try items("\n\n[1]\n\n", type: "application/jsonl") == ["[1]"])
  }

  @Test(
    "16-Rows: lines in UTF-16 are refused, but for tables with a byte order mark",
    arguments: [PageFormat.csv, .jsonLines])
  func wideLines(format: PageFormat) throws {
    let texts = format == .csv ? ["id,name\n1,a\n", "имя\nа\n"] : ["{\"a\":1}\n", "[1]"]
    for text in texts {
      let marks = format == .csv ? [""] : ["", "\u{FEFF}"]
      for (mark, isLittle) in marks.flatMap({ [($0, true), ($0, false)] }) {
        let page = (mark + text).utf16.flatMap { unit -> [UInt8] in
          let pair = [UInt8(truncatingIfNeeded: unit), UInt8(truncatingIfNeeded: unit >> 8)]
          return isLittle ? pair : pair.reversed()
        }
        var session = try RowsPageDecoder(format, json: JSONRawPageDecoder())
          .begin(DecodingContext(contentType: nil))
        try session.receive(page)
        let error = #expect(throws: PageError.self) { _ = try session.finish() }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains("UTF-16") == true, "\(text) \(isLittle)")
      }
    }
  }

  @Test(
    "H-4 16-Rows: a page that ends inside of a row or a line is cut off, and is asked for again",
    arguments: [
      ("text/csv", "a,b\n1,\"x\n"), ("text/csv", "a,\"b"), ("text/csv", "a,b,c\n1,2,3\n4,\"5\n\""),
      ("text/csv", "a,b\n1"), ("application/x-ndjson", "{\"a\":1}\n{\"a\":"),
      ("application/x-ndjson", "[1,\"x"), ("application/x-ndjson", "\"a\\\""),
    ])
  func cutPages(type: String, page: String) {
    let error = #expect(throws: PageError.self) { try items(page, type: type) }
    #expect(error?.code == .truncated, "\(error?.message ?? "")")
  }

  @Test("16-Rows: each line of JSON Lines is one value, and what is none is refused with the line")
  func lines() throws {
    for type in ["application/x-ndjson", "application/jsonl"] {
      #expect(try items("{\"a\":1}\r\n\n[2]\n3", type: type) == ["{\"a\":1}", "[2]", "3"])
    }
    #expect(try items("{\"a\":\"}\"}\n", type: nil, formats: [.jsonLines]) == ["{\"a\":\"}\"}"])
    for page in ["1,2\n", "[\n1]\n", "{\"a\":1\n}", "1\n]\n", "\"a\n"] {
      #expect(throws: PageError.self, "\(page)") { try items(page, type: "application/x-ndjson") }
    }
  }

  @Test(
    "16-Rows: a text of a JSON sequence may have several lines, and its separator may come twice")
  func sequences() throws {
    let page = "\u{1E}{\"a\":\n1}\n\u{1E}\u{1E}\n\u{1E}2\n"
    for type in ["application/json-seq", "application/geo+json-seq", "application/x-ndjson"] {
      for size in [1, .max] {
        #expect(try items(page, type: type, sliced: size) == ["{\"a\":1}", "2"], "\(type)")
      }
    }
    for (page, code, words) in [
      ("\u{1E}1\n\u{1E}{\"a\":\n", PageError.Code.truncated, "inside of its text 2"),
      ("\u{1E}{\n\u{1E}1\n", .malformed, "Text 1 of the page"),
      ("\u{1E}1\n\u{1E}[1,\nx]\n", .malformed, "at byte 4 of text 2 (its line 2)"),
    ] {
      let error = #expect(throws: PageError.self) { try items(page, type: "application/json-seq") }
      #expect(error?.code == code && error?.message.contains(words) == true, "\(error as Any)")
    }
  }

  @Test(
    "12-L1, H15: a 200 without a body is no page of lines, unless an empty page is how the listing ends",
    arguments: ["text/csv", "application/x-ndjson"])
  func emptyBodies(type: String) async throws {
    let line = type == "text/csv" ? "a\n1\n" : "{\"a\":\"1\"}\n"
    let page = TransportResponse.status(
      200, ["Content-Type": type, "Link": "</l?p=2>; rel=\"next\""], line)
    let nothing = TransportResponse.status(200, ["Content-Type": type])
    let byLink = Pagination(next: .linkHeader)
    #expect(await drain(byLink, [nothing]).error?.code == .truncated)
    let later = await drain(byLink, [page, nothing])
    #expect(later.items == 1 && later.error?.code == .truncated)
    #expect(later.error?.remedies.first?.values == ["emptyPage"])
    let byNumber = Pagination(next: .pageNumber, send: .query("p"), end: [.emptyPage])
    let ended = await drain(byNumber, [page, nothing])
    #expect(ended.items == 1 && ended.error == nil, "\(ended)")
    // Where the end of the connection is the only end, nothing shows that nothing was to come.
    let cut = TransportResponse.status(200, ["Content-Type": type], framing: .untilClose)
    #expect(await drain(byNumber, [page, cut]).error?.code == .truncated)
  }

  @Test("A table with none of the first page's names is no page: it may be a row, or an error")
  func otherColumns() async throws {
    func page(_ text: String, isLast: Bool = false) -> TransportResponse {
      let link = isLast ? [:] : ["Link": "</l?p=2>; rel=\"next\""]
      return .status(200, ["Content-Type": "text/csv"].merging(link) { own, _ in own }, text)
    }
    let (first, byLink) = (page("id,name\n1,a\n"), Pagination(next: .linkHeader))
    for text in ["3,c\n4,d\n", "Service unavailable\n", "Timed out, try again"] {
      let result = await drain(byLink, [first, page(text, isLast: true)])
      #expect(result.items == 1 && result.error?.code == .shape, "\(text)")
    }
    for before in [[], [first]] {
      let result = await drain(byLink, before + [page("{\"error\":\"x\"}", isLast: true)])
      #expect(result.items == before.count && result.error?.code == .unexpectedMediaType)
    }
    let other = await drain(byLink, [first, page("name,more\nb,1\n", isLast: true)])
    #expect(other.items == 2 && other.error == nil)
    let empty = await drain(byLink, [page(""), page("id\n1\n", isLast: true)])
    #expect(empty.items == 1 && empty.error == nil)
  }

  /// Walks a listing whose pages are the answers.
  private func drain(
    _ pagination: Pagination, _ responses: [TransportResponse]
  ) async -> (items: Int, error: PageError?) {
    let decoder = AutomaticPageDecoder(json: JSONRawPageDecoder(), xml: XMLRawPageDecoder())
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    let walk = PageClient(transport: CannedServer(responses), configuration: configuration)
      .cursor(at: "https://a.test/l", pagination: pagination, decoder: decoder).walk()
    do {
      while try await walk.next() != nil {}
      return (walk.report.items, nil)
    } catch {
      return (walk.report.items, error as? PageError)
    }
  }
}
