import QuireCore
import QuireJSON
import QuirePagination
import QuireTesting
import Testing

/// Items as they arrive, on every page of `Tests/Fixtures/vectors`.
@Suite("Transcripts, as they arrive")
struct TranscriptArrivalTests {
  @Test(
    "14-Arrival: every transcript plays out as written when its pages arrive in slices",
    arguments: try Transcript.files())
  func plays(_ file: String) async throws {
    for transcript in try Transcript.all(in: file) {
      for size in [1, 40] {
        var player = TranscriptPlayer(transcript)
        guard try await player.playArriving(by: size) else { break }
      }
    }
  }

  @Test(
    "14-Arrival: every page of JSON has the same items in parts, or fails as well, wherever it is cut in two",
    arguments: try Transcript.files())
  func cuts(_ file: String) throws {
    for transcript in try Transcript.all(in: file) where !transcript.isBytes {
      for exchange in transcript.exchanges {
        let page = Array(exchange.answerBody.utf8)
        let context = DecodingContext(items: transcript.pagination.items)
        if page.first == UInt8(ascii: "<") { continue }
        compare(JSONRawPageDecoder(), page, context) { "\($0)" }
      }
    }
  }

  private func compare<Item>(
    _ decoder: some PageDecoder<Item>, _ page: [UInt8], _ context: DecodingContext,
    _ text: (Item) -> String
  ) {
    func read(_ delivery: PageDelivery, _ cut: Int) -> [String] {
      var context = context
      context.delivery = delivery
      do {
        var session = try decoder.begin(context)
        try session.receive(Array(page[..<cut]))
        var items: [Item] = []
        if delivery == .asItArrives { items += try session.readyItems().items }
        try session.receive(Array(page[cut...]))
        if delivery == .asItArrives { items += try session.readyItems().items }
        let document = try session.finish()
        items += try session.items().items
        return items.map(text)
          + context.items.paths.map { "\(String(describing: try? document.count(at: $0)))" }
      } catch {
        return ["failed"]
      }
    }
    let whole = read(.whole, page.count)
    for cut in 0...page.count {
      let parts = read(.asItArrives, cut)
      #expect(parts == whole, "cut at \(cut): \(String(decoding: page, as: UTF8.self))")
      if parts != whole { break }
    }
  }
}
