import Testing

@Suite("Vectors: protocols of several requests")
struct ProtocolVectorTests {
  @Test("V24 (without gzip): a sitemap index leads through its sitemaps in their order")
  func v24() async throws { try await play("V24") }

  @Test("V30 T24: the session of an E-utilities search goes with every page")
  func v30() async throws { try await play("V30") }

  @Test("V34 T24: MediaWiki goes on by all members of continue, and by no others")
  func v34() async throws { try await play("V34") }

  @Test("V47 T27: Kubernetes gives another cursor where one is forgotten")
  func v47() async throws { try await play("V47") }

  @Test("V50 T15 T16 T27: a point in time is opened, carried by its latest name, and closed")
  func v50() async throws { try await play("V50") }

  @Test("V54 T5 T24: ArcGIS ends by an absent flag, or by a page that comes again")
  func v54() async throws { try await play("V54") }

  @Test("V55 T1 T29: a Trino statement is sent once, and its pages are got by GET")
  func v55() async throws { try await play("V55") }

  @Test("V64 T29: a STAC link describes a whole request, but never its credentials")
  func v64() async throws { try await play("V64") }

  @Test("V85 T7 T28: a Google Places token goes out alone, and again until it is valid")
  func v85() async throws { try await play("V85") }

  @Test("V95 T18: monday.com changes document and path after the first page")
  func v95() async throws { try await play("V95") }

  @Test("V103 (the body): a page that asks to wait is delivered first")
  func v103() async throws { try await play("V103") }

  @Test("T23: a row that comes again at the start of the next page is delivered once")
  func t23() async throws { try await play("T23") }

  @Test("T27: a walk that begins again says so, and does it three times at most")
  func t27() async throws { try await play("T27") }
}
