import QuireExport
import QuireJSON
import QuirePagination
import Testing

@Suite struct SQLiteColumnTests {
  @Test("16-Table: each member is a column of the type of its values, added when it first comes")
  func addsColumns() async throws {
    let tables = try Tables()
    try await tables.write(
      tables.sink(),
      [#"{"id":1,"title":"a","open":true,"score":1.5,"user":{"n": [1, 2]},"gone":null}"#],
      [#"{"id":2,"labels":["x"],"title":""}"#], [#"{}"#])
    #expect(
      try tables.columns() == [
        "id INTEGER", "title TEXT", "open BOOLEAN", "score REAL", "user TEXT", "gone ",
        "labels TEXT",
      ])
    #expect(
      try tables.rows("SELECT * FROM t") == [
        #"i1|a|i1|d1.5|{"n":[1,2]}|null|null"#, #"i2||null|null|null|null|["x"]"#,
        "null|null|null|null|null|null|null",
      ])
  }

  @Test("16-Table: a commit before the first item leaves no column, unless others use the table")
  func beginsEmpty() async throws {
    let tables = try Tables()
    try await tables.write(tables.sink(), [], [], [#"{"id":1}"#, #"{"id":2}"#])
    #expect(try tables.columns() == ["id INTEGER"])
    #expect(try tables.rows("SELECT * FROM t") == ["i1", "i2"])
    try await tables.write(tables.sink("empty"), [])
    #expect(try tables.rows("SELECT count(*) FROM empty") == ["i0"])
    try await tables.write(tables.sink("used"), [], completes: false)
    try tables.execute("CREATE INDEX own ON used (_rest)")
    try await tables.write(tables.sink("used"), [#"{"id":1}"#])
    #expect(try tables.columns("used") == ["_rest TEXT", "id INTEGER"])
    try await tables.write(tables.sink("bare"), [], ["{}"], [#"{"id":1}"#])
    #expect(try tables.rows("SELECT count(*) FROM bare") == ["i2"])
  }

  @Test(
    "16-Table: a column is widened to hold all it has, in any order, and never narrowed",
    arguments: [
      (["1", "2.5"], "NUMERIC", ["i1", "d2.5"]), (["2.5", "1"], "NUMERIC", ["d2.5", "i1"]),
      (["null", "7"], "INTEGER", ["null", "i7"]), (["1", #""x""#, "2"], "TEXT", ["1", "x", "2"]),
      ([#""007""#, "7"], "TEXT", ["007", "7"]), (["7", #""007""#], "TEXT", ["7", "007"]),
      (["true", "1"], "TEXT", ["true", "1"]),
      (["false", "null", #""n""#], "TEXT", ["false", "null", "n"]),
      (["0.1", #""x""#], "TEXT", ["0.1", "x"]),
      (["0.30000000000000004", #""x""#], "TEXT", ["0.30000000000000004", "x"]),
      (["[1]", #""[1]""#], "TEXT", ["[1]", "[1]"]),
      (["1", "[1]"], "TEXT", ["1", "[1]"]), (["1", #""1e5""#], "TEXT", ["1", "1e5"]),
      (["3.1415926535897931", #""x""#], "TEXT", ["3.1415926535897931", "x"]),
      (
        ["1.10", "1e2", "-0", "-0.0", "2.0", "1e300", #""x""#, "1.50"], "TEXT",
        ["1.1", "100", "0", "0", "2", "1e+300", "x", "1.5"]
      ),
    ])
  func widens(values: [String], type: String, rows: [String]) async throws {
    for together in [true, false] {
      let tables = try Tables()
      let lines = values.map { #"{"a":\#($0)}"# }
      if together {
        try await tables.write(tables.sink(), lines)
      } else {
        for line in lines.dropLast() {
          try await tables.write(tables.sink(), [line], completes: false)
        }
        try await tables.write(tables.sink(), [lines[lines.count - 1]])
      }
      #expect(try tables.columns() == ["a \(type)"], "together \(together)")
      #expect(try tables.rows("SELECT a FROM t") == rows, "together \(together)")
      #expect(try tables.rows("PRAGMA integrity_check") == ["ok"])
    }
  }

  @Test(
    "16-Table: a key that becomes a text finds its rows again, however its numbers are written",
    arguments: [["1.10", "2.5"], ["1.0", "10", "2.0"], ["1e2", "3"], ["-0", "1"]])
  func findsKeysAgain(ids: [String]) async throws {
    let lines = (ids + [#""N/A""#]).map { #"{"id":\#($0)}"# }
    for together in [true, false] {
      let tables = try Tables()
      let sink = tables.sink(key: "/id", mode: .upsert)
      for _ in 0..<2 {
        if together {
          try await tables.write(sink, lines)
        } else {
          for line in lines { try await tables.write(sink, [line]) }
        }
      }
      #expect(try tables.rows("SELECT count(*) FROM t") == ["i\(lines.count)"], "\(together)")
    }
  }

  @Test(
    "16-Table: numbers that no column of numbers holds keep their text, and all others their value")
  func keepsNumbers() async throws {
    let numbers = [
      "9223372036854775807", "-9223372036854775808", "0", "-7", "9007199254740993",
    ]
    let tables = try Tables()
    try await tables.write(tables.sink("i"), numbers.map { #"{"n":\#($0)}"# })
    #expect(try tables.rows("SELECT n FROM i") == numbers.map { "i\($0)" })
    let long = [
      "9223372036854775808", "-9223372036854775809", "123456789012345678901234567890",
      "0.12345678901234567890123", "1e400", "1E-400", "3.14159265358979323846264",
      "1.00000000000000000001", "1e-9223372036854775808", "1.5e-9223372036854775808",
      "10e9223372036854775807", "1e-99999999999999999999", "0e-9223372036854775808",
    ]
    for number in long {
      try await tables.write(tables.sink("l"), [#"{"n":\#(number)}"#], restarts: true)
      #expect(try tables.rows("SELECT n FROM l") == [number])
    }
    let decimals = ["1.10", "2e3", "0.1", "123456789.012345", "5e-324", "1.7976931348623157e308"]
    for number in decimals {
      try await tables.write(tables.sink("d"), [#"{"n":\#(number)}"#], restarts: true)
      let double = try #require(Double(number))
      #expect(try tables.rows("SELECT n FROM d") == ["d\(double)"])
    }
    // In one column, in both orders.
    try await tables.write(
      tables.sink("m"), [#"{"n":1}"#, #"{"n":18446744073709551615}"#, #"{"n":2}"#])
    #expect(try tables.rows("SELECT n FROM m") == ["1", "18446744073709551615", "2"])
  }

  @Test("16-Table: names that SQLite takes for one get a number, and keep it in later runs")
  func namesColumns() async throws {
    let tables = try Tables()
    let line =
      #"{"ID":1,"id":2,"Id":3,"id_2":4,"select":5,"a\"b":6,"":7,"a\u0000b":8,"_rest":9,"é É":10}"#
    try await tables.write(tables.sink(), [line], [#"{"id":12,"ID":11,"order by":1,"rowid":5}"#])
    #expect(
      try tables.rows("SELECT name FROM pragma_table_info('t')") == [
        "ID", "id_2", "Id_3", "id_2_2", "select", "a\"b", "_", "a\u{FFFD}b", "_rest_2", "é É",
        "order by", "rowid",
      ])
    #expect(
      try tables.rows("SELECT * FROM t") == [
        "i1|i2|i3|i4|i5|i6|i7|i8|i9|i10|null|null",
        "i11|i12|null|null|null|null|null|null|null|null|i1|i5",
      ])
  }

  @Test("16-Table: names that differ in an accent's case or in how it is written are two columns")
  func tellsNamesApart() async throws {
    for (other, name) in [("\u{C9}", "\u{E9}"), ("e\u{301}", "\u{E9}")] {
      let tables = try Tables()
      try await tables.write(
        tables.sink(), [#"{"\#(other)":1,"\#(name)":1}"#], [#"{"\#(name)":"x"}"#])
      #expect(try tables.columns() == ["\(other) INTEGER", "\(name) TEXT"])
      #expect(try tables.rows("SELECT * FROM t") == ["i1|1", "null|x"])
      let keyed = tables.sink("k", key: TableKey([try PagePath("/\(name)")]))
      for value in ["a", "b"] {
        try await tables.write(keyed, [#"{"\#(name)":1,"\#(other)":"\#(value)"}"#])
      }
      #expect(try tables.rows("SELECT * FROM k") == ["i1|b"])
    }
  }

  @Test("16-Table: a name with an escape is not that whose text is written so")
  func tellsEscapesApart() async throws {
    let tables = try Tables()
    try await tables.write(
      tables.sink(), [#"{"\\u0041":1}"#], [#"{"\u0041":2}"#, #"{"A":3,"\\u0041":4}"#])
    #expect(try tables.columns() == [#"\u0041 INTEGER"#, "A INTEGER"])
    #expect(try tables.rows("SELECT * FROM t") == ["i1|null", "null|i2", "i4|i3"])
  }

  @Test(
    "16-Table: more members than SQLite has columns are kept as JSON, in the column of the rest")
  func keepsRest() async throws {
    let tables = try Tables()
    let members = (0..<5_000).map { #""m\#($0)":\#($0)"# }
    try await tables.write(
      tables.sink(), ["{\(members.joined(separator: ","))}"], [#"{"m4999":"x"}"#])
    #expect(try tables.rows("SELECT m0, m1998 FROM t") == ["i0|i1998", "null|null"])
    #expect(
      try tables.rows(
        "SELECT (SELECT count(*) FROM json_each(_rest)), json_extract(_rest, '$.m4999') FROM t")
        == ["i3001|i4999", "i1|x"])
  }

  @Test("16-Table: texts are kept as they are, NUL and huge ones among them, and no byte is lost")
  func keepsTexts() async throws {
    let tables = try Tables()
    let huge = String(repeating: "0123456789", count: 1_000_000)
    try await tables.write(
      tables.sink(item: "whole"),
      [
        #"{"a":"x\u0000y","b":"\ud83d\ude00\n\"","c":"\#(huge)"}"#, #"{"a":"\ud800","a":2}"#,
        "{ \"b\" : [ \"a b\" , 1.10 ] }",
      ])
    #expect(
      try tables.rows("SELECT hex(a), b, length(c) FROM t LIMIT 1") == ["780079|😀\n\"|i10000000"])
    #expect(
      try tables.rows("SELECT a, _rest, whole FROM t LIMIT 1 OFFSET 1") == [
        #"\#u{FFFD}|{"a":"\ud800","a":2}|{"a":"\ud800","a":2}"#
      ])
    #expect(
      try tables.rows("SELECT b, whole FROM t LIMIT 1 OFFSET 2") == [
        #"["a b",1.10]|{"b":["a b",1.10]}"#
      ])
  }

  @Test("16-Table: half a surrogate pair in a chosen column or in a key is kept as it was written")
  func keepsHalfPairs() async throws {
    let tables = try Tables()
    let sink = tables.sink(key: "/u/id", columns: ["title", "o"])
    let line = #"{"u":{"id":"a\ud83d"},"title":"x\ud83d","o":{ "t": "\ud83d" },"more":1}"#
    for _ in 0..<2 { try await tables.write(sink, [line]) }
    #expect(
      try tables.rows(#"SELECT "u/id", title, o, _rest FROM t"#) == [
        #""a\ud83d"|x\#u{FFFD}|{"t":"\ud83d"}|{"u/id":"a\ud83d","title":"x\ud83d"}"#
      ])
  }

  @Test("16-Key: keys that differ only in what a column cannot hold are different keys")
  func tellsHalfPairsApart() async throws {
    let tables = try Tables()
    let keys = [#""b\ud800""#, #""b\ud801""#, #""b\ufffd""#, #""a\u0000""#, #""a␀""#]
    try await tables.write(
      tables.sink(key: "/id"), keys.enumerated().map { #"{"id":\#($1),"n":\#($0)}"# })
    #expect(try tables.rows("SELECT n FROM t ORDER BY n") == ["i0", "i1", "i2", "i3", "i4"])
  }

  @Test(
    "16-Table: items that are no objects are the column value, and chosen members the only ones")
  func takesScalars() async throws {
    let tables = try Tables()
    try await tables.write(tables.sink(), ["1", #""a b""#, "[1, 2]", "null"])
    #expect(try tables.rows("SELECT value FROM t") == ["1", "a b", "[1,2]", "null"])
    try await tables.write(
      tables.sink("u", columns: ["b", "x", "c=/d/e"]), [#"{"a":1,"b":2,"d":{"e":1.5}}"#])
    #expect(try tables.columns("u") == ["b INTEGER", "x ", "c REAL"])
    #expect(try tables.rows("SELECT * FROM u") == ["i2|null|d1.5"])
    try await tables.write(
      tables.sink("v", key: "/a", columns: ["b"]), [#"{"a":1,"b":2}"#, #"{"a":1,"b":3}"#])
    #expect(try tables.rows("SELECT a, b FROM v") == ["i1|i3"])
  }
}
