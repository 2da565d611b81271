import HTTPTypes
public import QuireHTTP

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
