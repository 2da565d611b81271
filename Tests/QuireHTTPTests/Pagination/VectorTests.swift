import QuireHTTP
import Testing

/// The transcripts in `Tests/Fixtures/vectors`, whose titles name the vectors and traps they cover.
@Suite("Vectors")
struct VectorTests {
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

  @Test(
    "There is a transcript for every vector that is covered by one",
    arguments: [
      "V01", "V02", "V03", "V04", "V05", "V06", "V08", "V09", "V10", "V11", "V13", "V23", "V44",
      "V48", "V60", "V61", "V67", "V68", "V69", "V70", "V71", "V72", "V73", "V74", "V75", "V76",
      "V78", "V79", "V80", "V81", "V82", "V84", "V87", "V88", "V89", "V91", "V92", "V94", "V100",
      "V101", "V102", "V104", "V105", "V106",
    ])
  func covers(_ name: String) throws {
    #expect(
      try Transcript.all().contains { $0.title.split(separator: " ").contains(Substring(name)) })
  }

  @Test("Every preset drains a listing of its own shape", arguments: Pagination.presets.map(\.name))
  func coversPreset(_ name: String) throws {
    let preset = try Pagination.preset(named: name)
    let transcripts = try Transcript.all().filter {
      $0.preset == name && $0.error == nil && $0.exchanges.count > 1
    }
    #expect(!transcripts.isEmpty, "no transcript drains \(preset)")
  }
}
