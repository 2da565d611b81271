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
