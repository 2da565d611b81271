import FoundationEssentials
import Quire
import TestSupport
import Testing

/// What a user of the face gets without naming a decoder.
@Suite("Formats, by the face", .timeLimit(.minutes(1)))
struct FaceFormatTests {
  struct Record: Decodable, Sendable, Equatable {
    var id: Int
    var name: String
    var when: Date?
  }

  private let pagination = Pagination(
    next: .body("/next | //next"), send: .query("at"), items: "/records | /list/record")

  /// A listing whose first page is XML and whose second is JSON.
  private func listing() throws -> FaultServer {
    try FaultServer { request in
      request.target == "/"
        ? [
          .respond(
            "<list><record id='1'><name>a</name></record><next>2</next></list>",
            headers: [("Content-Type", "application/xml")])
        ]
        : [.respond("{\"records\":[{\"id\":2,\"name\":\"b\"}]}")]
    }
  }

  private func all<Item>(_ cursor: Cursor<Item>) async throws -> [Item] {
    var items: [Item] = []
    for try await item in cursor.items { items.append(item) }
    return items
  }

  @Test("D-1: one type and one description read pages of JSON and of XML in one walk")
  func typed() async throws {
    let server = try listing()
    defer { server.stop() }
    let cursor = PageClient().cursor(of: Record.self, at: server.url(), pagination: pagination)
    #expect(try await all(cursor) == [Record(id: 1, name: "a"), Record(id: 2, name: "b")])
    #expect(server.requests.map(\.target) == ["/", "/?at=2"])
  }

  @Test("D-2: raw items come as JSON, whatever the pages are")
  func raw() async throws {
    let server = try listing()
    defer { server.stop() }
    let cursor = PageClient().cursor(of: RawItem.self, at: server.url(), pagination: pagination)
    #expect(
      try await all(cursor).map(\.description) == [
        #"{"@id":"1","name":"a"}"#, #"{"id":2,"name":"b"}"#,
      ])
  }

  @Test("The caller's own decoders are used: options for XML, a JSONDecoder for JSON")
  func options() async throws {
    let server = try FaultServer { request in
      request.target == "/"
        ? [
          .respond(
            """
            <list><record><Id>1</Id><Name>a</Name><When>60</When></record><next>2</next></list>
            """)
        ]
        : [.respond("{\"records\":[{\"id\":2,\"name\":\"b\",\"when\":60}]}")]
    }
    defer { server.stop() }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .secondsSince1970
    let cursor = PageClient().cursor(
      of: Record.self, at: server.url(), pagination: pagination, decoder: decoder,
      xml: XMLDecodingOptions(keys: .capitalized, dates: .secondsSince1970))
    let when = Date(timeIntervalSince1970: 60)
    #expect(
      try await all(cursor) == [
        Record(id: 1, name: "a", when: when), Record(id: 2, name: "b", when: when),
      ])
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
      FailureRule(
        when: .value("/Error/Code", .equals("Stale")), .expired, message: "/Error/Message")
    ]
    let cursor = PageClient().cursor(of: Record.self, at: server.url(), pagination: pagination)
    let error = await #expect(throws: PageError.self) { try await all(cursor) }
    #expect(error?.code == .cursorExpired)
    #expect(error?.message.contains("Gone by.") == true)
  }
}
