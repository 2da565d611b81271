import Foundation
import GRDB
import TestSupport
import Testing

@Suite("Files of quire sync") struct SyncFileTests {
  /// A folder with a sync file of any bytes, and a server of items with a few members.
  private final class Folder {
    let url: URL
    let server: FaultServer

    init() throws {
      url = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      server = try FaultServer { request in
        [.respond("{\"items\":[{\"id\":1,\"ID\":2,\"name\":\"\(request.path)\"}]}")]
      }
    }

    deinit {
      server.stop()
      try? FileManager.default.removeItem(at: url)
    }

    /// Listings by what they say beside their URL.
    func listings(_ listings: KeyValuePairs<String, String>) -> String {
      "listings:\n"
        + listings.enumerated().map { index, listing in
          "  \(listing.key):\n    url: \(server.url("/\(index)"))\n"
            + "    pagination: {next: {body: /next}, send: {query: page}, items: /items}\n"
            + listing.value.split(separator: "; ").map { "    \($0)\n" }.joined()
        }.joined()
    }

    func run(_ text: String, _ arguments: String..., named name: String = "x.yaml") async throws
      -> Command.Ending
    { try await run(Array(text.utf8), arguments, named: name) }

    func run(_ bytes: [UInt8], _ arguments: [String], named name: String = "x.yaml") async throws
      -> Command.Ending
    {
      let file = url.appending(path: name)
      try Data(bytes).write(to: file)
      return try await Command.quire(["sync", file.path] + arguments)
    }

    func rows(_ sql: String, in name: String = "x.db") throws -> [String] {
      try DatabaseQueue(path: url.appending(path: name).path).read {
        try Row.fetchAll($0, sql: sql).map { row in
          row.map { "\($1)".trimmingCharacters(in: ["\""]) }.joined(separator: "|")
        }
      }
    }
  }

  @Test(
    "16-Sync: a byte order mark, line ends of Windows and an end of the document change nothing")
  func readsMarksAndLineEnds() async throws {
    let folder = try Folder()
    let text = "to: x.db\n" + folder.listings(["é": "key: id"])
    for bytes in [
      [0xEF, 0xBB, 0xBF] + Array(text.utf8), Array(text.replacing("\n", with: "\r\n").utf8),
      Array("---\n\(text)...\n".utf8),
    ] {
      let ending = try await folder.run(bytes, ["--plan"])
      #expect(ending.status == 0 && ending.output.contains("  é: begins"), "\(ending.errors)")
    }
  }

  @Test(
    "16-Sync: a file that is not in UTF-8, empty, or more than one is refused, and says what it is",
    arguments: ["x.yaml", "x.json"])
  func namesEncodings(name: String) async throws {
    let folder = try Folder()
    let text = "to: x.db\n" + folder.listings(["a": "headers: {X-A: é}"])
    let cases: [(String.Encoding?, String, String)] = [
      (.utf16, text, "the file: It is in UTF-16 or UTF-32. Save it as UTF-8."),
      (.utf16BigEndian, text, "It is in UTF-16"), (.utf16LittleEndian, text, "It is in UTF-16"),
      (.utf32, text, "It is in UTF-16 or UTF-32."),
      (
        .isoLatin1, text,
        "It is not in UTF-8: line 6, column 20 has a character of another encoding"
      ),
      (nil, "", "the file: It is empty."), (nil, " \n", "It is empty."),
    ]
    let onlyYAML: [(String.Encoding?, String, String)] = [
      (nil, "# a\n", "It is empty."), (nil, "---\n", "It is empty."),
      (nil, text + "---\n" + text, "line 7: Another document begins here"),
    ]
    for (encoding, text, words) in name == "x.yaml" ? cases + onlyYAML : cases {
      let bytes = try #require(text.data(using: encoding ?? .utf8))
      let ending = try await folder.run(Array(bytes), [], named: name)
      #expect(ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
    }
    #expect(folder.server.requests.isEmpty)
  }

  @Test(
    "16-Sync: a mistake in YAML is named with its line and column",
    arguments: [
      ("key: id; pageSize: many", "line 7, column 5: listings.a.pageSize: expected"),
      ("kee: id", "line 6, column 5: listings.a: A listing has no \"kee\""),
      (
        "key: id; since: {feld: /t}",
        "line 7, column 13: listings.a.since: An increment has no \"feld\""
      ),
      (
        "key: id; since: {field: /t, parameter: s, lookBack: -5}",
        "line 7, column 5: listings.a.since: "
      ),
      ("for: b; with: {n: name}", "line 6, column 5: listings.a.for: There is no listing b."),
      ("to: '-'", "line 6, column 5: listings.a.to: Standard output"),
      ("key: id; body: {n: 0x10}", "line 7, column 15: JSON has no number 0x10"),
      ("? [a]; : b", "line 6, column 7: A name is a text"),
    ])
  func namesLines(words: String, message: String) async throws {
    let folder = try Folder()
    let ending = try await folder.run("to: x.db\n" + folder.listings(["a": words]), "--plan")
    #expect(ending.status == 2 && ending.errors.contains("x.yaml: \(message)"), "\(ending.errors)")
  }

