import TestSupport
import Testing

@testable import QuireCommand

@Suite("Advice on a description that is in a file")
struct DescriptionWordsTests {
  @Test(
    "12-Documents: no advice that is given under --pagination or --preset names --end or --next")
  func phrases() {
    for (_, option) in OptionWords.phrases where option.contains("--end") {
      #expect(!DescriptionWords.applied(to: option).contains("--end"), "\(option)")
    }
    for (message, wanted) in [
      ("Or use --end same.", "Or add \"sameCursor\" to \"end\" in the description."),
      (
        "if so, use --end sentinel:-1.",
        "if so, add {\"noNext\": {\"sentinels\": [\"-1\"]}} to \"end\" in the description."
      ),
      (
        "if so, use --end 'sentinel:no more'.",
        "if so, add {\"noNext\": {\"sentinels\": [\"no more\"]}} to \"end\" in the description."
      ),
      ("no page had it. Correct --end.", "no page had it. Correct \"end\" in the description."),
    ] {
      #expect(DescriptionWords.applied(to: message) == wanted)
    }
  }

  @Test(
    "12-Documents: a repeated cursor names the description's member, or the option where one is")
  func repeatedCursor() async throws {
    let server = try FaultServer { _ in [.respond(#"{"items": [1], "next": "done"}"#)] }
    defer { server.stop() }
    let description = TemporaryFile(
      #"{"items": "/items", "next": {"body": "/next"}, "send": {"query": "c"}}"#)
    let file = try await Command.quire([
      "export", server.url("/"), "--pagination", description.path,
    ])
    #expect(file.status == 1)
    #expect(file.errors.contains("in the description"), "\(file.errors)")
    #expect(!file.errors.contains("--end"), "\(file.errors)")
    let options = try await Command.quire([
      "export", server.url("/"), "--items", "/items", "--next", "body:/next", "--send", "query:c",
    ])
    #expect(options.errors.contains("--end "), "\(options.errors)")
  }
}
