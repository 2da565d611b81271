import TestSupport

/// The origin that `TransportConformance` describes, as scripts of a fault server.
enum ConformanceOrigin {
  static func start(tls: FaultTLS? = nil) throws -> FaultServer {
    try FaultServer(tls: tls) { request in
      let parts = request.path.split(separator: "/").map(String.init)
      let number = parts.last.flatMap { Int($0) } ?? 0
      return switch parts.first {
      case "stall": stall(at: request.path)
      case "arrived": [.stallUntilReached("arrived", times: number), .respond("")]
      case "left": [.stallUntilReached("left", times: number), .respond("")]
      default: answer(to: request, parts.first ?? "", number)
      }
    }
  }

  private static func stall(at path: String) -> [FaultStep] {
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n0123456789"
    let start: [FaultStep] = path == "/stall/body" ? [.write(head)] : []
    return start + [.mark("arrived"), .holdThenMark("left")]
  }

  private static func answer(
    to request: ReceivedRequest, _ name: String, _ number: Int
  ) -> [FaultStep] {
    let block = Array(UInt8(0)..<251)
    var body: [UInt8] = []
    while body.count < number { body += block }
    body.removeLast(body.count - number)
    switch name {
    case "echo": return [.respond(echo(request))]
    case "bytes": return [.respond(body)]
    case "chunked": return [.write(Chunked.head + Chunked.chunks(body, of: 1000) + Chunked.end)]
    case "gzip": return [.respond(Gzip.member(body), headers: [("Content-Encoding", "gzip")])]
    case "status" where number == 204: return [.write("HTTP/1.1 204 No Content\r\n\r\n")]
    case "status": return [.respond("", status: "\(number) Status")]
    case "redirect": return [.respond("", status: "302 Found", headers: [("Location", "/bytes/1")])]
    case "cookie": return [.respond("", headers: [("Set-Cookie", "crumb=1")])]
    case "cut":
      let head = "HTTP/1.1 200 OK\r\nContent-Length: \(number)\r\n\r\n"
      return [.write(Array(head.utf8) + body.dropLast()), .finish]
    case "cut-chunked":
      return [.write(Chunked.head + Chunked.chunks(body, of: number)), .finish]
    default: return [.respond("", status: "404 Not Found")]
    }
  }

  private static func echo(_ request: ReceivedRequest) -> [UInt8] {
    let fields = request.headers.map { "\($0.name.lowercased()): \($0.value)\n" }.joined()
    return Array("\(request.method) \(request.target)\n\(fields)\n".utf8) + request.body
  }
}