  @Test(
    "16-Sync: a number that is none, or too large, is refused and not read as another",
    arguments: [
      "1e3", "0x10", "1_000", "-5", "5.0", "99999999999999999999", "010", "+5", ".inf", "1:30",
    ])
  func namesNumbers(number: String) async throws {
    let folder = try Folder()
    let ending = try await folder.run(
      "to: x.db\n" + folder.listings(["a": "maxItems: \(number)"]), "--plan")
    #expect(
      ending.status == 2
        && ending.errors.contains("line 6, column 5: listings.a.maxItems: expected a whole number")
        && ending.errors.contains("not \(number)."), "\(ending.errors)")
  }

  @Test("16-Sync: numbers in a body are JSON's, and a text in quotes or a time stays one")
  func keepsNumbersOfBodies() async throws {
    let folder = try Folder()
    let words = "key: id; body: {a: '0x10', b: 1e3, c: 12:30, d: 123456789012345678901, e: -5.0}"
    let text = "to: x.db\n" + folder.listings(["a": words])
    #expect(try await folder.run(text).status == 0)
    #expect(
      folder.server.requests.map { String(decoding: $0.body, as: UTF8.self) } == [
        #"{"a":"0x10","b":1e3,"c":"12:30","d":123456789012345678901,"e":-5.0}"#
      ])
    for number in ["0x10", "1_000", "010", ".5", "+1", ".nan"] {
      let ending = try await folder.run(text.replacing("'0x10'", with: number))
      #expect(
        ending.status == 2 && ending.errors.contains("JSON has no number \(number),"),
        "\(ending.errors)")
    }
  }

  @Test(
    "16-Sync: a destination or a state that no later run could go on with is refused before a request",
    arguments: [
      ("'-'", "Standard output keeps nothing"), (".", ". is a directory."),
      ("..", ".. is a directory."), ("''", "is no name of a file"),
      ("sub", "sub is a directory."), ("sub/", "sub/ is a directory."),
      ("'~/x.db'", "~/x.db is a shell's word"), ("pipe", "pipe is no file"),
      (#""x\0.db""#, "is no name of a file"),
      ("http://host/x.db", "Nothing is known by http://."),
    ])
  func namesPaths(path: String, words: String) async throws {
    let folder = try Folder()
    try FileManager.default.createDirectory(
      at: folder.url.appending(path: "sub"), withIntermediateDirectories: true)
    #expect(mkfifo(folder.url.appending(path: "pipe").path, 0o600) == 0)
    let listings = folder.listings(["a": "key: id"])
    for (text, place) in [
      ("to: \(path)\n\(listings)", "to"), ("to: x.db\nstate: \(path)\n\(listings)", "state"),
      (folder.listings(["a": "to: \(path)"]), "listings.a.to"),
    ] {
      let ending = try await folder.run(text)
      #expect(
        ending.status == 2 && ending.errors.contains("\(place): ") && ending.errors.contains(words),
        "\(ending.errors)")
    }
    #expect(folder.server.requests.isEmpty)
  }

  @Test(
    "16-Sync: names of one character, with blanks or of a drive's look are files beside the sync file"
  )
  func writesOddNames() async throws {
    let folder = try Folder()
    let names = ["x", "my items", "file:a.db", "a:b", "./-", "./~"]
    for name in names {
      let ending = try await folder.run(folder.listings(["a": "to: '\(name)'"]))
      #expect(ending.status == 0, "\(ending.errors)")
      let path = folder.url.appending(path: name).path
      #expect(FileManager.default.fileExists(atPath: path), "\(name)")
    }
  }

  @Test(
    "16-Sync: two listings that write to one file or table are refused, however the two are spelt",
    arguments: [
      ("to: sub/x.jsonl", "to: link/x.jsonl", "Give each a file"),
      ("to: x.jsonl", "to: sub/../x.jsonl", "Give each a file"),
      ("to: x.jsonl", "to: same.jsonl", "Give each a file"),
      ("to: x.jsonl", "to: X.jsonl", "but for upper and lower case"),
      ("to: {path: x.db, table: t}", "to: {path: ./X.db, table: t}", "upper and lower case"),
      ("to: {path: sub/x.db, table: t}", "to: {path: link/x.db, table: T}", "its own table"),
      (
        "to: {path: 'postgres://h/d', table: t}",
        "to: {path: 'postgresql://:pw@H:5432/d?sslmode=disable', table: t}", "its own table"
      ),
    ])
  func namesTwins(first: String, second: String, words: String) async throws {
    let folder = try Folder()
    let sub = folder.url.appending(path: "sub")
    try FileManager.default.createDirectory(at: sub, withIntermediateDirectories: true)
    for (name, target) in [("link", "sub"), ("same.jsonl", "x.jsonl")] {
      try FileManager.default.createSymbolicLink(
        atPath: folder.url.appending(path: name).path, withDestinationPath: target)
    }
    let ending = try await folder.run(folder.listings(["a": first, "b": second]), "--plan")
    #expect(ending.status == 2 && ending.errors.contains("listings.b: "), "\(ending.errors)")
    #expect(ending.errors.contains(words), "\(ending.errors)")
  }

  @Test("16-Sync: tables whose names differ in case are two in PostgreSQL, and one in SQLite")
  func tellsCase() async throws {
    let folder = try Folder()
    let listings = folder.listings(["Users": "key: id", "users": "key: id"])
    let one = try await folder.run("to: x.db\n\(listings)", "--plan")
    #expect(one.status == 2 && one.errors.contains("listings.users: Its items go where"))
    let two = try await folder.run("to: postgres://host/x\n\(listings)", "--status")
    #expect(two.status == 0, "\(two.errors)")
  }

  @Test(
    "16-Sync: nothing is written over what the sync itself keeps",
    arguments: [
      ("x.yaml", "to: x.db\nstate: x.db", "parents: key: id", "keeps a table parents of its own"),
      ("x.yaml", "to: x.db\nstate: ./x.db", "Seen: key: id", "keeps a table Seen of its own"),
      ("x.yaml", "state: known", "a: to: known", "what the sync itself has"),
      ("x.yaml", "state: known", "a: to: known-lock", "what the sync itself has"),
      ("x", "state: known", "a: to: x", "what the sync itself has"),
      ("x.yaml", "to: x.db", "_quire: key: id", "listings._quire: No table can be called _quire"),
      ("x.yaml", "to: x.db", "a: table: sqlite_a", "listings.a: No table can be called sqlite_a"),
      ("x.yaml", "to: postgres://h/d", "_quire_leases: key: id", "No table can be called"),
    ])
  func keepsOwn(name: String, head: String, listing: String, words: String) async throws {
    let folder = try Folder()
    let parts = listing.split(separator: ": ", maxSplits: 1).map(String.init)
    let text =
      "\(head)\n" + folder.listings(["good": "to: good.jsonl"])
      + folder.listings(["LISTING": parts[1]])
      .replacing("listings:\n", with: "").replacing("LISTING", with: parts[0])
    let ending = try await folder.run(text, "--restart", named: name)
    #expect(ending.status == 2 && ending.errors.contains(words), "\(ending.errors)")
    #expect(folder.server.requests.isEmpty)
  }

  @Test("16-Sync: a state in the database of the listings holds all, where no names are the same")
  func sharesDatabase() async throws {
    let folder = try Folder()
    let text = "to: x.db\nstate: x.db\n" + folder.listings(["a": "key: id"])
    for _ in 0..<2 { #expect(try await folder.run(text).status == 0) }
    #expect(try folder.rows("SELECT id, name FROM a") == ["1|/0"])
  }

  @Test(
    "16-Sync: columns that would take each other's place are refused",
    arguments: [
      ("x.db", "columns: [id, name, id]", "columns: id and id are one column."),
      (
        "x.db", "columns: [id, ID]",
        "columns: id and ID are one column. Keep one, or give it another name, such as id_2=/ID."
      ),
      ("x.db", "columns: [name, name=/user/name]", "name_2=/user/name"),
      (
        "x.db", "key: id; columns: [id=/ID, name]",
        "id is the column of the key at /id, and not of /ID"
      ),
      ("x.db", "key: [id, /id]", "key: /id is there twice."),
      (
        "x.db", "key: id; columns: id, name",
        "columns: One name is a text, and several are a list: [id, name]."
      ),
      ("x.db", "key: id, name", "key: One name is a text"),
      ("postgres://h/d", "columns: [name, name=/user/name]", "are one column"),
      ("x.csv", "columns: [name, name=/user/name]", "are one column"),
    ])
  func namesColumns(to: String, words: String, message: String) async throws {
    let folder = try Folder()
    let ending = try await folder.run(folder.listings(["a": "to: \(to); \(words)"]))
    #expect(ending.status == 2 && ending.errors.contains(message), "\(ending.errors)")
    #expect(folder.server.requests.isEmpty)
  }

  @Test(
    "16-Sync: a key that is not among the columns is one, and reserved words name columns and tables"
  )
  func keepsKeyAndWords() async throws {
    let folder = try Folder()
    let text =
      "to: x.db\n"
      + folder.listings(["select": "key: id; columns: [order=/name, group=/ID]"])
    for _ in 0..<2 {
      let ending = try await folder.run(text)
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(try folder.rows("SELECT id, \"order\", \"group\" FROM \"select\"") == ["1|/0|2"])
    let names = try await folder.run("to: x.db\n" + folder.listings(["''": "key: id"]))
    #expect(names.status == 2 && names.errors.contains("is no name"), "\(names.errors)")
  }
}
