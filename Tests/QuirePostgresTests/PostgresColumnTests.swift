import QuireExport
import QuirePostgres
import TestSupport
import Testing

@Suite(.disabled(if: Schema.isMissing, Schema.missing)) struct PostgresColumnTests {
  @Test("16-Table: each member is a column of PostgreSQL of the type of its values")
  func addsColumns() async throws {
    let schema = try Schema()
    try await schema.write(
      schema.sink(),
      [#"{"id":1,"title":"a\tb\\\n","open":true,"score":1.50,"user":{"n": [1, 2]},"gone":null}"#],
      [#"{"id":2,"labels":["x"],"title":""}"#], [#"{}"#])
    #expect(
      try schema.columns() == [
        "id bigint", "title text", "open boolean", "score numeric", "user json", "gone text",
        "labels json",
      ])
    #expect(
      try schema.rows("SELECT * FROM t") == [
        "1|a\tb\\\n|t|1.50|{\"n\":[1,2]}|null|null", "2||null|null|null|null|[\"x\"]",
        "null|null|null|null|null|null|null",
      ])
    #expect(try schema.rows("SELECT \"user\"->'n'->>1 FROM t LIMIT 1") == ["2"])
  }

  @Test("16-Table: a column that its user has added to a table stands in the way of no new one")
  func keepsForeignColumns() async throws {
    let schema = try Schema()
    let sink = schema.sink(key: TableKey("/id"), mode: .upsert)
    try await schema.write(sink, [#"{"id":1}"#])
    _ = try schema.rows("ALTER TABLE t ADD COLUMN extra date DEFAULT '2024-01-01'")
    try await schema.write(sink, [#"{"id":1,"extra":"x"}"#, #"{"id":2,"extra":"y"}"#])
    #expect(
      try schema.rows("SELECT id, extra, extra_2 FROM t ORDER BY id")
        == ["1|2024-01-01|x", "2|2024-01-01|y"])
  }

  @Test("16-Table: names of PostgreSQL's columns that differ in how an accent is written are two")
  func tellsNamesApart() async throws {
    let schema = try Schema()
    let sink = schema.sink(key: "/id")
    try await schema.write(sink, [#"{"id":1,"e\#u{301}":"a"}"#])
    try schema.rows("ALTER TABLE t ADD COLUMN \u{E9} text")
    try await schema.write(sink, [#"{"id":1,"e\#u{301}":"b","\#u{E9}":"c"}"#])
    #expect(try schema.rows("SELECT * FROM t") == ["1|b|null|c"])
    let keyed = schema.sink("k", key: "/\u{E9}")
    for value in ["a", "b"] {
      try await schema.write(keyed, [#"{"\#u{E9}":1,"e\#u{301}":"\#(value)"}"#])
    }
    #expect(try schema.rows("SELECT * FROM k") == ["1|b"])
  }

  @Test("16-Replace: a run that replaces keeps the columns and indexes that its user has added")
  func replacesAroundForeignColumns() async throws {
    let schema = try Schema()
    let sink = schema.sink(mode: .replace)
    try await schema.write(sink, [#"{"id":1}"#])
    try schema.rows("ALTER TABLE t ADD COLUMN note text DEFAULT 'mine'; CREATE INDEX i ON t (note)")
    for run in 2...3 {
      try await schema.write(sink, [#"{"id":\#(run)}"#], [#"{"id":0,"note":"x"}"#])
      #expect(
        try schema.rows("SELECT id, note, note_2 FROM t ORDER BY id DESC")
          == ["\(run)|mine|null", "0|mine|x"])
    }
    #expect(try schema.rows("SELECT indexname FROM pg_indexes WHERE indexname = 'i'") == ["i"])
  }

  @Test("16-Replace: a column that its user adds within a run stays, whatever items have")
  func replacesAroundLateColumns() async throws {
    let schema = try Schema()
    let sink = schema.sink(mode: .replace)
    try await schema.write(sink, [#"{"id":1}"#])
    try await schema.write(sink, [#"{"id":2,"note":"x"}"#], completes: false)
    try schema.rows("ALTER TABLE t ADD COLUMN note text DEFAULT 'mine'")
    try await schema.write(sink, [#"{"id":3,"note":"y"}"#])
    let rows = "SELECT id, note, note_2 FROM t ORDER BY id"
    #expect(try schema.rows(rows) == ["2|mine|x", "3|mine|y"])
    try await schema.write(sink, [#"{"id":4,"note":"z"}"#])
    #expect(try schema.rows(rows) == ["4|mine|z"])
  }

  @Test(
    "H-8: of an address that cannot be taken apart nothing is quoted",
    arguments: [
      "postgres://u:SECRET/x@127.0.0.1:1/db", "postgres://u:x%zzSECRET@127.0.0.1:1/db",
      "postgres://u:x@SECRET@127.0.0.1:1/db", "postgres://127.0.0.1:1/db?password=SECRET%zz",
      "postgresql://u:1:SEC/RET@127.0.0.1:1/db", "postgress://u:SECRET@127.0.0.1:1/db",
      "host=127.0.0.1 port=1 password=my SECRET", "host=127.0.0.1 port=1 password='my SECRET",
      "host=127.0.0.1 port=1 password=my SEC=RET",
    ])
  func quotesNoPassword(url: String) async throws {
    let sink = PostgresSink(url, table: "t")
    let error = await #expect(throws: SinkError.self) { try await sink.write([["{}"]]) }
    let words = "\(try #require(error))"
    #expect(words.contains("cannot be taken apart") && !words.contains("SEC"), "\(words)")
  }

  @Test("H-8: a password in keywords may be any text in quotes, and is not quoted either")
  func takesPassword() async throws {
    let sink = PostgresSink("host=127.0.0.1 port=1 password='x://a:SECRET b'", table: "t")
    let error = await #expect(throws: SinkError.self) { try await sink.write([["{}"]]) }
    let words = "\(try #require(error))"
    #expect(words.contains("cannot be connected to") && !words.contains("SEC"), "\(words)")
  }

  @Test(
    "16-Table: a column of PostgreSQL is widened to hold all it has, in any order, and keeps every digit",
    arguments: [
      (["1", "2.50"], "numeric", ["1", "2.50"]), (["null", "7"], "bigint", ["null", "7"]),
      (["1", #""x""#, "2"], "text", ["1", "x", "2"]), ([#""007""#, "7"], "text", ["007", "7"]),
      (["true", "1"], "text", ["true", "1"]), (["false", #""n""#], "text", ["false", "n"]),
      (["[1]", #""[1]""#], "text", ["[1]", "[1]"]), (["1", "[1]"], "text", ["1", "[1]"]),
      (["1", "18446744073709551615"], "numeric", ["1", "18446744073709551615"]),
      (
        ["9007199254740993", "0.123456789012345678901234"], "numeric",
        ["9007199254740993", "0.123456789012345678901234"]
      ),
      (["1e3", "1"], "numeric", ["1000", "1"]), (["1e999999"], "text", ["1e999999"]),
      (["1.5e-9223372036854775808"], "text", ["1.5e-9223372036854775808"]),
      (["0e-20000"], "text", ["0e-20000"]), (["0.0"], "numeric", ["0.0"]),
      (
        ["1.10", "1e2", "-0", "-0.0", "1.50e1", "-12.5e-3", "0.25E+1", #""x""#, "1.0e1"], "text",
        ["1.10", "100", "0", "0.0", "15.0", "-0.0125", "2.5", "x", "10"]
      ),
    ])
  func widens(values: [String], type: String, rows: [String]) async throws {
    for together in [true, false] {
      let schema = try Schema()
      let lines = values.map { #"{"a":\#($0)}"# }
      if together {
        try await schema.write(schema.sink(), lines)
      } else {
        for line in lines.dropLast() {
          try await schema.write(schema.sink(), [line], completes: false)
        }
        try await schema.write(schema.sink(), [lines[lines.count - 1]])
      }
      #expect(try schema.columns() == ["a \(type)"], "together \(together)")
      #expect(try schema.rows("SELECT a FROM t").sorted() == rows.sorted(), "together \(together)")
    }
  }

  @Test(
    "16-Table: a key of PostgreSQL that becomes a text finds its rows again",
    arguments: [["1.10", "2.5"], ["1.0", "10", "2.0"], ["1e2", "3"], ["1", "1.0"]])
  func findsKeysAgain(ids: [String]) async throws {
    let lines = (ids + [#""N/A""#]).map { #"{"id":\#($0)}"# }
    let count = ids == ["1", "1.0"] ? 2 : lines.count
    for together in [true, false] {
      let schema = try Schema()
      let sink = schema.sink(key: "/id", mode: .upsert)
      for _ in 0..<2 {
        if together {
          try await schema.write(sink, lines)
        } else {
          for line in lines { try await schema.write(sink, [line]) }
        }
      }
      #expect(try schema.rows("SELECT count(*) FROM t") == ["\(count)"], "\(together)")
    }
  }

  @Test("16-Table: a commit before the first item leaves no column in PostgreSQL")
  func beginsEmpty() async throws {
    let schema = try Schema()
    try await schema.write(schema.sink(), [], [], [#"{"id":1}"#, #"{"id":2}"#])
    #expect(try schema.columns() == ["id bigint"])
    #expect(try schema.rows("SELECT * FROM t") == ["1", "2"])
    let replaced = schema.sink("r", mode: .replace)
    for _ in 0..<2 { try await schema.write(replaced, []) }
    #expect(try schema.rows("SELECT count(*) FROM r") == ["0"])
    try await schema.write(replaced, [#"{"id":1}"#])
    #expect(try schema.columns("r") == ["id bigint"])
    #expect(try schema.rows("SELECT * FROM r") == ["1"])
  }

  @Test(
    "16-Table: odd names, thousands of members, NUL and huge texts find their place in PostgreSQL")
  func findsPlaces() async throws {
    let schema = try Schema()
    let long = String(repeating: "é", count: 40)
    let members = (0..<3_000).map { #""m\#($0)":"\#($0) is a text of some length""# }
    let huge = String(repeating: "0123456789", count: 500_000)
    try await schema.write(
      schema.sink(item: "whole"),
      [
        #"{"ID":1,"id":2,"select":3,"a\"b":4,"":5,"ctid":6,"\#(long)1":7,"\#(long)2":8,"n":"x\u0000y"}"#,
        #"{"n":"\ud800","ID":"\#(huge)"}"#, "{\(members.joined(separator: ","))}",
      ])
    let cut = String(repeating: "é", count: 31)
    #expect(
      try schema.rows(
        "SELECT column_name FROM information_schema.columns WHERE table_name = 't' AND table_schema = current_schema() ORDER BY ordinal_position LIMIT 12"
      ) == [
        "whole", "ID", "id", "select", "a\"b", "_", "ctid_2", cut, "\(cut.dropLast())_2", "n",
        "_rest",
        "m0",
      ])
    #expect(try schema.rows("SELECT n, _rest FROM t LIMIT 1") == [#"x␀y|{"n":"x\u0000y"}"#])
    #expect(
      try schema.rows("SELECT n, length(\"ID\") FROM t LIMIT 1 OFFSET 1") == ["\u{FFFD}|5000000"])
    #expect(
      try schema.rows("SELECT m10, _rest->>'m2999' FROM t WHERE m10 IS NOT NULL") == [
        "10 is a text of some length|2999 is a text of some length"
      ])
  }
}
