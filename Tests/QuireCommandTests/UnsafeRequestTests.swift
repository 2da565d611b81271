import TestSupport
import Testing

@testable import QuireCommand

@Suite("Requests of the command line that are not safe to repeat", .timeLimit(.minutes(15)))
struct UnsafeRequestTests {
  @Test(
    "12-S1, N9: a page asked for by POST is on the wire once when its kept connection dies, retries or not",
    arguments: ["0", "2"], [FaultStep.reset, .finish])
  func once(retries: String, death: FaultStep) async throws {
    let server = try FaultServer { request in
      String(decoding: request.body, as: UTF8.self).contains("\"b\"")
        ? [death] : [.respond("{\"items\": [1], \"next\": \"b\"}")]
    }
    defer { server.stop() }
    let ending = try await Command.quire([
      "export", server.url(), "--data", "{\"size\": 1}", "--next",
      "body:/next", "--send", "body:/cursor", "--items", "/items", "--retries", retries,
    ])
    #expect(ending.status != 0, "\(ending.errors)")
    #expect(ending.lines == ["1"])
    #expect(server.requests.map(\.method) == ["POST", "POST"])
    // Both went over the connection that was kept.
    #expect(server.connections == 1)
    #expect(ending.errors.contains("may have acted on it"), "\(ending.errors)")
  }
}
