import QuireCore
import Testing

@testable import QuireHTTP

@Suite("Secrets in positions")
struct SecretParametersTests {
  private let secrets = SecretParameters(of: "https://g.test/me?access_token=S%2FECRET&limit=2")

  @Test("H-8, T34: a position stores no secret of the first URL, and the next request has it again")
  func roundTrip() {
    let position = Position([
      "url": "https://g.test/me?after=a%2B&access_token=S/ECRET&limit=2"
    ])
    let stored = secrets.conceal(position)
    #expect(!"\(stored)".contains("ECRET"))
    #expect(
      secrets.reveal(stored).value?["url"]?.string
        == "https://g.test/me?after=a%2B&access_token=S%2FECRET&limit=2")
  }

  @Test("A parameter that is not the caller's secret stays byte for byte")
  func others() {
    for url in ["https://g.test/me?access_token=other", "https://g.test/x?y=S%2FECRET", "/p"] {
      let position = Position(["url": .string(url)])
      #expect(secrets.conceal(position) == position)
    }
    #expect(secrets.conceal(.start) == .start)
    #expect(secrets.conceal(Position(["offset": 12])) == Position(["offset": 12]))
  }
}
