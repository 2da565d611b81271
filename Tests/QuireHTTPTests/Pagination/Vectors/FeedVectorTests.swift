import Testing

@Suite("Vectors: feeds and XML")
struct FeedVectorTests {
  @Test("V20 T9 T31: an Atom feed leads on by a relative link, from the xml:base it stands in")
  func v20() async throws { try await play("V20") }

  @Test(
    "V21 T23: an archived feed is walked back to its first document, its repeated entries told apart or not"
  )
  func v21() async throws { try await play("V21") }

  @Test(
    "V23 T5: a JSON Feed that names an older address again is a loop, and its page is delivered")
  func v23() async throws { try await play("V23") }

  @Test(
    "V25 T6 T7 T14 T24 T25: an OAI-PMH harvest sends its token alone, and tells ends from errors")
  func v25() async throws { try await play("V25") }

  @Test("V26: an OpenSearch listing ends by its total, and has one page without a total")
  func v26() async throws { try await play("V26") }

  @Test("V27: an SRU listing ends by its number of records, not by a position past the end")
  func v27() async throws { try await play("V27") }

  @Test("V28 T5: a CSW listing ends by the next record 0, and where the server wraps round")
  func v28() async throws { try await play("V28") }

  @Test("V29 T31: a WFS listing follows an attribute, and makes no total of what comes late")
  func v29() async throws { try await play("V29") }

  @Test("V30 T24: the session of the first page of E-utilities goes along with the others")
  func v30() async throws { try await play("V30") }

  @Test("V32 T20: OData 2 is walked as JSON and as Atom, by one description")
  func v32() async throws { try await play("V32") }

  @Test("V33: an offset of Exchange goes into an attribute inside the body")
  func v33() async throws { try await play("V33") }
}
