import Testing

@Suite("Traps")
struct TrapTests {
  @Test("T1 G8: an empty page with a token is delivered, and the walk goes on")
  func t1() async throws { try await play("T01") }

  @Test(
    "T2 G11 T21: a short page ends no walk that was not told so, and none whose total says more")
  func t2() async throws { try await play("T02") }

  @Test("T5: a server that ignores the page number is left with an error")
  func t5() async throws { try await play("T05") }

  @Test("T7 T18: a cursor that excludes everything else goes out alone")
  func t7() async throws { try await play("T07") }

  @Test("T9: a relative link is resolved, unless its base is another")
  func t9() async throws { try await play("T09") }

  @Test("T11: links that name the inner host are followed at ours")
  func t11() async throws { try await play("T11") }

  @Test("T12: what the server wrote goes back as it was written")
  func t12() async throws { try await play("T12") }

  @Test("T14: a token is encoded exactly once, and decoded before only where it came encoded")
  func t14() async throws { try await play("T14") }

  @Test("T16: of several tokens, one may be missing on the way")
  func t16() async throws { try await play("T16") }

  @Test("T17: a cursor goes to another place than it came from")
  func t17() async throws { try await play("T17") }

  @Test("T19 G10: totals lie, and no walk ends by one it was not told to end by")
  func t19() async throws { try await play("T19") }

  @Test("T20: numbers and flags may be texts")
  func t20() async throws { try await play("T20") }

  @Test("T21: a page size that the server lowers loses nothing")
  func t21() async throws { try await play("T21") }

  @Test("T22: offsets may count from 1, and a walk goes on from where the caller starts")
  func t22() async throws { try await play("T22") }

  @Test("T24: an error of GraphQL inside a 200 fails the page")
  func t24() async throws { try await play("T24") }

  @Test(
    "T25 H15 H20: 204, 400 and 404 are an empty page, the end or an error, as the description says")
  func t25() async throws { try await play("T25") }

  @Test("T26 H20: a window of results that is exceeded is an error, not the end")
  func t26() async throws { try await play("T26") }

  @Test("T27, G5: a cursor that expired is an error of its own, got over only where that is wanted")
  func t27() async throws { try await play("T27") }

  @Test("T28: a page that is not ready is asked for again, as long after as the body says")
  func t28() async throws { try await play("T28") }

  @Test("T29: a POST may go on as GET, without its body")
  func t29() async throws { try await play("T29") }

  @Test("T30: what stands before a page is skipped, and a callback is no page")
  func t30() async throws { try await play("T30") }

  @Test("T31: XML is read by local names, attributes and conditions, its text trimmed")
  func t31() async throws { try await play("T31") }

  @Test("T32: a link may be a text, an object or nothing, on each page anew")
  func t32() async throws { try await play("T32") }

  @Test(
    "T33 T18: items may be one list, several, null, one element, an object's members or columns")
  func t33() async throws { try await play("T33") }

  @Test("T36: what a protocol needs besides is always sent, unless the caller says otherwise")
  func t36() async throws { try await play("T36") }
}
