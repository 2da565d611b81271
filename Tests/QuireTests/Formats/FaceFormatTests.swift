import FoundationEssentials
import Quire
import TestSupport
import Testing

/// What a user of the face gets without naming a decoder.
@Suite("Formats, by the face", .timeLimit(.minutes(15)))
struct FaceFormatTests {
  struct Record: Decodable, Sendable, Equatable {
    var id: Int
    var name: String
    var when: Date?
  }

  private let pagination = Pagination(
    next: .body("/next | //next"), send: .query("at"), items: "/records | /list/record")

  /// A listing of two pages, in XML or in JSON.
  private func listing(_ isXML: Bool) throws -> FaultServer {
    try FaultServer { request in
      let isFirst = request.target == "/"
      let (id, name) = isFirst ? (1, "a") : (2, "b")
      return isXML
        ? [
          .respond(
            "<list><record id='\(id)'><name>\(name)</name></record>"
              + (isFirst ? "<next>2</next></list>" : "</list>"),
            headers: [("Content-Type", "application/xml")])
        ]
        : [
          .respond(
            "{\"records\":[{\"id\":\(id),\"name\":\"\(name)\"}]\(isFirst ? ",\"next\":2" : "")}")
        ]
    }
  }

  private func all<Item>(_ cursor: Cursor<Item>) async throws -> [Item] {
    var items: [Item] = []
    for try await item in cursor.items { items.append(item) }
    return items
  }

  @Test(
    "D-1: one type and one description read a listing in JSON and in XML", arguments: [true, false])
  func typed(isXML: Bool) async throws {
    let server = try listing(isXML)
    defer { server.stop() }
    let cursor = PageClient().cursor(of: Record.self, at: server.url(), pagination: pagination)
    #expect(try await all(cursor) == [Record(id: 1, name: "a"), Record(id: 2, name: "b")])
    #expect(server.requests.map(\.target) == ["/", "/?at=2"])
  }

  @Test("D-2: raw items come as JSON, whatever the pages are")
  func raw() async throws {
    for (isXML, id) in [(true, #""@id":"1""#), (false, #""id":1"#)] {
      let server = try listing(isXML)
      defer { server.stop() }
      let cursor = PageClient().cursor(of: RawItem.self, at: server.url(), pagination: pagination)
      #expect(try await all(cursor).first?.description == "{\(id),\"name\":\"a\"}")
    }
  }

  @Test("12-L2: the format of the first page binds the later ones, without a decoder being named")
  func bound() async throws {
    let server = try FaultServer { request in
      request.target == "/"
        ? [.respond("{\"records\":[{\"id\":1,\"name\":\"a\"}],\"next\":2}")]
        : [.respond("<Error><Code>SlowDown</Code></Error>")]
    }
    defer { server.stop() }
    var names: [String] = []
    let error = await #expect(throws: PageError.self) {
      let cursor = PageClient().cursor(of: Record.self, at: server.url(), pagination: pagination)
      for try await record in cursor.items { names.append(record.name) }
    }
    #expect(names == ["a"])
    #expect(error?.code == .unexpectedMediaType)
  }

  @Test("The caller's own decoders are used: options for XML, a JSONDecoder for JSON")
  func options() async throws {
    let pages = [
      "<list><record><Id>1</Id><Name>a</Name><When>60</When></record></list>",
      "{\"records\":[{\"id\":1,\"name\":\"a\",\"when\":60}]}",
    ]
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    for page in pages {
      let server = try FaultServer { _ in [.respond(page)] }
      defer { server.stop() }
      let cursor = PageClient().cursor(
        of: Record.self, at: server.url(), pagination: pagination, decoder: decoder,
        xml: XMLDecodingOptions(keys: .capitalized, dates: .secondsSince1970))
      let when = Date(timeIntervalSince1970: 60)
      #expect(try await all(cursor) == [Record(id: 1, name: "a", when: when)])
    }
  }

  @Test("N25: HTML for a page is an error that says so, typed and raw")
  func html() async throws {
    let server = try FaultServer { _ in
      [.respond("<!doctype html><p>Sign in", headers: [("Content-Type", "text/html")])]
    }
    defer { server.stop() }
    let client = PageClient()
    let typed = await #expect(throws: PageError.self) {
      try await all(client.cursor(of: Record.self, at: server.url(), pagination: pagination))
    }
    let raw = await #expect(throws: PageError.self) {
      try await all(client.cursor(of: RawItem.self, at: server.url(), pagination: pagination))
    }
    for error in [typed, raw] {
      #expect(error?.code == .unexpectedMediaType)
      #expect(error?.message.contains("HTML") == true)
    }
  }

  @Test("H-7: an error's body in XML is read by the description, behind any status")
  func failures() async throws {
    let server = try FaultServer { request in
      request.target == "/"
        ? [.respond("<list><record id='1'><name>a</name></record><next>2</next></list>")]
        : [
          .respond(
            "<?xml version='1.0'?><Error><Code>Stale</Code><Message>Gone by.</Message></Error>",
            status: "400 Bad Request", headers: [("Content-Type", "application/xml")])
        ]
    }
    defer { server.stop() }
    var pagination = pagination
    pagination.policy.failure = [
      Pagination.FailureRule(
        when: .value("/Error/Code", .equals("Stale")), .expired, message: "/Error/Message")
    ]
    let cursor = PageClient().cursor(of: Record.self, at: server.url(), pagination: pagination)
    let error = await #expect(throws: PageError.self) { try await all(cursor) }
    #expect(error?.code == .cursorExpired)
    #expect(error?.message.contains("Gone by.") == true)
  }
}
