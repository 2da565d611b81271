import TestSupport
import HTTPTypes
import QuireCore
import QuireTesting
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

@Suite("A closure for the next page")
struct CustomNextTests {
  private func places(_ transport: some HTTPTransport) -> Cursor<Int> {
    PageClient(transport: transport, headers: [.authorization: "Bearer s3cret"]).cursor(
      of: Int.self, at: "https://n.test/search?q=x", items: "/places"
    ) { page in
      guard page.itemCount > 0, case .array(let new)? = try page.document.value(at: "/places")
      else { return nil }
      let old = page.state.string.map { $0 + "," } ?? ""
      let seen = old + new.map(\.plainText).joined(separator: ",")
      return NextPage(
        PageRequest(url: "/search?q=x&exclude_place_ids=\(seen)"), state: .string(seen))
    }
  }

  private let script = [
    ScriptedExchange("https://n.test/search?q=x", answerBody: #"{"places":[1,2]}"#),
    ScriptedExchange(
      "https://n.test/search?q=x&exclude_place_ids=1,2", answerBody: #"{"places":[3]}"#),
    ScriptedExchange(
      "https://n.test/search?q=x&exclude_place_ids=1,2,3", answerBody: #"{"places":[]}"#),
  ]

  @Test("A cursor that grows with all that was seen (Nominatim) is a closure's, and resumes")
  func accumulates() async throws {
    var items: [Int] = []
    for try await page in places(ScriptedTransport(script)) { items += page.items }
    #expect(items == [1, 2, 3])
    var next: Position?
    for try await page in places(ScriptedTransport(script)) {
      next = page.next
      break
    }
    let rest = ScriptedTransport(Array(script.dropFirst()))
    items = []
    for try await page in places(rest).resuming(from: try #require(next)) { items += page.items }
    #expect(items == [3])
    #expect(rest.unplayed.isEmpty)
  }

  @Test("T11, T29: a closure's requests have the caller's key, and no secret elsewhere")
  func keys() async throws {
    let (key, session) = (HTTPField.Name("X-Api-Key")!, HTTPField.Name("X-Session")!)
    let server = CannedServer([.json("[1]"), .json("[2]"), .json("[3]")])
    let cursor = PageClient(transport: server).cursor(
      of: Int.self, at: "https://n.test/1", items: "",
      policy: Pagination.Policy(links: .allow(["other.test"])),
      request: PageClient.RequestOptions(headers: [key: "s3cret-key"])
    ) { page in
      if page.url.hasSuffix("/3") { return nil }
      let link = page.url.hasSuffix("/1") ? "/2" : "https://other.test/3"
      return NextPage(PageRequest(url: link, headerFields: [key: "another", session: "opened"]))
    }
    for try await _ in cursor {}
    let sent = server.requests.map(\.head.headerFields)
    #expect(sent.map { $0[key] } == ["s3cret-key", "s3cret-key", nil])
    #expect(sent.map { $0[session] } == [nil, "opened", nil])
  }

  @Test("T11: a closure's link is subject to the policy, and what it throws follows the page")
  func failures() async throws {
    let client = PageClient(transport: CannedServer([.json("[1]")]))
    for message in ["link", "error"] {
      var pages = 0
      let cursor = client.cursor(of: Int.self, at: "https://n.test/", items: "") { _ in
        guard message == "link" else { throw PageError(.shape, "no") }
        return NextPage(PageRequest(url: "https://evil.test/"))
      }
      let error = await #expect(throws: PageError.self) {
        for try await _ in cursor { pages += 1 }
      }
      #expect(pages == 1)
      #expect(error?.code == (message == "link" ? .crossOriginLink : .shape))
    }
  }

  @Test("T11: what a closure throws that is no PageError is sourceFailed, and kept as underlying")
  func foreignFailure() async throws {
    struct Missing: Error {}
    let client = PageClient(transport: CannedServer([.json("[1]")]))
    let cursor = client.cursor(of: Int.self, at: "https://n.test/", items: "") { _ in
      throw Missing()
    }
    let error = await #expect(throws: PageError.self) { try await cursor.collect() }
    #expect(error?.code == .sourceFailed)
    #expect(error?.underlying is Missing)
    #expect(error?.message.contains("closure") == true)
  }
}
