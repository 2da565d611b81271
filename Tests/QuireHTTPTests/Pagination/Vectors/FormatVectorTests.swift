import Testing

@Suite("Vectors: formats and frameworks")
struct FormatVectorTests {
  @Test("V60 T32: a JSON:API link is an object, a text or null")
  func v60() async throws { try await play("V60") }

  @Test("V61: the expressions of a HAL link that is a template are dropped")
  func v61() async throws { try await play("V61") }

  @Test("V62 T9 T32: a Siren link has several relations, a Hydra link is a text or an object")
  func v62() async throws { try await play("V62") }

  @Test("V66 T18 T21 T22: SCIM counts from 1 by what came, or starts with an empty cursor")
  func v66() async throws { try await play("V66") }

  @Test(
    "V67 T24: a GraphQL connection ends by its flag, and fails inside a 200")
  func v67() async throws { try await play("V67") }

  @Test("V68 T11: a Django link to the inner host is refused, or followed at our own")
  func v68() async throws { try await play("V68") }

  @Test(
    "V69 T22: Spring counts from 0, and the links of Laravel are an object or a list of buttons")
  func v69() async throws { try await play("V69") }
}
