import Testing

@Suite("Vectors: feeds and XML")
struct FeedVectorTests {
  @Test(
    "V23 T5: a JSON Feed that names an older address again is a loop, and its page is delivered")
  func v23() async throws { try await play("V23") }
}
