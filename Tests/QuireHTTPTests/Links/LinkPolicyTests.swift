import FoundationEssentials
@testable import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("Link policies")
struct LinkPolicyTests {
  private let home = "https://api.test"

  private func target(_ link: String, _ policy: LinkPolicy, home: String? = nil) throws -> String {
    let origin = try Origin(url: home ?? self.home)
    let base = try URLReference(origin.description + "/items/")
    return try policy.target(of: URLReference(link).resolved(against: base), home: origin).text
  }

  private func code(_ link: String, _ policy: LinkPolicy, home: String? = nil) -> PageError.Code? {
    do {
      _ = try target(link, policy, home: home)
      return nil
    } catch {
      return (error as? PageError)?.code
    }
  }

  @Test("H-3, R5: a link to another scheme, host or port is refused by default")
  func sameOrigin() throws {
    #expect(try target("https://api.test/p?c=%2B", .sameOrigin) == "https://api.test/p?c=%2B")
    #expect(try target("https://API.test:443/p", .sameOrigin) == "https://API.test:443/p")
    for link in [
      "https://other.test/p", "https://api.test:8443/p", "http://api.test/p", "//other.test/p",
      "https://api.test.evil.test/p",
    ] {
      #expect(code(link, .sameOrigin) == .crossOriginLink, "\(link)")
    }
  }

  @Test("T11, V68: rebase keeps our scheme and authority and takes the server's path and query")
  func rebase() throws {
    #expect(
      try target("http://10.0.0.5:8000/items/?page=2", .rebase) == "https://api.test/items/?page=2")
  }

  @Test("V102: an http link on an https API is upgraded or refused, never sent in the clear")
  func upgrade() throws {
    #expect(try target("http://api.test/p?x='|", .upgradeScheme) == "https://api.test/p?x='|")
    #expect(code("http://api.test/p", .allow(["api.test"])) == .refusedLink)
    #expect(code("http://api.test/p", .sameOrigin) == .crossOriginLink)
    #expect(code("http://other.test/p", .upgradeScheme) == .crossOriginLink)
  }

  @Test("What the error advises works, for a link to another port as well")
  func advice() throws {
    for (link, host) in [("https://b.test:8443/p", "b.test:8443"), ("https://b.test/p", "b.test")] {
      let error = #expect(throws: PageError.self) { try target(link, .sameOrigin) }
      #expect(error?.description.contains(#"allow(["\#(host)"])"#) == true)
      #expect(try target(link, .allow([host])) == link)
    }
  }

  @Test("H-3: allow follows to the named hosts and to no other")
  func allow() throws {
    let policy = LinkPolicy.allow(["cdn.test", "b.test:8443"])
    #expect(try target("https://cdn.test/p", policy) == "https://cdn.test/p")
    #expect(try target("https://b.test:8443/p", policy) == "https://b.test:8443/p")
    for link in ["https://cdn.test:444/p", "https://b.test/p", "https://x.cdn.test/p"] {
      #expect(code(link, policy) == .crossOriginLink, "\(link)")
    }
  }

  @Test(
    "R3, R6, R7: other schemes, user information and empty hosts are refused under every policy",
    arguments: [
      "javascript:alert(1)", "data:text/plain,x", "file:///etc/passwd", "ftp://api.test/x",
      "https://user:pass@api.test/", "https://api.test@evil.test/", "https://api.test:pw@evil.test",
      "///x", "https:///x", "https://api.test:0/", "https://api.test:99999/",
      "https://api.test:8a/",
      "https://①②⑦.⓪.⓪.①/", "https://127。0。0。1/",
    ],
    [LinkPolicy.sameOrigin, .rebase, .upgradeScheme, .allow(["api.test", "evil.test"])])
  func refused(link: String, policy: LinkPolicy) {
    #expect(code(link, policy) == .refusedLink)
  }

  @Test("A policy is readable JSON and comes back equal; an unknown one says what was expected")
  func codable() throws {
    let policies: [(LinkPolicy, String)] = [
      (.sameOrigin, #""sameOrigin""#), (.rebase, #""rebase""#),
      (.upgradeScheme, #""upgradeScheme""#), (.allow(["a", "b:1"]), #"{"allow":["a","b:1"]}"#),
    ]
    for (policy, text) in policies {
      #expect(LinkPolicy.grammar.write(policy).description == text)
      #expect(try LinkPolicy.grammar.read(JSONValue(parsing: text)) == policy)
    }
    let error = #expect(throws: FormFailure.self) { try LinkPolicy.grammar.read("anywhere") }
    #expect("\(error, default: "")".contains("upgradeScheme"))
  }
}
