import Foundation
import Quire
import QuireTesting
import TestSupport
import Testing

/// What a caller writes, with nothing imported but Quire and Foundation.
@Suite(.timeLimit(.minutes(15))) struct CallSiteTests {
  private struct Record: Decodable, Sendable { let id: Int }

  @Test("12-A8: a listing's address may be a URL, and a whole listing be collected from its cursor")
  func addressesAndCollection() async throws {
    let text = "https://h.test/a?x=%C3%A4"
    var first = ScriptedExchange(text, answerBody: #"[{"id":1}]"#)
    first.answer.headerFields[try #require(HTTPField.Name("Link"))] = "<?page=2>; rel=\"next\""
    let second = ScriptedExchange("https://h.test/a?page=2", answerBody: #"[{"id":2}]"#)
    let transport = ScriptedTransport([first, second])
    let cursor = PageClient(transport: transport).cursor(
      of: Record.self, at: try #require(URL(string: text)), pagination: .linkHeader)
    #expect(try await cursor.collect().map(\.id) == [1, 2])
    #expect(transport.unplayed.isEmpty)
  }

  @Test(
    "12-A8: fields are named in text, for a client and for a listing, and a logger needs no import")
  func namedFields() async throws {
    let server = try FaultServer { request in
      let names = ["X-Api-Key", "X-Tenant"].flatMap { request.values(of: $0) }
      return [.respond(#"["\#(names.joined(separator: "+"))"]"#)]
    }
    defer { server.stop() }
    var configuration = PageClient.Configuration()
    configuration.logger = Logger(label: "test")
    let client = PageClient(headers: ["X-Api-Key": "k"], configuration: configuration)
    let names = client.cursor(
      of: String.self, at: server.url(), pagination: .linkHeader,
      request: .init(headers: ["X-Tenant": "t"]))
    #expect(try await names.collect() == ["k+t"])
  }

  @Test("12-A8: a threshold of a literal needs no try, and one from outside the program throws")
  func thresholds() throws {
    let thresholds: [Threshold] = [.fraction(0.5), .remaining(items: 3), .remainingExtent(200)]
    #expect(try thresholds[0] == Threshold(fraction: 0.5))
    #expect(try thresholds[1] == Threshold(remaining: 3))
    #expect(try thresholds[2] == Threshold(remainingExtent: 200))
    #expect(throws: PageError.self) { try Threshold(fraction: 1.2) }
  }

  @Test("Parameters can be added while the program runs, and are encoded in a URL and in a form")
  func parameters() {
    var parameters: PageRequest.Parameters = ["q": "R&D", "tag": "a", "tag": "b"]
    parameters.append("user[name]", "Zoë +1")
    let encoded = "q=R%26D&tag=a&tag=b&user[name]=Zo%C3%AB%20%2B1"
    #expect(
      PageRequest(url: "https://h.test/a?tag=c&n=1#top", parameters: parameters).url
        == "https://h.test/a?n=1&" + encoded + "#top")
    #expect(PageRequest(url: "no URL", parameters: parameters).url == "no URL")
    #expect(PageRequest.Body.form(parameters) == .form(encoded))
    #expect(PageRequest.Body.form(["secret": "a+b/c=="]) == .form("secret=a%2Bb%2Fc%3D%3D"))
    let values = ["b": "2", "a": "1", "c": "3"]
    #expect(PageRequest.Parameters(values).pairs.map(\.name) == ["a", "b", "c"])
  }

  private struct Filter: Encodable { let state: String }
  private struct Unencodable: Encodable {
    func encode(to encoder: any Encoder) throws { throw CancellationError() }
  }

  @Test("A body can be the JSON of an Encodable value, and its errors are the encoder's")
  func encodedBodies() throws {
    #expect(try PageRequest.Body.json(encoding: Filter(state: "open")) == .json(["state": "open"]))
    #expect(throws: CancellationError.self) {
      try PageRequest.Body.json(encoding: Unencodable())
    }
  }
}
