import Testing

/// Every transcript in JSON, written as XML: its end rules, totals, counters, sources, failures and
/// bad pages must make the same requests, items and errors.
@Suite("Transcripts in the other format")
struct TranscriptFormatTests {
  /// What XML says otherwise, by file and the start of the title.
  private static let differing = [
    // An element with children is a list of them.
    "J10: Items that are an object",
    // Values have no types: a number that came is sent as a text.
    "V105: Numbers go back into a body",
    "V50: Elasticsearch", "presets/elastic: Elasticsearch", "presets/openSearchPIT: OpenSearch",
    "presets/couchView: CouchDB",
    // A key below the last item is not below the page.
    "T26: A result window is left behind",
    // A link that describes a request is read as a link and a list of texts.
    "V64: STAC: a next link", "V64: STAC: a request",
    // Every member of a list of lists has a name of its own.
    "V55: Trino", "presets/snowflake: Snowflake",
    // A list of texts is elements inside an element, which no condition looks at.
    "V62: Siren: the relation is a list", "presets/siren: Siren",
    // The item itself is shown, in which numbers are texts.
    "presets/relay: Relay: edges where there are no nodes",
  ]

  /// Every transcript in JSON that XML can say too.
  private static func all() throws -> [Transcript] {
    try Transcript.all().compactMap { transcript in
      guard !differing.contains(where: transcript.testDescription.hasPrefix) else { return nil }
      do {
        return try transcript.inXML()
      } catch is Transcript.Inexpressible {
        return nil
      }
    }
  }

  @Test(
    "D-1 X-16: a listing in JSON makes the same requests, pages and errors when it comes in XML",
    arguments: try all())
  func plays(_ transcript: Transcript) async throws {
    var player = TranscriptPlayer(transcript)
    try await player.play()
    player = TranscriptPlayer(transcript)
    try await player.playResuming()
  }

  @Test("Most of all listings are played in both formats")
  func count() throws {
    let count = try Self.all().count
    #expect(count > 120)
    #expect(try count * 10 > Transcript.all().count * 6)
  }
}
