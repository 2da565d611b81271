public import HTTPTypes

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
