import Testing

@Suite("Vectors: protocols of several requests")
struct ProtocolVectorTests {
  @Test("V24: a sitemap index leads through its sitemaps in their order")
  func v24() async throws { try await play("V24") }

  @Test("V34 T24: MediaWiki goes on by all members of continue, and by no others")
  func v34() async throws { try await play("V34") }

  @Test("V64 T29: a STAC link describes a whole request, but never its credentials")
  func v64() async throws { try await play("V64") }

  @Test("V103: a page whose body asks to wait is delivered first")
  func v103() async throws { try await play("V103") }

  @Test("T23: a row that comes again at the start of the next page is delivered once")
  func t23() async throws { try await play("T23") }
}
