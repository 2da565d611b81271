public import HTTPTypes
public import QuireHTTP
import QuirePagination

/// A transport that plays a script, and fails at the first request that differs from it by a byte.
///
/// ```swift
/// let transport = ScriptedTransport([
///   ScriptedExchange("https://api.test/items", answerBody: #"{"items":[1],"next":"a+b"}"#),
///   ScriptedExchange("https://api.test/items?cursor=a%2Bb", answerBody: #"{"items":[2]}"#),
/// ])
/// ```
/// After the walk, `unplayed` tells what was never asked for.
public final class ScriptedTransport: HTTPTransport {
  private let exchanges: [ScriptedExchange]
  private let played = Watched(0)

  /// A transport that answers these requests, in this order, once each.
  public init(_ exchanges: [ScriptedExchange]) { self.exchanges = exchanges }

  /// The exchanges that were not asked for yet.
  public var unplayed: ArraySlice<ScriptedExchange> { exchanges[played.value...] }

  /// Answers from the script; throws `ScriptMismatch` for a request that is not the next one in it.
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    let index = played.value
    guard exchanges.indices.contains(index) else {
      throw ScriptMismatch("The script has ended, and this came: \(Self.describe(request))")
    }
    let exchange = exchanges[index]
    try check(request, against: exchange)
    played.update { $0 += 1 }
    return TransportResponse(
      head: exchange.answer, body: .bytes(Array(exchange.answerBody.utf8)))
  }

  private func check(_ request: TransportRequest, against expected: ScriptedExchange) throws {
    try compare("method", request.head.method.rawValue, expected.method.rawValue, request)
    try compare("URL", request.url, expected.url, request)
    try compare("body", String(decoding: request.body, as: UTF8.self), expected.body, request)
    for field in expected.fields {
      let value = request.head.headerFields[field.name] ?? "no such field"
      try compare(field.name.rawName, value, field.value, request)
    }
    for name in expected.forbidden where request.head.headerFields[name] != nil {
      throw ScriptMismatch("The field \(name) must not be sent. \(Self.describe(request))")
    }
  }

  private func compare(
    _ part: String, _ value: String, _ expected: String, _ request: TransportRequest
  ) throws {
    guard Array(value.utf8) != Array(expected.utf8) else { return }
    throw ScriptMismatch(
      "Request \(played.value + 1), \(part): expected \(expected), came \(value). "
        + Self.describe(request))
  }

  private static func describe(_ request: TransportRequest) -> String {
    "\(request.head.method) \(request.url) \(String(decoding: request.body, as: UTF8.self))"
  }
}

/// One request that must come, and what answers it.
///
/// As text, one after the other:
/// ```
/// > GET https://api.test/items?cursor=a%2Bb
/// > Prefer: count=exact
/// > !Authorization
/// < 200
/// < Content-Type: application/json
/// {"items":[]}
/// ```
/// Lines with `>` are the request: its first line, fields it must have, fields it must not have, and
/// its body, a line that begins like JSON or XML or is a form (`name=…`). Lines with `<` are the answer's status and fields; its
/// body follows up to the next request.
public struct ScriptedExchange: Sendable {
  /// The method that must come.
  public var method: HTTPRequest.Method = .get
  /// The URL that must come, byte for byte.
  public var url: String
  /// Fields that must be there with these values, whatever others are.
  public var fields: HTTPFields = [:]
  /// Fields that must not be there.
  public var forbidden: [HTTPField.Name] = []
  /// The body that must come, byte for byte.
  public var body = ""
  /// Status and fields of the answer.
  public var answer = HTTPResponse(status: .ok)
  /// The answer's body.
  public var answerBody = ""

  /// A GET of `url`, answered by 200 and `answerBody`.
  public init(_ url: String, answerBody: String = "") {
    self.url = url
    self.answerBody = answerBody
  }

  /// Reads a script in the form above.
  ///
  /// Throws `ScriptMismatch` that quotes a line which is not in that form.
  public static func script(_ text: String) throws -> [ScriptedExchange] {
    var exchanges: [ScriptedExchange] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("> "), let request = requestLine(line.dropFirst(2)) {
        exchanges.append(request)
        continue
      }
      guard !exchanges.isEmpty else {
        if line.allSatisfy(\.isWhitespace) { continue }
        throw ScriptMismatch("A script begins with a request, and this one with: \(line)")
      }
      try exchanges[exchanges.count - 1].read(line)
    }
    for index in exchanges.indices {
      while exchanges[index].answerBody.last?.isNewline == true {
        exchanges[index].answerBody.removeLast()
      }
    }
    return exchanges
  }

  private static func requestLine(_ line: Substring) -> ScriptedExchange? {
    let words = line.split(separator: " ", maxSplits: 1)
    guard words.count == 2, words[1].hasPrefix("http"),
      let method = HTTPRequest.Method(rawValue: String(words[0]))
    else { return nil }
    var exchange = ScriptedExchange(String(words[1]))
    exchange.method = method
    return exchange
  }

  private mutating func read(_ line: Substring) throws {
    if line.hasPrefix("> ") {
      try readRequest(line.dropFirst(2))
    } else if line.hasPrefix("< ") {
      try readAnswer(line.dropFirst(2))
    } else {
      answerBody += answerBody.isEmpty ? line : "\n" + line
    }
  }

  private mutating func readRequest(_ line: Substring) throws {
    let isForm = line.firstIndex(of: "=").map { !line[..<$0].contains(":") } ?? false
    if isForm || ["{", "[", "<"].contains(where: line.hasPrefix) {
      body = String(line)
    } else if line.hasPrefix("!"), let name = HTTPField.Name(String(line.dropFirst())) {
      forbidden.append(name)
    } else {
      fields.append(try Self.field(line))
    }
  }

  private mutating func readAnswer(_ line: Substring) throws {
    if let status = Int(line) {
      answer.status = HTTPResponse.Status(code: status)
    } else {
      answer.headerFields.append(try Self.field(line))
    }
  }

  private static func field(_ line: Substring) throws -> HTTPField {
    guard let colon = line.firstIndex(of: ":"), let name = HTTPField.Name(String(line[..<colon]))
    else { throw ScriptMismatch("This line of a script is neither a field nor a body: \(line)") }
    let value = line[line.index(after: colon)...].drop { $0 == " " }
    return HTTPField(name: name, value: String(value))
  }
}

/// What a scripted transport throws when a request is not the one in its script.
public struct ScriptMismatch: Error, CustomStringConvertible {
  /// What was expected and what came.
  public let description: String

  init(_ description: String) { self.description = description }
}
