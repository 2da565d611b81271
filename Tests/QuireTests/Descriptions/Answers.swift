import QuireHTTP
import HTTPTypes
import Quire
import Synchronization

/// A transport that answers each request with the text that a closure gives, and remembers what came.
final class Answers: HTTPTransport {
  /// What is answered.
  struct Answer: ExpressibleByStringInterpolation {
    var status = 200
    var body: String
    var fields: HTTPFields = [:]

    init(stringLiteral value: String) { body = value }

    init(_ status: Int, _ body: String = "") {
      self.status = status
      self.body = body
    }
  }

  /// One request, as a test looks at it.
  struct Asked: Equatable {
    var method: String
    /// The path and the query.
    var target: String
    var body: String
  }

  private let answer: @Sendable (Asked, _ ordinal: Int) -> Answer
  private let log = Mutex<[Asked]>([])

  init(_ answer: @escaping @Sendable (Asked, _ ordinal: Int) -> Answer) { self.answer = answer }

  /// Answers request n with the nth of these, and every later one with the last.
  convenience init(_ answers: [Answer]) {
    self.init { _, ordinal in answers[min(ordinal, answers.count - 1)] }
  }

  var asked: [Asked] { log.withLock { $0 } }
  var targets: [String] { asked.map(\.target) }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let asked = Asked(
      method: request.head.method.rawValue, target: request.head.path ?? "",
      body: String(decoding: request.body, as: UTF8.self))
    let ordinal = log.withLock {
      $0.append(asked)
      return $0.count - 1
    }
    let answer = answer(asked, ordinal)
    var head = HTTPResponse(
      status: HTTPResponse.Status(code: answer.status), headerFields: answer.fields)
    if head.headerFields[.contentType] == nil, let first = answer.body.first {
      head.headerFields[.contentType] = first == "<" ? "application/xml" : "application/json"
    }
    return TransportResponse(head: head, body: .bytes(Array(answer.body.utf8)))
  }
}

extension PageClient {
  /// Every item of a listing as JSON text.
  func drain(
    _ pagination: Pagination, at url: String = "https://l.test/", pageSize: Int? = nil,
    request: RequestOptions = RequestOptions(), delivery: PageDelivery = .whole
  ) async throws -> [String] {
    var items: [String] = []
    var cursor = cursor(
      of: RawItem.self, at: url, pagination: pagination, pageSize: pageSize, request: request,
      delivery: delivery)
    // Pages of a test are small, and may be alike.
    cursor.limits.comparedPages = 0
    for try await item in cursor.items { items.append(item.description) }
    return items
  }
}
