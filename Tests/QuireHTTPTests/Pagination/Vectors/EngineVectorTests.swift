import Testing

@Suite("Vectors: engine")
struct EngineVectorTests {
  @Test(
    "V100 T4 T5: a token from two pages ago is a loop, and the same one the end where that is said")
  func v100() async throws { try await play("V100") }

  @Test("V101 T3 G9: a flag beats a token, and more without a token is an error")
  func v101() async throws { try await play("V101") }

  @Test("V102 T11: another host is refused, or asked without credentials, and never in the clear")
  func v102() async throws { try await play("V102") }

  @Test(
    "V104 T13 T14 R15: a cursor is encoded strictly and once, unless told otherwise")
  func v104() async throws { try await play("V104") }

  @Test("V105 T15: numbers go back into a body with the same text")
  func v105() async throws { try await play("V105") }

  @Test(
    "V106 T6 G7: in JSON nothing and blank text are the end, 0 and false are cursors")
  func v106() async throws { try await play("V106") }
}
