import FlyingFox
import FlyingSocks
import Foundation

/// The demo API on loopback: one path for each row of `DemoStyle.all`.
enum DemoServer {
  /// Serves on 127.0.0.1 while `body` runs, which gets the API's origin.
  ///
  /// Port 0 means any free port. Throws `DemoServerError` if the server cannot listen on the port.
  static func whileServing<Result: Sendable>(
    port: UInt16, _ body: @escaping @Sendable (_ origin: String) async throws -> Result
  ) async throws -> Result {
    let server = HTTPServer(
      address: try .inet(ip4: "127.0.0.1", port: port),
      pool: PromptSocketPool(base: HTTPServer.defaultPool()), logger: .disabled, handler: Router())
    return try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await server.run() }
      group.addTask { try await server.waitUntilListening() }
      do {
        try await group.next()
      } catch let error where !(error is CancellationError) {
        throw DemoServerError(port: port, underlying: error)
      }
      guard case .ip4(_, let port)? = await server.listeningAddress else {
        throw DemoServerError(port: port, underlying: nil)
      }
      let result = try await body("http://127.0.0.1:\(port)")
      group.cancelAll()
      while await group.nextResult() != nil {}
      return result
    }
  }

  /// Returns the answer to a request, independent of the server that received it.
  static func answer(_ request: DemoRequest) -> DemoAnswer {
    guard let style = DemoStyle.all.first(where: { $0.path == request.path }) else {
      return index(status: request.path == "/" ? 200 : 404)
    }
    do {
      return try style.answer(request)
    } catch {
      let message = (error as? DemoFailure)?.message ?? "The demo API failed."
      return DemoAnswer(status: 400, body: "{\"error\": \"\(message)\"}")
    }
  }

  private static func index(status: Int) -> DemoAnswer {
    let rows = DemoStyle.all.map { "\"\($0.path)\"" }.joined(separator: ", ")
    return DemoAnswer(
      status: status, body: "{\"records\": \(DemoRecords.count), \"styles\": [\(rows)]}")
  }

  private struct Router: HTTPHandler {
    func handleRequest(_ request: HTTPRequest) async throws -> HTTPResponse {
      let asked = DemoRequest(
        origin: "http://" + (request.headers[.host] ?? "127.0.0.1"),
        path: request.target.path(),
        query: DemoRequest.parameters(request.target.query()),
        body: try await request.bodyData)
      let answer = DemoServer.answer(asked)
      var headers: HTTPHeaders = [.contentType: answer.mediaType]
      for header in answer.headers { headers.addValue(header.value, for: HTTPHeader(header.name)) }
      return HTTPResponse(
        statusCode: HTTPStatusCode(answer.status, phrase: phrase(answer.status)), headers: headers,
        body: Data(answer.body.utf8))
    }

    private func phrase(_ status: Int) -> String {
      switch status {
      case 200: "OK"
      case 404: "Not Found"
      default: "Bad Request"
      }
    }
  }
}

/// The error that the demo API could not be started.
struct DemoServerError: Error, CustomStringConvertible {
  var port: UInt16
  var underlying: (any Error)?

  var description: String {
    var reason = ""
    if let underlying {
      reason = ": \(underlying)"
      if case .failed(_, _, let message)? = underlying as? SocketError { reason = ": \(message)" }
    }
    return "The demo API could not listen on 127.0.0.1:\(port)\(reason). "
      + "Choose another port by --port, or 0 for any free one."
  }
}

/// A request as demo styles read it.
struct DemoRequest: Sendable {
  /// The origin of the API, such as `http://127.0.0.1:8080`.
  var origin: String
  /// The path, such as `/link-header`.
  var path: String
  /// The query parameters, percent-decoded; the last one wins.
  var query: [String: String]
  /// The request body; empty for none.
  var body: Data

  /// Returns the parameters in a raw query. Only `%XX` is decoded: `+` stays a plus.
  static func parameters(_ query: String) -> [String: String] {
    var result: [String: String] = [:]
    for pair in query.split(separator: "&") {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let name = String(parts[0]).removingPercentEncoding ?? String(parts[0])
      let value = parts.count > 1 ? String(parts[1]) : ""
      result[name] = value.removingPercentEncoding ?? value
    }
    return result
  }

  /// Returns a parameter as a whole number of at most `Int32.max`, or `fallback` if it is absent.
  /// Throws `DemoFailure` for any other text.
  func number(_ name: String, or fallback: Int) throws -> Int {
    guard let text = query[name] else { return fallback }
    guard let value = Int(text), value >= 0 else {
      throw DemoFailure("The parameter \(name) is no whole number.")
    }
    return min(value, Int(Int32.max))
  }

  /// Returns the page size in the parameter `name`, limited to 1 to 1,000.
  func size(_ name: String) throws -> Int {
    min(max(try number(name, or: DemoSlice.defaultSize), 1), DemoSlice.largestSize)
  }

  /// Returns a URL of this API, as a server puts it into a next link.
  func link(_ query: String) -> String { "\(origin)\(path)?\(query)" }
}

/// The error of a request that the demo API cannot answer, which becomes status 400.
struct DemoFailure: Error {
  var message: String
  init(_ message: String) { self.message = message }
}

/// The answer of a demo style.
struct DemoAnswer: Sendable {
  var status = 200
  var headers: [(name: String, value: String)] = []
  var mediaType = "application/json"
  var body: String
}

/// A socket pool that makes every socket send without delay.
///
/// The server writes head and body as two segments. With Nagle's algorithm the second waits for the
/// client's delayed acknowledgement: 40 ms a page. Accepted sockets inherit the option from the
/// listening socket, which passes through here first.
struct PromptSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
  let base: Base

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    try? socket.setValue(
      true, for: BoolSocketOption(level: CInt(IPPROTO_TCP), name: TCP_NODELAY))
    try await base.suspendSocket(socket, untilReadyFor: events)
  }
}
