import QuireCore
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

@Suite("JSONDocument")
struct JSONDocumentTests {
  func document(_ text: String) throws -> JSONDocument { try JSONDocument(Array(text.utf8)) }

  @Test(
    "The examples of RFC 6901 section 5 are answered",
    arguments: [
      ("/foo", JSONValue?.some(["bar", "baz"])), ("/foo/0", "bar"), ("/foo/1", "baz"), ("/", 0),
      ("/a~1b", 1), ("/c%d", 2), ("/e^f", 3), ("/g|h", 4), ("/i\\j", 5), ("/k\"l", 6), ("/ ", 7),
      ("/m~0n", 8), ("/foo/2", nil), ("/foo/01", nil), ("/foo/-", nil), ("/foo/0/x", nil),
      ("/absent", nil), ("/foo/+1", nil),
    ])
  func pointers(_ path: String, _ value: JSONValue?) throws {
    let document = try document(
      #"""
      {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
       " ": 7, "m~n": 8}
      """#)
    #expect(try document.value(at: PagePath(path)) == value)
  }

  @Test("-1 is the last element, and a filter finds the object by a member or what it contains")
  func ownSteps() throws {
    let document = try document(
      #"""
      {"links": [{"rel": "self", "href": "a"}, 7, {"rel": ["prev", "next"], "href": "b"},
        {"rel": "next", "href": "c"}, {"n": 2, "href": "d"}, {"rel": "né", "href": "e"}],
       "empty": [], "-1": "member"}
      """#)
    #expect(try document.value(at: "/links[rel=next]/href") == "b")
    #expect(try document.value(at: "/links[rel=self]/href") == "a")
    #expect(try document.value(at: "/links[n=2]/href") == "d")
    #expect(try document.value(at: "/links[rel=né]/href") == "e")
    #expect(try document.value(at: "/links[rel=last]/href") == nil)
    #expect(try document.value(at: "/links[rel=PREV]/href") == "b")
    #expect(try document.value(at: "/links[n=N]/href") == nil)
    #expect(try document.value(at: "/links/-1/href") == "e")
    #expect(try document.value(at: "/empty/-1") == nil)
    #expect(try document.value(at: "/-1") == "member")
  }

  @Test("An escaped name is the name it stands for, found and counted as such")
  func escapedNames() throws {
    #expect(try document(#"{"\u006eext": 1}"#).value(at: "/next") == 1)
    #expect(try document(#"{"\ud83d\ude00": 1}"#).value(at: "/😀") == 1)
    #expect(try document(#"{"nex": 0, "next2": 2}"#).value(at: "/next") == nil)
    let error = #expect(throws: PageError.self) {
      try document(#"{"next": 1, "\u006eext": 2}"#).value(at: "/next")
    }
    #expect(error?.code == .shape)
  }

  @Test("Containers are counted, a scalar is one, null is none, and nothing is nil")
  func counts() throws {
    let document = try document(
      #"{"a": [1, [2, 3], {"x": 4}], "o": {"p": {}, "q": []}, "s": "text", "n": null}"#)
    #expect(try document.count(at: "") == 4)
    #expect(try document.count(at: "/a") == 3)
    #expect(try document.count(at: "/a/1") == 2)
    #expect(try document.count(at: "/o") == 2)
    #expect(try document.count(at: "/o/p") == 0)
    #expect(try document.count(at: "/s") == 1)
    #expect(try document.count(at: "/n") == 0)
    #expect(try document.count(at: "/x") == nil)
  }

  @Test(
    "H-2, V105, J2, J3: a number keeps the text the server wrote",
    arguments: [
      "1.10", "9007199254740993", "1e400", "-0", "1.0", "18446744073709551616", "1E-999",
      "0.10e+05",
      String(repeating: "7", count: 4096),
    ])
  func numbers(_ text: String) throws {
    let document = try document("{\"next\": \(text)}")
    #expect(try document.value(at: "/next") == .number(text))
    #expect(try document.value(at: "/next")?.description == text)
  }

  @Test("V106, G7: absent, null, empty, blank, zero, false and \"null\" can be told apart")
  func nothings() throws {
    let document = try document(
      #"{"n": null, "e": "", "b": "  ", "z": 0, "f": false, "t": "null", "a": [], "o": {}}"#)
    let found = try ["/x", "/n", "/e", "/b", "/z", "/f", "/t", "/a", "/o"].map {
      try document.value(at: PagePath($0))
    }
    #expect(found == [nil, .null, "", "  ", 0, false, "null", [], .object([])])
  }

  @Test(
    "J6, T30: a byte order mark and the guards before JSON are skipped",
    arguments: [
      "\u{FEFF}[1]", ")]}'\n[1]", ")]}'\r\n[1]", ")]}',\n[1]", "\u{FEFF})]}'\n[1]", "while(1);[1]",
      "for(;;);[1]", "for (;;);[1]", " \r\n\t[1] \n",
    ])
  func prologue(_ text: String) throws {
    #expect(try document(text).value(at: "/0") == 1)
  }

  @Test("J6: UTF-16 and UTF-32 are refused by their name", arguments: [0, 1, 2, 3])
  func wideEncodings(_ index: Int) throws {
    let pages: [[UInt8]] = [
      [0xFF, 0xFE, 0x5B, 0, 0x5D, 0], [0, 0x5B, 0, 0x5D], [0x5B, 0, 0, 0, 0x5D, 0, 0, 0],
      [0, 0, 0, 0x5B, 0, 0, 0, 0x5D],
    ]
    let error = #expect(throws: PageError.self) { try JSONDocument(pages[index]) }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("UTF-16") == true)
  }

  @Test(
    "J7: what is not JSON is refused, with the byte and the line",
    arguments: [
      ("[1,\n2,\n]", 7, 3), ("{'a': 1}", 1, 1), ("[1] x", 4, 1), ("[1][2]", 3, 1), ("[NaN]", 1, 1),
      ("[1, // one\n2]", 4, 1), ("{\"a\" 1}", 5, 1), ("[01]", 2, 1), ("[\"\\x\"]", 3, 1),
      ("[tru]", 4, 1), ("[\"\u{1}\"]", 2, 1), ("{\"a\": 1,}", 8, 1), ("[1}", 2, 1),
      (")]}'[1]", 0, 1),
    ])
  func malformed(_ text: String, _ byte: Int, _ line: Int) throws {
    let error = #expect(throws: PageError.self) { try document(text) }
    #expect(error?.code == .malformed)
    #expect(error?.message.contains("at byte \(byte) (line \(line)),") == true, "\(error as Any)")
  }

  @Test("Each beginning of a page that is no page is cut off, not malformed")
  func truncated() throws {
    let whole = Array(#"{"a": [1.5e+3, true, false, null, "xé\n\ud83d\ude00"], "b": {}} "#.utf8)
    for length in 0..<whole.count - 1 {
      let error = #expect(throws: PageError.self) { try JSONDocument(Array(whole[..<length])) }
      #expect(error?.code == .truncated, "\(length): \(error as Any)")
    }
    #expect(throws: Never.self) { try JSONDocument(Array(whole[..<(whole.count - 1)])) }
  }

  @Test("Strings that need work come out as the text they stand for")
  func strings() throws {
    let text =
      #"["\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\uD83D\uDE00", "plain é 日本 😀", "12345678\n12345678"]"#
    #expect(
      try document(text).value(at: "") == [
        "\"\\/\u{8}\u{C}\n\r\t\u{0}é€😀", "plain é 日本 😀", "12345678\n12345678",
      ])
  }
}
