import Foundation
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Testing

/// What holds for every transcript in `Tests/Fixtures/vectors`; `Vectors/` names what each shows.
@Suite("Transcripts")
struct TranscriptTests {
  @Test("Every transcript plays out as written, to the byte", arguments: try Transcript.all())
  func plays(_ transcript: Transcript) async throws {
    var player = TranscriptPlayer(transcript)
    try await player.play()
  }

  @Test(
    "V107: every transcript plays out the same when each page is fetched by a new process",
    arguments: try Transcript.all())
  func resumes(_ transcript: Transcript) async throws {
    var player = TranscriptPlayer(transcript)
    try await player.playResuming()
  }

  @Test("Every file of a vector, trap or row is played by a test whose name begins with its ID")
  func names() throws {
    let files = try Transcript.files().filter { !$0.contains("/") }
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().appending(path: "Vectors")
    var played: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path()) {
      let source = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
      for test in source.split(separator: "@Test(").dropFirst() {
        let title = String(test.drop { $0 != "\"" }.dropFirst().prefix { $0 != "\"" })
        for match in test.matches(of: /play\("([^"]+)"\)/) {
          let file = String(match.1)
          played.append(file)
          let id = file.replacing(
            "0", with: "", maxReplacements: file.dropFirst().first == "0" ? 1 : 0)
          #expect(title.hasPrefix(file) || title.hasPrefix(id), "\(file) is played by: \(title)")
        }
      }
    }
    #expect(played.sorted() == files)
  }

  @Test("Every preset has transcripts of its own, in the file of its name")
  func showsPresets() throws {
    let files = Set(try Transcript.files())
    #expect(Pagination.presets.map(\.name).filter { !files.contains("presets/\($0)") } == [])
    for preset in Pagination.presets where files.contains("presets/\(preset.name)") {
      let played = try Transcript.all(in: "presets/\(preset.name)").map(\.preset)
      #expect(played.contains(preset.name), "\(preset.name) is not in its own file")
    }
  }

  @Test("Every file of a preset is named for one")
  func namesPresets() throws {
    let presets = Set(Pagination.presets.map { "presets/\($0.name)" })
    #expect(try Transcript.files().filter { $0.contains("/") && !presets.contains($0) } == [])
  }
}
