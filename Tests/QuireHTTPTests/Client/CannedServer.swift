import HTTPTypes
import QuireDetect
import QuireHTTP
import QuireJSON
import QuirePagination
import Synchronization

/// A transport that answers from a closure and remembers what it was asked.
final class CannedServer: HTTPTransport {
  typealias Answer = @Sendable (TransportRequest, _ ordinal: Int) throws -> TransportResponse

  private let answer: Answer
  private let log = Mutex<[TransportRequest]>([])

  init(_ answer: @escaping Answer) { self.answer = answer }

  /// Answers request n with the nth of these, and every later one with the last.
  convenience init(_ responses: [TransportResponse]) {
    self.init { _, ordinal in responses[min(ordinal, responses.count - 1)] }
  }

  var requests: [TransportRequest] { log.withLock { $0 } }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let ordinal = log.withLock {
      $0.append(request)
      return $0.count - 1
    }
    return try answer(request, ordinal)
  }
}

extension TransportBody {
  /// A body that begins anew behind its end, for a response that answers several requests.
  fileprivate static func repeated(_ bytes: [UInt8]) -> TransportBody {
    guard !bytes.isEmpty else { return .bytes([]) }
    let isAtEnd = Mutex(true)
    return TransportBody(
      next: {
        isAtEnd.withLock { isAtEnd in
          isAtEnd.toggle()
          return isAtEnd ? nil : bytes
        }
      }, metrics: { TransferMetrics(wireBytes: bytes.count) })
  }
}

extension TransportResponse {
  /// A response of a status, fields and a body.
  static func status(
    _ code: Int, _ fields: [String: String] = [:], _ body: String = "",
    framing: Framing = .explicit
  ) -> TransportResponse {
    var head = HTTPResponse(status: .init(code: code))
    for (name, value) in fields {
      if let name = HTTPField.Name(name) { head.headerFields[name] = value }
    }
    return TransportResponse(head: head, framing: framing, body: .repeated(Array(body.utf8)))
  }

  /// A page of JSON.
  static func json(_ body: String, _ fields: [String: String] = [:]) -> TransportResponse {
    .status(200, fields.merging(["Content-Type": "application/json"]) { own, _ in own }, body)
  }
}
