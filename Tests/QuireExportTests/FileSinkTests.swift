import Foundation
import QuireCore
@testable import QuireExport
import QuireJSON
import QuirePagination
import QuireTesting
import TestSupport
import Testing

/// A folder that is gone with the test.
final class Folder {
  let path: String

  init() throws {
    path = NSTemporaryDirectory() + "quire-export-\(UInt64.random(in: .min ... .max))"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func callAsFunction(_ name: String) -> String { "\(path)/\(name)" }

  func text(_ name: String) -> String {
    (try? String(contentsOfFile: self(name), encoding: .utf8)) ?? "(no file)"
  }

  /// What `gzip -dc` makes of a file.
  func unzipped(_ name: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/gzip")
    process.arguments = ["-dc", self(name)]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self)
  }
}

/// A listing of items of JSON, a page in each array.
func listing(_ pages: [[String]]) -> ScriptedSource<RawItem> {
  ScriptedSource(items: pages.map { $0.map { text in raw(text) } })
}

func raw(_ text: String) -> RawItem {
  do { return try RawItem(Array(text.utf8)) } catch { preconditionFailure("\(error)") }
}

@Suite(.timeLimit(.minutes(15))) struct FileSinkTests {
  static let pages = [
    [#"{"id":1,"name":"a,b"}"#, #"{"id":2,"tags":["x","y"],"name":null}"#], [],
    [#"{"id":3,"name":"","more":"say \"hi\"","big":1.10}"#],
  ]

  private func export(
    _ pages: [[String]], to sink: FileSink, each: Bool = true
  ) async throws -> ExportReport {
    var export = Export(Cursor(listing(pages)), to: sink)
    if each { export.commits = .eachPage }
    return try await export.run()
  }

  @Test("16-Replace: a file that takes the place of another has the permissions of that one")
  func keepsPermissions() async throws {
    let folder = try Folder()
    let pages = [[#"{"a":1}"#], [#"{"b":1}"#]]
    for (name, mode) in [("a.csv", SinkMode.once), ("b.csv", .replace), ("c.jsonl", .replace)] {
      #expect(FileManager.default.createFile(atPath: folder(name), contents: nil))
      #expect(chmod(folder(name), 0o640) == 0)
      for _ in 0..<2 {
        _ = try await export(pages, to: FileSink(folder(name), mode: mode))
        var status = stat()
        #expect(stat(folder(name), &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640, "\(name)")
      }
    }
  }

  @Test("16-Files: a column is named after its path as a JSON pointer reads it")
  func namesColumnsByPath() throws {
    for (path, name) in [
      ("/user/login", "user.login"), ("/a~1b", "a/b"), ("/a~01/b", "a~1.b"), ("id", "id"),
    ] {
      #expect(try TableColumn(path).name == name)
    }
  }

  @Test(
    "16-Files: a folder where no checkpoint can be is refused before anything is requested",
    .enabled(if: geteuid() != 0, "root may write anywhere"))
  func readOnlyFolder() async throws {
    let folder = try Folder()
    #expect(FileManager.default.createFile(atPath: folder("a.jsonl"), contents: nil))
    chmod(folder.path, 0o555)
    defer { chmod(folder.path, 0o755) }
    let source = listing([["1"]])
    await #expect {
      try await Export(Cursor(source), to: FileSink(folder("a.jsonl"))).run()
    } throws: {
      SinkError.Code.writeFailed ~= $0 && "\($0)".contains("checkpoint")
    }
    #expect(source.requests.isEmpty)
  }

  @Test("16-Files: a null of one column stays one when columns come late, and is a cell until then")
  func keepsLonelyNulls() async throws {
    let folder = try Folder()
    for first in [#"{"a":null}"#, "{}"] {
      for each in [true, false] {
        let items = [[first, #"{"a":""}"#], [#"{"a":1,"b":2}"#]]
        for (name, text) in [
          ("a.csv", "a,b\r\n,\r\n\"\",\r\n1,2\r\n"), ("a.tsv", "a\tb\n\t\n\"\"\t\n1\t2\n"),
        ] {
          var export = Export(Cursor(listing(items)), to: FileSink(folder(name)))
          if each { export.commits = .eachPage }
          export.restarts = true
          try await export.run()
          #expect(folder.text(name) == text, "\(first) \(each)")
        }
      }
    }
    _ = try await export([["{}", #"{"a":null}"#, #"{"a":""}"#]], to: FileSink(folder("b.csv")))
    #expect(folder.text("b.csv") == "a\r\n\"\"\r\n\"\"\r\n\"\"\r\n")
  }

  @Test("16-Files: items become lines, an array, or rows, as the file's ending says")
  func writesFormats() async throws {
    let folder = try Folder()
    for name in ["a.jsonl", "a.NDJSON", "a.json", "a.csv", "a.tsv"] {
      let report = try await export(Self.pages, to: FileSink(folder(name)))
      #expect(report.isComplete)
    }
    let lines = Self.pages.joined().joined(separator: "\n") + "\n"
    #expect(folder.text("a.jsonl") == lines)
    #expect(folder.text("a.NDJSON") == lines)
    #expect(folder.text("a.json") == "[\n\(Self.pages.joined().joined(separator: ",\n"))\n]\n")
    let csv = [
      "id,name,tags,more,big", #"1,"a,b",,,"#, #"2,,"[""x"",""y""]",,"#,
      ##"3,"",,"say ""hi""",1.10"##,
    ]
    #expect(folder.text("a.csv") == csv.map { $0 + "\r\n" }.joined())
    let tsv = [
      "id\tname\ttags\tmore\tbig", "1\ta,b\t\t\t", "2\t\t\"[\"\"x\"\",\"\"y\"\"]\"\t\t",
      "3\t\"\"\t\t\"say \"\"hi\"\"\"\t1.10",
    ]
    #expect(folder.text("a.tsv") == tsv.map { $0 + "\n" }.joined())
  }

  @Test("Names that write the same accent in two ways are two columns, also where a run goes on")
  func exactNames() async throws {
    let folder = try Folder()
    let (short, long) = ("\u{E9}", "e\u{301}")
    let first = "{\"\(short)\":1,\"\(long)\":2}"
    _ = try await export([[first], ["{\"\(long)\":3}"]], to: FileSink(folder("a.csv")), each: true)
    #expect(
      Array(folder.text("a.csv").utf8) == Array("\(short),\(long)\r\n1,2\r\n,3\r\n".utf8))
  }

  @Test(
    "16-Files: cells stand below their names in any order, each value of one name in a column, and others are empty"
  )
  func placesCells() async throws {
    let folder = try Folder()
    let items = [
      #"{"a":1,"b":2,"c":[3]}"#, #"{"c":3,"b":4,"c":5,"b":6}"#, "{}", #"{"c":null,"a":7}"#, "8",
    ]
    _ = try await export([items], to: FileSink(folder("a.csv")))
    #expect(
      folder.text("a.csv")
        == "a,b,c,c,b,value\r\n1,2,\"[3]\",,,\r\n,4,3,5,6,\r\n,,,,,\r\n7,,,,,\r\n,,,,,8\r\n")
  }

  @Test("16-Files: values of one name go into their own columns, also where a run goes on")
  func repeatedNames() throws {
    var rows = TableRows(
      .csv, chosen: nil, guardsFormulas: false, found: ["a", "b", "a"], isRagged: false)
    var text: [UInt8] = []
    for item in [#"{"a":1,"a":2,"a":3,"b":4}"#, #"{"a":5}"#, #"{"a":6,"a":7}"#] {
      try rows.append(RawItem(Array(item.utf8)), to: &text)
    }
    #expect(rows.columns == ["a", "b", "a", "a"] && rows.isRagged)
    #expect(String(decoding: text, as: UTF8.self) == "1,4,2,3\r\n5,,,\r\n6,,7,\r\n")
  }

  @Test("16-Files, 16-Limit: a table that a limit ended has all columns, and its run goes on")
  func limitedTable() async throws {
    let folder = try Folder()
    let pages = [[#"{"a":1}"#], [#"{"b":2}"#], [#"{"c":3}"#], [#"{"a":4}"#]]
    let texts = [
      "a\r\n1\r\n", "a,b\r\n1,\r\n,2\r\n", "a,b,c\r\n1,,\r\n,2,\r\n,,3\r\n",
    ]
    for name in ["a.csv", "a.csv.gz"] {
      for (limit, text) in zip(1..., texts) {
        let cursor = Cursor(listing(pages)).limited(to: Limits(pages: limit))
        var export = Export(cursor, to: FileSink(folder(name)))
        export.commits = .eachPage
        let report = try await export.run()
        #expect(report.pages == 1)
        let found = try name == "a.csv" ? folder.text(name) : folder.unzipped(name)
        #expect(found == text)
      }
      let rest = try await export(pages, to: FileSink(folder(name)))
      #expect(rest.isComplete && rest.pages == 1)
      let found = try name == "a.csv" ? folder.text(name) : folder.unzipped(name)
      #expect(found == "a,b,c\r\n1,,\r\n,2,\r\n,,3\r\n4,,\r\n")
    }
    let stored = FileSink(folder("b.csv")).storingCheckpoints(
      in: FileCheckpointStore(folder("state")), as: "b")
    var limited = Export(Cursor(listing(pages)).limited(to: Limits(pages: 2)), to: stored)
    limited.commits = .eachPage
    try await limited.run()
    #expect(folder.text("b.csv") == texts[1])
  }

  @Test("16-Limit: a file is whole once a limit is reached, also where a run was killed behind it")
  func limitedAfterKill() async throws {
    let folder = try Folder()
    for (name, closing) in [("a.json", 3), ("a.jsonl", 0), ("a.csv", 0), ("a.csv.gz", 0)] {
      func run() async throws {
        let cursor = Cursor(listing([[#"{"id":1}"#], [#"{"id":2}"#]]))
        try await Export(cursor.limited(to: Limits(pages: 1)), to: FileSink(folder(name))).run()
      }
      try await run()
      let whole = try Data(contentsOf: URL(fileURLWithPath: folder(name)))
      // As a killed run leaves it, which had written more.
      try (whole.dropLast(closing) + Data("{\"id\":".utf8)).write(
        to: URL(fileURLWithPath: folder(name)))
      try await run()
      #expect(try Data(contentsOf: URL(fileURLWithPath: folder(name))) == whole, "\(name)")
    }
    let pages = [[#"{"a":1}"#], [#"{"b":2}"#], [#"{"c":3}"#]]
    let broken = Cursor(listing(pages)).map { item in
      guard !item.description.contains("c") else { throw PageError(.status, "Away.") }
      return item
    }
    var export = Export(broken, to: FileSink(folder("b.csv")))
    export.commits = .eachPage
    _ = await export.outcome()
    #expect(folder.text("b.csv") == "a\r\n1\r\n,2\r\n")
    try await Export(
      Cursor(listing(pages)).limited(to: Limits(pages: 2)), to: FileSink(folder("b.csv"))
    ).run()
    #expect(folder.text("b.csv") == "a,b\r\n1,\r\n,2\r\n")
  }

  @Test("16-Files: a file that is moved or replaced while it is written fails the next commit")
  func losesFile() async throws {
    let folder = try Folder()
    let path = folder("a.jsonl")
    for replacement in [nil, "theirs\n"] {
      let session = try FileSink(path).open(SinkOpening())
      try await session.write(SinkPage([raw(#"{"id":1}"#)]))
      try await session.commit(Checkpoint(sequence: 1))
      try FileManager.default.moveItem(atPath: path, toPath: folder("b.jsonl"))
      try replacement.map { try Data($0.utf8).write(to: URL(fileURLWithPath: path)) }
      try await session.write(SinkPage([raw(#"{"id":2}"#)]))
      await #expect { try await session.commit(Checkpoint(sequence: 2)) } throws: {
        SinkError.Code.writeFailed ~= $0
      }
      await session.close()
      #expect(folder.text("b.jsonl") == "{\"id\":1}\n")
      #expect(folder.text("a.jsonl") == replacement ?? "(no file)")
      for name in ["a.jsonl", "a.jsonl.checkpoint", "b.jsonl"] {
        try? FileManager.default.removeItem(atPath: folder(name))
      }
    }
  }

  @Test("A table has no more columns than the widest spreadsheets: further names are refused")
  func manyNames() async throws {
    let folder = try Folder()
    let sink = FileSink(folder("a.csv"))
    func item(_ names: Range<Int>) -> String {
      "{\(names.map { "\"n\($0)\":1" }.joined(separator: ","))}"
    }
    await #expect {
      _ = try await export([[item(0..<16_384)], [item(5..<9)], [item(9..<16_385)]], to: sink)
    } throws: {
      SinkError.Code.unfit ~= $0 && "\($0)".contains("16384 names")
    }
    #expect(try await export([[item(0..<16_384)]], to: FileSink(folder("b.csv"))).isComplete)
  }

  @Test("A table of hardly anything but empty cells is refused, and a wide one of few rows is not")
  func manyEmptyCells() throws {
    var rows = TableRows(
      .csv, chosen: nil, guardsFormulas: false, found: (0..<16_384).map { "n\($0)" },
      isRagged: false)
    let item = try RawItem(Array("{}".utf8))
    var text: [UInt8] = []
    for _ in 0..<4_000 {
      try rows.append(item, to: &text)
      text.removeAll(keepingCapacity: true)
    }
    #expect {
      for _ in 0..<1_000 {
        try rows.append(item, to: &text)
        text.removeAll(keepingCapacity: true)
      }
    } throws: {
      SinkError.Code.unfit ~= $0 && "\($0)".contains("empty cells")
    }
  }

  @Test("16-Files: compressed files have the same text, a member for each commit")
  func compresses() async throws {
    let folder = try Folder()
    for name in ["a.jsonl", "a.json", "a.csv", "a.tsv"] {
      _ = try await export(Self.pages, to: FileSink(folder(name)))
      _ = try await export(Self.pages, to: FileSink(folder(name + ".gz")))
      #expect(try folder.unzipped(name + ".gz") == folder.text(name))
    }
  }

  @Test(
    "16-Files: behind a compressed file that something else wrote, only whole lines are appended to"
  )
  func appendsToMembers() async throws {
    let folder = try Folder()
    func append(_ text: [UInt8]) async throws {
      try Data(text).write(to: URL(filePath: folder("a.jsonl.gz")))
      _ = try await export([["2"]], to: FileSink(folder("a.jsonl.gz"), mode: .append))
    }
    func member(_ text: String) throws -> [UInt8] {
      try GzipMember().add(Array(text.utf8), ends: true)
    }
    for text in [try member("1"), Array(try member("1\n").dropLast()), Array("1\n".utf8)] {
      await #expect { try await append(text) } throws: { SinkError.Code.notOurs ~= $0 }
      #expect(try Data(contentsOf: URL(filePath: folder("a.jsonl.gz"))) == Data(text))
    }
    try await append(try member("0\n") + member("") + member("1\n"))
    #expect(try folder.unzipped("a.jsonl.gz") == "0\n1\n2\n")
  }

  @Test("16-Files: a listing without items is a file that can be read all the same")
  func writesNothing() async throws {
    let folder = try Folder()
    for (name, text) in [("a.jsonl", ""), ("a.json", "[]\n"), ("a.csv", "")] {
      _ = try await export([[]], to: FileSink(folder(name)))
      #expect(folder.text(name) == text)
      _ = try await export([[]], to: FileSink(folder(name + ".gz")))
      #expect(try folder.unzipped(name + ".gz") == text)
    }
    _ = try await export([[]], to: FileSink(folder("b.csv"), columns: ["id"]))
    #expect(folder.text("b.csv") == "id\r\n")
  }

  @Test("16-Files: chosen columns are those of the table, by name or by path, formulas guarded")
  func choosesColumns() async throws {
    let folder = try Folder()
    let sink = FileSink(
      folder("a.csv"), columns: ["name", "who=/user/login", "/user/id"], guardsFormulas: true)
    _ = try await export(
      [[#"{"name":"=1+1","user":{"login":"x","id":-5},"more":1}"#, #"{"name":"-"}"#]], to: sink)
    #expect(folder.text("a.csv") == "name,who,user.id\r\n'=1+1,x,-5\r\n'-,,\r\n")
  }

  @Test("16-Files: texts that begin as formulas do in any spreadsheet are guarded")
  func guardsFormulas() async throws {
    let folder = try Folder()
    let sink = FileSink(folder("a.tsv"), columns: ["t"], guardsFormulas: true)
    let items = [
      "+1", "@a", "\\n=1", "\\r=1", "\u{FF1D}1", "\u{FF0B}1", "\u{FF0D}1", "\u{FF20}a", "a=",
    ]
    _ = try await export([items.map { "{\"t\":\"\($0)\"}" }], to: sink)
    let cells = [
      "'+1", "'@a", "\"'\n=1\"", "\"'\r=1\"", "'\u{FF1D}1", "'\u{FF0B}1", "'\u{FF0D}1",
      "'\u{FF20}a", "a=",
    ]
    #expect(folder.text("a.tsv") == "t\n" + cells.map { $0 + "\n" }.joined())
  }

  @Test("16-Files: half a surrogate pair stays as the server wrote it, in cells and in names")
  func keepsHalfPairs() async throws {
    let folder = try Folder()
    let line = #"{"id":1,"title":"a\ud83d","b\ud83d":2,"o":{ "t": "\ud83d" }}"#
    let title = "\"\"\"a\\ud83d\"\"\""
    let object = "\"{\"\"t\"\":\"\"\\ud83d\"\"}\""
    _ = try await export([[line]], to: FileSink(folder("found.csv")))
    #expect(folder.text("found.csv") == "id,title,b\\ud83d,o\r\n1,\(title),2,\(object)\r\n")
    _ = try await export(
      [[line]], to: FileSink(folder("chosen.csv"), columns: ["title", "o", "t=/o/t"]))
    #expect(
      folder.text("chosen.csv")
        == "title,o,t\r\n\(title),\(object),\(title.replacing("a", with: ""))\r\n")
  }

  @Test("16-Files: a file and its checkpoint are their owner's alone")
  func isPrivate() async throws {
    let folder = try Folder()
    _ = try await export(Self.pages, to: FileSink(folder("a.jsonl")))
    for name in ["a.jsonl", "a.jsonl.checkpoint"] {
      let mode = try FileManager.default.attributesOfItem(atPath: folder(name))[.posixPermissions]
      #expect(mode as? Int == 0o600, "\(name)")
    }
  }

  @Test("K6, K7, K8: a file that was cut, changed or filled is refused and left as it is")
  func refusesChanges() async throws {
    let folder = try Folder()
    let source = listing(Self.pages)
    source.fail(3)
    let sink = FileSink(folder("a.jsonl"))
    var export = Export(Cursor(source), to: sink)
    export.commits = .eachPage
    await #expect(throws: PageError.self) { try await export.run() }
    let whole = folder.text("a.jsonl")
    func refused(_ text: String, _ code: SinkError.Code) async throws {
      try text.write(toFile: folder("a.jsonl"), atomically: false, encoding: .utf8)
      let requests = source.requests
      await #expect { try await export.run() } throws: { code ~= $0 }
      #expect(folder.text("a.jsonl") == text)
      #expect(source.requests == requests)
    }
    try await refused(String(whole.dropLast()), .damaged)
    try await refused("", .damaged)
    try await refused(whole.replacing("1", with: "7"), .damaged)
    // What an export that was killed has left behind is cut off.
    try (whole + "{\"id\":").write(toFile: folder("a.jsonl"), atomically: false, encoding: .utf8)
    try await export.run()
    #expect(folder.text("a.jsonl") == Self.pages.joined().joined(separator: "\n") + "\n")
    // Once it is complete, what is behind it is not the export's.
    try await refused(folder.text("a.jsonl") + "x", .notOurs)
  }

  @Test("K6, 16-Files: a checkpoint too long to be read again is refused, and the last one stays")
  func refusesLongCheckpoint() async throws {
    let folder = try Folder()
    let sink = FileSink(folder("a.json"))
    let session = try sink.open(SinkOpening())
    var checkpoint = Checkpoint(sequence: 1)
    try await session.write(SinkPage([raw("1")]))
    try await session.commit(checkpoint)
    checkpoint.sequence = 2
    checkpoint.memory = .string(String(repeating: "a", count: 17 << 20))
    try await session.write(SinkPage([raw("2")]))
    await #expect { try await session.commit(checkpoint) } throws: {
      SinkError.Code.unsupported ~= $0
    }
    await session.close()
    #expect(folder.text("a.json") == "[\n1\n]\n")
    let again = try sink.open(SinkOpening())
    #expect(again.checkpoint?.sequence == 1)
    await again.close()
  }

  @Test("K6, 16-Files: an export that begins anew takes the place of one of a later version")
  func restartsOverLaterForm() async throws {
    let folder = try Folder()
    let sink = FileSink(folder("a.jsonl"))
    _ = try await export(Self.pages, to: sink)
    let path = folder("a.jsonl.checkpoint")
    let text = try String(contentsOfFile: path, encoding: .utf8)
    try text.replacing("{\"quire\":1,", with: "{\"quire\":2,")
      .write(toFile: path, atomically: false, encoding: .utf8)
    var anew = Export(Cursor(listing([["1"]])), to: sink)
    await #expect { try await anew.run() } throws: { SinkError.Code.unsupported ~= $0 }
    anew.restarts = true
    #expect(try await anew.run().isComplete)
    #expect(folder.text("a.jsonl") == "1\n")
  }

  @Test("16-Files: what no export wrote is neither emptied nor continued unless that is asked for")
  func keepsForeignFiles() async throws {
    let folder = try Folder()
    try "old\n".write(toFile: folder("a.jsonl"), atomically: false, encoding: .utf8)
    await #expect { try await export(Self.pages, to: FileSink(folder("a.jsonl"))) } throws: {
      SinkError.Code.notOurs ~= $0
    }
    #expect(folder.text("a.jsonl") == "old\n")
    _ = try await export(Self.pages, to: FileSink(folder("a.jsonl"), mode: .append))
    #expect(folder.text("a.jsonl") == "old\n" + Self.pages.joined().joined(separator: "\n") + "\n")
    try "old\n".write(toFile: folder("b.csv"), atomically: false, encoding: .utf8)
    var anew = Export(Cursor(listing(Self.pages)), to: FileSink(folder("b.csv")))
    anew.restarts = true
    try await anew.run()
    #expect(folder.text("b.csv").hasPrefix("id,name,"))
  }

  @Test("16-Files: a later run appends, or replaces the file at once when it is complete")
  func runsAgain() async throws {
    let folder = try Folder()
    for name in ["a.jsonl", "a.json", "a.csv", "a.jsonl.gz", "a.json.gz", "a.tsv.gz"] {
      func text() throws -> String {
        name.hasSuffix("gz") ? try folder.unzipped(name) : folder.text(name)
      }
      func items() throws -> Int { try text().split(separator: "\n").count { $0.contains("n") } }
      _ = try await export(Self.pages, to: FileSink(folder(name)))
      let first = try text()
      // The same run again leaves it alone.
      _ = try await export(Self.pages, to: FileSink(folder(name)))
      #expect(try text() == first)
      let source = listing([[#"{"n":1}"#], [#"{"n":2}"#]])
      source.fail(2)
      var replacing = Export(Cursor(source), to: FileSink(folder(name), mode: .replace))
      replacing.commits = .eachPage
      await #expect(throws: PageError.self) { try await replacing.run() }
      #expect(try text() == first)
      try await replacing.run()
      #expect(try text().contains("2") && !text().contains("id"))
      _ = try await export([[#"{"n":3}"#]], to: FileSink(folder(name), mode: .append))
      #expect(try text().contains("2") && text().contains("3"))
      if name.contains(".json") && !name.contains("jsonl") {
        let object = try JSONSerialization.jsonObject(with: Data(text().utf8)) as? [Any]
        #expect(object?.count == 3)
      }
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    #expect(!names.contains { $0.contains("quire-") }, "\(names)")
  }

  @Test(
    "K1, 16-Files: a complete file that was moved away is begun anew, also behind a run that was killed"
  )
  func beginsAnother() async throws {
    let folder = try Folder()
    for mode in [SinkMode.once, .append, .replace] {
      let sink = FileSink(folder("\(mode).jsonl"), mode: mode)
      _ = try await export(Self.pages, to: sink)
      // What such a run has made and not written to.
      try "".write(toFile: folder("\(mode).jsonl"), atomically: false, encoding: .utf8)
      let report = try await export([["1"]], to: sink)
      #expect(report.isComplete && folder.text("\(mode).jsonl") == "1\n", "\(mode)")
    }
    // One that has no items is complete as it is.
    _ = try await export([[]], to: FileSink(folder("none.jsonl")))
    let report = try await export([["1"]], to: FileSink(folder("none.jsonl")))
    #expect("\(report.end)" == "already complete")
  }

  @Test("16-Files: an export by a link to a file that was still to be made goes on")
  func followsLink() async throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      atPath: folder("real"), withIntermediateDirectories: true)
    let files = FileManager.default
    try files.createSymbolicLink(atPath: folder("a.csv"), withDestinationPath: "b.csv")
    try files.createSymbolicLink(atPath: folder("b.csv"), withDestinationPath: folder("real/c.csv"))
    let listing = Cursor(listing([["{\"id\":1}"], ["{\"id\":2}"]]))
    let sink = FileSink(folder("a.csv"))
    var export = Export(listing.limited(to: Limits(pages: 1)), to: sink)
    export.commits = .eachPage
    _ = try await export.run()
    #expect(files.fileExists(atPath: folder("real/c.csv.checkpoint")))
    let report = try await Export(listing, to: sink).run()
    #expect(report.isComplete && report.isResumed)
    #expect(folder.text("real/c.csv") == "id\r\n1\r\n2\r\n")
  }

  @Test("K9: two exports into one file: the second is refused, in this process as well")
  func isExclusive() async throws {
    let folder = try Folder()
    let source = listing(Self.pages)
    source.hold(2)
    let sink = FileSink(folder("a.jsonl"))
    let first = Task { try await Export(Cursor(source), to: sink).run() }
    try await source.wait { $0.requests == [1, 2] }
    try FileManager.default.createSymbolicLink(
      atPath: folder("link.jsonl"), withDestinationPath: folder("a.jsonl"))
    let other = listing(Self.pages)
    for name in ["a.jsonl", "link.jsonl"] {
      await #expect { try await Export(Cursor(other), to: FileSink(folder(name))).run() } throws: {
        SinkError.Code.inUse ~= $0
      }
    }
    #expect(other.requests == [])
    source.release(2)
    _ = try await first.value
  }
}
