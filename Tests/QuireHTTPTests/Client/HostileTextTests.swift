import TestSupport
import HTTPTypes
import QuireCore
import Testing

@testable import QuireDetect
@testable import QuireHTTP
@testable import QuireJSON
@testable import QuirePagination

/// Plays text that a terminal would obey through every place where a server can put one.
@Suite("Hostile text of a server", .timeLimit(.minutes(15)))
struct HostileTextTests {
  private static let hostile = [
    "\u{1B}[2Jx", "x\nquire: exhausted: 1 page", "x\r\ny", "\u{9B}31m", "a\u{202E}b\u{2066}c",
    "\u{200B}\u{FEFF}z", "\u{2028}w", String(repeating: "\u{1B}", count: 4_000),
  ]

  private static func answers(_ text: String) -> [TransportResponse] {
    let json = JSONValue.string(text).description
    var phrase = HTTPResponse(status: .init(code: 404, reasonPhrase: "Not"))
    phrase.status = .init(
      code: 404,
      reasonPhrase: String(
        text.unicodeScalars.filter { $0 != "\n" && $0 != "\r" }.map(Character.init)))
    return [
      .status(400, [:], text), .status(400, [:], "{\"message\": \(json)}"),
      .json("{\(json): [1]}"), .json("{\(json): {\(json): [1]}}"), .json("{\"items\": \(json)}"),
      .json("{\"items\": {\(json): 3, \(json): 4}}"),
      .json("{\"items\": [{\(json): \(json)}, {\"n\": \(json)}]}"),
      .json("{\"items\": [], \"next\": \(json)}"),
      .json("{\"items\": [], \"next\": {\"href\": \(json)}}"),
      .json("{\"items\": [], \"next\": \(JSONValue.string("https://h.test/" + text))}"),
      .json("{\"items\": [], \"next\": {\"href\": \"/x\", \"method\": \(json)}}"),
      .json("{\"ok\": false, \"why\": \(json), \"items\": []}"),
      .status(
        200, ["Content-Type": "text/html; \(text.filter(\.isASCII).filter { $0 >= " " })"],
        "<html>" + text),
      .status(200, [:], text), .status(302, ["Location": "/" + text.filter { $0 >= " " }]),
      TransportResponse(head: phrase, framing: .explicit, body: .bytes([])),
    ]
  }

  @Test(
    "12-S2, L2: nothing that a terminal obeys, hides or reorders by is in an error, log or report",
    arguments: hostile)
  func places(_ text: String) async throws {
    for send in [Pagination.Placement.url, .query("c"), .request, .header("X-Cursor")] {
      for badItems in [BadItemPolicy.throw, .collect] {
        for (number, answer) in Self.answers(text).enumerated() {
          let shown = try await walk(answer, send, badItems)
          for line in shown {
            let escaped = isPlain(line)
            #expect(escaped, "\(send), answer \(number): \(line.debugDescription)")
            #expect(line.utf8.count < 2_000, "\(send), answer \(number): \(line)")
          }
        }
      }
    }
  }

  private struct Item: Decodable, Sendable { let n: Int }

  private func walk(
    _ answer: TransportResponse, _ send: Pagination.Placement, _ badItems: BadItemPolicy
  ) async throws -> [String] {
    let log = CapturedLog()
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configuration.logger = log.logger
    configuration.badItems = badItems
    let client = PageClient(transport: CannedServer([answer]), configuration: configuration)
    let pagination = Pagination(
      next: .body("/next"), send: send, items: "/items",
      policy: Pagination.Policy(failure: [
        Pagination.FailureRule(when: .value("/ok", .equals(false)), message: "/why")
      ]))
    let walk = client.cursor(of: Item.self, at: "https://h.test/items", pagination: pagination)
      .walk()
    var shown: [String] = []
    do {
      for _ in 0..<2 {
        guard let page = try await walk.next() else { break }
        shown += page.badItems.flatMap { [$0.path, $0.message] } + page.warnings.map(\.description)
        shown.append(page.http?.request ?? "")
      }
    } catch let error as PageError {
      shown += ["\(error)", error.message, error.request ?? ""]
      shown.append(
        error.underlying is HTTPFailure ? "\(error.underlying.map { "\($0)" } ?? "")" : "")
    }
    shown.append("\(walk.report)")
    return shown + log.text.split(separator: "\n").map(String.init)
  }

  @Test("12-S2: what detection says of a page is escaped, and what it advises can be copied")
  func detection() async throws {
    for text in Self.hostile {
      let json = JSONValue.string(text).description
      let server = CannedServer([
        .json("{\(json): [{\"id\": 1}, {\"id\": 2}], \"next_cursor\": \"a\", \"has_more\": true}")
      ])
      let detection = try await PageClient(transport: server).detect(
        at: "https://h.test/x", checks: 1, decoder: JSONRawPageDecoder())
      let words =
        detection.observations
        + detection.candidates.flatMap { candidate in
          candidate.evidence + candidate.doubts
            + [candidate.swift, candidate.check?.explanation ?? "", candidate.check?.request ?? ""]
        }
      for line in words {
        #expect(isPlain(line), "\(line.debugDescription)")
      }
    }
  }

  @Test(
    "12-S2: advice to copy a path is given only where no quotes of a shell or of Swift break it")
  func advice() {
    #expect(Remedy.items(at: ["/a b"])?.description == "Use .items(at: \"/a b\").")
    for path in ["/x'; rm -rf ~ #", "/\"", "/`id`", "/$(id)", "/\\", "/\u{202E}"] {
      #expect(Remedy.items(at: [path]) == nil)
    }
  }
}

/// Whether nothing in a text is obeyed or hidden by a terminal.
private func isPlain(_ text: some StringProtocol) -> Bool {
  text.unicodeScalars.allSatisfy { $0.isPlain }
}
