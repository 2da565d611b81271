import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Redirects, as transcripts")
struct RedirectMachineTests {
  private func machine(
    _ url: String = "https://api.test/a", method: HTTPRequest.Method = .get, body: Bool = false
  ) throws -> RedirectMachine {
    let reference = try URLReference(url)
    let origin = try Origin(reference)
    return RedirectMachine(
      try .init(method, reference, home: origin, keepsBody: body), home: origin, longest: 5)
  }

  @Test("H19: an answer that is no redirect ends the chain")
  func answer() throws {
    var machine = try machine()
    for status in [200, 204, 206, 300, 304, 305, 306, 404, 500] {
      #expect(try machine.received(status: status, location: "/b") == nil)
    }
  }

  @Test("A redirect resolves against the URL that answered, and drops the fragment")
  func relative() throws {
    var machine = try machine("https://api.test/v1/a?x=1")
    #expect(
      try machine.received(status: 302, location: "b?c=%2B#f")?.url.text
        == "https://api.test/v1/b?c=%2B")
    #expect(try machine.received(status: 307, location: "/d")?.url.text == "https://api.test/d")
  }

  @Test("A redirect may have spaces in its query, as a next link may, and nowhere else")
  func spaces() throws {
    var machine = try machine()
    #expect(
      try machine.received(status: 302, location: "/b?q=c d e")?.text
        == "https://api.test/b?q=c%20d%20e")
    let error = #expect(throws: PageError.self) {
      try machine.received(status: 302, location: "/b c?q=d")
    }
    #expect(error?.code == .refusedLink)
  }

  @Test("R1: five hops are followed, the sixth is refused; a circle is refused at once")
  func tooMany() throws {
    var chain = try machine()
    for hop in 1...5 { #expect(try chain.received(status: 302, location: "/\(hop)") != nil) }
    let long = #expect(throws: PageError.self) { try chain.received(status: 302, location: "/6") }
    #expect(long?.code == .refusedLink)
    var circle = try machine()
    _ = try circle.received(status: 302, location: "/b")
    let error = #expect(throws: PageError.self) { try circle.received(status: 302, location: "/a") }
    #expect(error?.message.contains("circle") == true)
  }

  @Test("R2: a redirect from https to http is refused")
  func downgrade() throws {
    var machine = try machine()
    let error = #expect(throws: PageError.self) {
      try machine.received(status: 301, location: "http://api.test/a")
    }
    #expect(error?.code == .refusedLink)
  }

  @Test(
    "R3: a redirect to another scheme, or with user information, is refused",
    arguments: [
      "file:///etc/passwd", "ftp://api.test/", "gopher://x/", "https://u:p@api.test/", "https://",
      "https://a\\@b/",
    ])
  func schemes(location: String) throws {
    var machine = try machine()
    let error = #expect(throws: PageError.self) {
      try machine.received(status: 302, location: location)
    }
    #expect(error?.code == .refusedLink)
  }

  @Test("H19: a redirect without a target is an error with its status")
  func noLocation() throws {
    var machine = try machine()
    let error = #expect(throws: PageError.self) { try machine.received(status: 302, location: nil) }
    #expect(error?.code == .status)
    #expect(error?.message.contains("302") == true)
  }

  @Test("303 turns POST into GET; 307 and 308 keep method and body at home and never elsewhere")
  func methods() throws {
    var seeOther = try machine(method: .post, body: true)
    let hop = try seeOther.received(status: 303, location: "/b")
    #expect(hop?.method == .get)
    #expect(hop?.keepsBody == false)
    var temporary = try machine(method: .post, body: true)
    let kept = try temporary.received(status: 307, location: "/b")
    #expect(kept?.method == .post)
    #expect(kept?.keepsBody == true)
    let error = #expect(throws: PageError.self) {
      try temporary.received(status: 308, location: "https://other.test/")
    }
    #expect(error?.code == .refusedLink)
  }

  @Test("301 and 302 drop no body: a GET without the filter of a POST lists something else")
  func keepsBodies() throws {
    for status in [301, 302] {
      var withBody = try machine(method: .post, body: true)
      let error = #expect(throws: PageError.self) {
        try withBody.received(status: status, location: "/b/")
      }
      #expect(error?.code == .refusedLink)
      #expect(error?.message.contains("without its body") == true)
      var plain = try machine(method: .post, body: false)
      #expect(try plain.received(status: status, location: "/b/")?.method == .get)
    }
  }
}
