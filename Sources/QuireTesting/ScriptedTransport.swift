public import HTTPTypes
public import QuireHTTP
import QuirePagination

/// A transport that plays a script, and throws for the first request that differs from it by a
/// byte.
///
/// ```swift
/// let transport = ScriptedTransport([
///   ScriptedExchange("https://api.test/items", answerBody: #"{"items":[1],"next":"a+b"}"#),
///   ScriptedExchange("https://api.test/items?cursor=a%2Bb", answerBody: #"{"items":[2]}"#),
/// ])
/// ```
/// After the walk, `unplayed` has the requests that never came.
public final class ScriptedTransport: HTTPTransport {
  private let exchanges: [ScriptedExchange]
  private let played = Watched(0)

  /// Creates a transport that answers these requests in order, each once.
  public init(_ exchanges: [ScriptedExchange]) { self.exchanges = exchanges }

  /// The exchanges that have not been played.
  public var unplayed: ArraySlice<ScriptedExchange> { exchanges[played.value...] }

  /// Answers from the script; throws `ScriptMismatch` for a request that is not the next one in it.
  public func send(_ request: TransportRequest) async throws -> TransportResponse {
    try Task.checkCancellation()
    // In one step: requests may come at the same time.
    let exchange = try played.update { [exchanges] index in
      Result {
        guard exchanges.indices.contains(index) else {
          throw ScriptMismatch("The script has ended, and this came: \(Self.describe(request))")
        }
        try Self.check(request, against: exchanges[index], number: index + 1)
        defer { index += 1 }
        return exchanges[index]
      }
    }.get()
    return TransportResponse(
      head: exchange.answer, body: .bytes(Array(exchange.answerBody.utf8)))
  }

  private static func check(
    _ request: TransportRequest, against expected: ScriptedExchange, number: Int
  ) throws {
    func compare(_ part: String, _ value: String, _ expected: String) throws {
      guard Array(value.utf8) != Array(expected.utf8) else { return }
      throw ScriptMismatch(
        "Request \(number), \(part): expected \(expected), came \(value). \(describe(request))")
    }
    try compare("method", request.head.method.rawValue, expected.method.rawValue)
    try compare("URL", request.url, expected.url)
    try compare("body", String(decoding: request.body, as: UTF8.self), expected.body)
    for field in expected.fields {
      let value = request.head.headerFields[field.name] ?? "no such field"
      try compare(field.name.rawName, value, field.value)
    }
    for name in expected.forbidden where request.head.headerFields[name] != nil {
      throw ScriptMismatch("The field \(name) must not be sent. \(describe(request))")
    }
  }

  private static func describe(_ request: TransportRequest) -> String {
    "\(request.head.method) \(request.url) \(String(decoding: request.body, as: UTF8.self))"
  }
}

/// An expected request and its answer.
///
/// A script is a text of exchanges:
/// ```
/// > GET https://api.test/items?cursor=a%2Bb
/// > Prefer: count=exact
/// > !Authorization
/// < 200
/// < Content-Type: application/json
/// {"items":[]}
/// ```
/// Lines with `>` are the request: its first line, required fields, forbidden fields (`!`), and its
/// body, a line that begins like JSON or XML or is a form (`name=…`). Lines with `<` are the status
/// and the fields of the answer, whose body follows up to the next request.
public struct ScriptedExchange: Sendable {
  /// The expected method.
  public var method: HTTPRequest.Method = .get
  /// The expected URL, byte for byte.
  public var url: String
  /// Required fields with their values; other fields are allowed unless forbidden.
  public var fields: HTTPFields = [:]
  /// The fields that the request must not have.
  public var forbidden: [HTTPField.Name] = []
  /// The expected body, byte for byte.
  public var body = ""
  /// The status and the header fields of the answer.
  public var answer = HTTPResponse(status: .ok)
  /// The answer's body.
  public var answerBody = ""

  /// Creates an exchange: a GET of `url`, answered with 200 and `answerBody`.
  public init(_ url: String, answerBody: String = "") {
    self.url = url
    self.answerBody = answerBody
  }

  /// Parses a script.
  ///
  /// Throws `ScriptMismatch` that quotes an invalid line.
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

/// The error of a scripted transport for an unexpected request.
public struct ScriptMismatch: Error, CustomStringConvertible {
  /// The expected request and the actual one.
  public let description: String

  init(_ description: String) { self.description = description }
}
