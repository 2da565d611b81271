import Testing

@Suite("Vectors: search and data services")
struct DataServiceVectorTests {
  @Test("V50 T15 T16 T27: a point in time is opened, followed by exact sort values, and closed")
  func v50() async throws { try await play("V50") }

  @Test("V53 T3 T6 T16 T23: CouchDB ends by what is pending, a short page, or one row too many")
  func v53() async throws { try await play("V53") }

  @Test("V54 T5 T24: an ArcGIS layer ends by a flag that is missing, or by its first page again")
  func v54() async throws { try await play("V54") }

  @Test("V55 T1 T29: a statement of Trino goes on as GET, over pages without rows")
  func v55() async throws { try await play("V55") }

  @Test("V56: the offset of a SPARQL query stands inside it, and a short page is the end")
  func v56() async throws { try await play("V56") }
}
