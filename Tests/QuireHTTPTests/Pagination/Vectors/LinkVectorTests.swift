import Testing

@Suite("Vectors: links, ranges and header fields")
struct LinkVectorTests {
  @Test("V01: a GitHub link may lead to another path, and the first page tells how many there are")
  func v01() async throws { try await play("V01") }

  @Test(
    "V02 T2 T9: an OCI registry gives too few tags, a relative link, and null for none")
  func v02() async throws { try await play("V02") }

  @Test(
    "V03 T12: a Link field may have commas, quotes, several relations and anchors")
  func v03() async throws { try await play("V03") }

  @Test("V04 T3: a next link of Sentry whose results are false is not followed")
  func v04() async throws { try await play("V04") }

  @Test(
    "V05 T7 T17: the cursor in a Shopify link goes out without the filters")
  func v05() async throws { try await play("V05") }

  @Test(
    "V06 T4 T8 T12: a header of NASA CMR goes back byte for byte until it is missing or the same")
  func v06() async throws { try await play("V06") }

  @Test("V08 T21 T25: PostgREST is read by ranges, up to the total, an empty page or 416")
  func v08() async throws { try await play("V08") }

  @Test("V09 T17: a header of Azure DevOps goes into the query, and its count is no total")
  func v09() async throws { try await play("V09") }

  @Test("V10 T1 T16: a cursor of Azure Table has two parts, of which one may be missing")
  func v10() async throws { try await play("V10") }

  @Test("V11 T6: the text null in the locator of Salesforce Bulk is the end")
  func v11() async throws { try await play("V11") }

  @Test("V13 T25: WordPress ends by the number of pages in a header, or by a 400 that says so")
  func v13() async throws { try await play("V13") }
}
