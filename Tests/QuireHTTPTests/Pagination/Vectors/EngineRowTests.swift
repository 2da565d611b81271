import Testing

@Suite("Rows: engine")
struct EngineRowTests {
  @Test("G1: the same token again is a loop, unless it is the handle of a session")
  func g1() async throws { try await play("G01") }

  @Test("G4: a server that repeats its last page is left at the short one")
  func g4() async throws { try await play("G04") }

  @Test("H15, 12-L1: 204 is an empty page where the description says so, and an empty 200 is none")
  func h15() async throws { try await play("H15") }

  @Test("H20: 400 fails at once")
  func h20() async throws { try await play("H20") }

  @Test("H27: an error in place of the items is an error")
  func h27() async throws { try await play("H27") }

  @Test("J10: a list that is missing, null or no list is an error unless it is optional")
  func j10() async throws { try await play("J10") }

  @Test("R14: a cursor with a line end in it is not sent, and its page is delivered first")
  func r14() async throws { try await play("R14") }
}
