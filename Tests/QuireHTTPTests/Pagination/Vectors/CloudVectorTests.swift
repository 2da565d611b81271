import Testing

@Suite("Vectors: cloud")
struct CloudVectorTests {
  @Test("V44 T1 T6 T8: a Google listing goes on over an empty page, and ends by an empty token")
  func v44() async throws { try await play("V44") }

  @Test(
    "V48 T12 (without resuming from a delta link): a Graph link goes out byte for byte")
  func v48() async throws { try await play("V48") }

  @Test("V40 T1 T3 T13: S3 counts objects and prefixes, and encodes its token strictly")
  func v40() async throws { try await play("V40") }

  @Test("V41 T14: S3's old listing goes on by its last key, decoded and encoded once")
  func v41() async throws { try await play("V41") }
}
