import Testing

@Suite("Vectors: cloud")
struct CloudVectorTests {
  @Test("V40 T1 T3 T13: S3 counts objects and prefixes, and encodes its token strictly")
  func v40() async throws { try await play("V40") }

  @Test("V41 T14: S3's old listing goes on by its last key, decoded and encoded once")
  func v41() async throws { try await play("V41") }

  @Test("V42 T6 T16: a marker of S3 versions has two parts, and null is a version like any other")
  func v42() async throws { try await play("V42") }

  @Test("V44 T1 T6 T8: a Google listing goes on over an empty page, and ends by an empty token")
  func v44() async throws { try await play("V44") }

  @Test("V45 T1 T15: a key of DynamoDB is an object, which goes back with every digit")
  func v45() async throws { try await play("V45") }

  @Test("V47 T27: a token of Kubernetes expires, and the error's own is used where that is wanted")
  func v47() async throws { try await play("V47") }

  @Test(
    "V48 T12: a Graph link goes out byte for byte, and a delta link is where a later walk starts")
  func v48() async throws { try await play("V48") }
}
