import FlyingFox
import FlyingSocks
import Foundation

/// The demo API on loopback: one path for each row of `DemoStyle.all`.
enum DemoServer {
  /// Serves on 127.0.0.1 while `body` runs, and hands it the API's origin.
  ///
  /// Port 0 is any free one. Throws `DemoServerError` when the port cannot be had.
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

  /// The answer to a request, whatever server it came through.
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

/// The demo API could not be started.
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

/// What a demo style needs to know about a request.
struct DemoRequest: Sendable {
  /// Where the API was reached, such as `http://127.0.0.1:8080`.
  var origin: String
  /// The path, such as `/link-header`.
  var path: String
  /// The query parameters, percent-decoded; the last one wins.
  var query: [String: String]
  /// The request body; empty for none.
  var body: Data

  /// Splits a raw target's query. Nothing but `%XX` is decoded: a `+` is a plus.
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

  /// A whole number from the query, `fallback` where it is absent; one far behind all records counts as less.
  func number(_ name: String, or fallback: Int) throws -> Int {
    guard let text = query[name] else { return fallback }
    guard let value = Int(text), value >= 0 else {
      throw DemoFailure("The parameter \(name) is no whole number.")
    }
    return min(value, Int(Int32.max))
  }

  /// The page size asked for in `name`, between 1 and 1,000.
  func size(_ name: String) throws -> Int {
    min(max(try number(name, or: DemoSlice.defaultSize), 1), DemoSlice.largestSize)
  }

  /// A URL of this API that a server would put into a next link.
  func link(_ query: String) -> String { "\(origin)\(path)?\(query)" }
}

/// A request the demo API cannot answer; it becomes a 400.
struct DemoFailure: Error {
  var message: String
  init(_ message: String) { self.message = message }
}

/// What a demo style answers.
struct DemoAnswer: Sendable {
  var status = 200
  var headers: [(name: String, value: String)] = []
  var mediaType = "application/json"
  var body: String
}

/// A socket pool that has every socket send at once.
///
/// The server writes a head and a body as two segments. With Nagle's algorithm the second waits for
/// the client's acknowledgement, which the client delays: 40 ms for every page. Accepted sockets
/// inherit the option from the listening one, which waits here first.
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
