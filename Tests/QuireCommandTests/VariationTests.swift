import Foundation
import HTTPTypes
import QuireTesting
import Synchronization
import TestSupport
import Testing

/// Listings that differ from the transcripts of `Tests/Fixtures/vectors`, played by the tool against
/// a server on this machine.
@Suite("quire export, one listing of each family and more", .timeLimit(.minutes(15)))
struct VariationTests {
  @Test(
    "Each request goes over the wire as it should, and each item comes out",
    arguments: try Variation.all())
  func plays(_ variation: Variation) async throws {
    let script = VariationScript(variation)
    let server = try FaultServer { script.answer($0) }
    defer { server.stop() }
    let url = Variation.placed(variation.url, at: server.url(""))
    let ending = try await Command.quire(
      ["export", url] + variation.arguments,
      environment: ["AWS_ACCESS_KEY_ID": "AKID", "AWS_SECRET_ACCESS_KEY": "secret22"])
    #expect(script.complaints == [])
    #expect(ending.lines == variation.lines)
    if let error = variation.error {
      #expect(ending.status != 0)
      #expect(ending.errors.contains(error), "\(ending.errors)")
    } else {
      #expect(ending.status == 0, "\(ending.errors)")
    }
    #expect(!ending.errors.contains("secret22"))
  }
}

/// One listing: how the tool is asked for it, what passes over the wire, and what comes out.
///
/// ```
/// # what it shows
/// quire --preset slack --items /channels     its arguments, without blanks inside
/// > GET https://origin/…                     exchanges, as `ScriptedExchange` reads them
/// = sent https://…                           what the first request really is
/// = {"id":1}                                 a line of output
/// = error …                                  what stderr has; without it, a success
/// ```
struct Variation: Sendable, CustomTestStringConvertible {
  var title: String
  var arguments: [String] = []
  var exchanges: [ScriptedExchange] = []
  /// The URL that the tool is given.
  var url: String
  var lines: [String] = []
  var error: String?

  var testDescription: String { title }

  static func all() throws -> [Variation] {
    try Fixtures.names(in: "variations").flatMap { name in
      let text = String(decoding: try Fixtures.bytes("variations/\(name)"), as: UTF8.self)
      return try text.split(separator: "\n# ").map {
        try Variation($0.hasPrefix("# ") ? $0.dropFirst(2) : $0)
      }
    }
  }

  private init(_ text: Substring) throws {
    var lines = text.split(separator: "\n")[...]
    title = String(lines.removeFirst())
    arguments = lines.removeFirst().split(separator: " ").dropFirst().map(String.init)
    var script = ""
    var sent: String?
    for line in lines {
      switch line {
      case let line where line.hasPrefix("= sent "): sent = String(line.dropFirst(7))
      case let line where line.hasPrefix("= error "): error = String(line.dropFirst(8))
      case let line where line.hasPrefix("= "): self.lines.append(String(line.dropFirst(2)))
      default: script += line + "\n"
      }
    }
    exchanges = try ScriptedExchange.script(script)
    // Before the first page, a point in time is opened.
    url = exchanges[exchanges[0].url.contains("/_pit?") ? 1 : 0].url
    if let sent { exchanges[0].url = sent }
  }

  /// A text in which `https://origin` is where the server really is.
  static func placed(_ text: String, at origin: String) -> String {
    text.replacingOccurrences(of: "https://origin", with: origin)
  }
}

/// Answers the requests of a script in their order, and complains about every other one.
private final class VariationScript: Sendable {
  private struct State {
    var left: ArraySlice<ScriptedExchange>
    var complaints: [String] = []
  }

  private let state: Mutex<State>
  private let isSigned: Bool

  init(_ variation: Variation) {
    state = Mutex(State(left: variation.exchanges[...]))
    isSigned = variation.arguments.contains("--sign")
  }

  /// What was asked for and should not have been, and what should have been and was not.
  var complaints: [String] {
    state.withLock { $0.complaints + $0.left.map { "not asked for: \($0.url)" } }
  }

  func answer(_ request: ReceivedRequest) -> [FaultStep] {
    let origin = "http://" + (request.values(of: "Host").first ?? "")
    return state.withLock { state in
      guard let exchange = state.left.popFirst() else {
        state.complaints.append("one request too many: \(request.method) \(request.target)")
        return [.respond("", status: "500 Unexpected")]
      }
      state.complaints += complaints(about: request, as: exchange, origin)
      let fields = exchange.answer.headerFields.map {
        ($0.name.rawName, Variation.placed($0.value, at: origin))
      }
      return [
        .respond(
          Self.body(Variation.placed(exchange.answerBody, at: origin)),
          status: "\(exchange.answer.status.code) Said", headers: fields)
      ]
    }
  }

  private func complaints(
    about request: ReceivedRequest, as exchange: ScriptedExchange, _ origin: String
  ) -> [String] {
    var complaints: [String] = []
    func expect(_ value: String, _ wanted: String) {
      if value != wanted { complaints.append("\(value), where it should be \(wanted)") }
    }
    expect(request.method, exchange.method.rawValue)
    expect(origin + request.target, Variation.placed(exchange.url, at: origin))
    for field in exchange.fields {
      expect(request.values(of: field.name.rawName).joined(separator: " | "), field.value)
    }
    expect(String(decoding: request.body, as: UTF8.self), exchange.body)
    if isSigned {
      let signature = request.values(of: "Authorization").first ?? "no signature"
      if !signature.hasPrefix("AWS4-HMAC-SHA256 Credential=AKID/") { complaints.append(signature) }
    }
    return complaints
  }

  private static func body(_ text: String) -> [UInt8] {
    guard text.hasPrefix("base64:"), let data = Data(base64Encoded: String(text.dropFirst(7)))
    else { return Array(text.utf8) }
    return Array(data)
  }
}
