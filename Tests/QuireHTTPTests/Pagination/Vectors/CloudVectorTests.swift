import Testing

@Suite("Vectors: cloud")
struct CloudVectorTests {
  @Test("V44 T1 T6 T8: a Google listing goes on over an empty page, and ends by an empty token")
  func v44() async throws { try await play("V44") }

  @Test(
    "V48 T12 (without resuming from a delta link): a Graph link goes out byte for byte")
  func v48() async throws { try await play("V48") }
}
