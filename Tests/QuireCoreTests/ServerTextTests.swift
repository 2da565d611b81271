import Testing

@testable import QuireCore

@Suite("Text of a server")
struct ServerTextTests {
  /// What a terminal obeys, hides or reorders by.
  static let hostile = [
    "\u{1B}[2J", "\n", "\r", "\t", "\0", "\u{7F}", "\u{85}", "\u{9B}31m", "\u{200B}", "\u{200E}",
    "\u{202E}", "\u{2028}", "\u{2029}", "\u{2066}", "\u{FEFF}", "\u{E0041}", "\u{E000}", "\u{3164}",
    "\u{FFF9}", "\u{AD}",
  ]

  @Test(
    "12-S2, L2: whatever a terminal obeys, hides or reorders by is escaped", arguments: hostile)
  func escapes(_ text: String) {
    for shown in [
      "\(ServerText("a\(text)b"))", "\(ServerText(bytes: "a\(text)b".utf8))",
      "a\(text)b".escapedForDisplay, "\(PageError(.noProgress, "a\(text)b"))",
      "\(WalkReport.Warning(.init("x"), "a\(text)b"))",
    ] {
      let left = text.unicodeScalars.filter { !$0.isPlain && shown.unicodeScalars.contains($0) }
      #expect(left.isEmpty)
      #expect(shown.contains("a\\") && shown.contains("b"))
    }
  }

  @Test("12-S2: an error that is changed is still one line, and so is a warning with its remedy")
  func changedErrors() {
    var error = PageError(.noProgress, "fine", request: "GET https://h.test/\u{202E}")
    error.message += "\nquire: exhausted"
    error.redirectedTo = "https://h.test/\u{1B}"
    #expect(!"\(error)".contains("\n") && !"\(error)".contains("\u{1B}"))
    #expect(!"\(error)".unicodeScalars.contains("\u{202E}"))
    let warning = WalkReport.Warning(.init("x"), "m", remedy: Remedy(.items, ["/\n\u{9B}"]))
    #expect("\(warning)" == #"m Use .items(at: "/\n\u{9B}")."#)
  }

  @Test("L2: no more than 256 bytes are shown, and a cut is told; other writing systems stay")
  func lengths() {
    let long = ServerText(String(repeating: "\u{1B}é", count: 1_000)).description
    #expect(long.utf8.count <= 256 + 3 && long.hasSuffix("…"))
    #expect(ServerText(bytes: [UInt8](repeating: 0x41, count: 300)).description.utf8.count == 259)
    #expect(ServerText("страница 二 ہے é").description == "страница 二 ہے é")
  }
}
