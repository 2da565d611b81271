import HTTPTypes
import QuireHTTP
import Synchronization

/// A scripted transport that answers a few addresses, and records its requests.
final class FeedWeb: HTTPTransport {
  /// The answer to one request; by default 200 without a body.
  struct Answer: Sendable {
    var status = 200
    var body = ""
    var fields: HTTPFields = [:]
    var framing = TransportResponse.Framing.explicit
  }

  private let answer: @Sendable (_ url: String, _ fields: HTTPFields) -> Answer?
  private let log = Mutex<[(url: String, fields: HTTPFields)]>([])

  init(_ answer: @escaping @Sendable (_ url: String, _ fields: HTTPFields) -> Answer?) {
    self.answer = answer
  }

  /// Creates a web that answers each address with its body, and others with 404.
  convenience init(_ pages: [String: String]) {
    self.init { url, _ in pages[url].map { Answer(body: $0) } }
  }

  /// The addresses of the requests, in order.
  var urls: [String] { log.withLock { $0.map(\.url) } }

  /// The fields of each request, in order.
  var fields: [HTTPFields] { log.withLock { $0.map(\.fields) } }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    log.withLock { $0.append((request.url, request.head.headerFields)) }
    let answer = answer(request.url, request.head.headerFields) ?? Answer(status: 404, body: "no")
    return TransportResponse(
      head: HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields),
      framing: answer.framing, body: .bytes(Array(answer.body.utf8)))
  }
}

/// Returns a page of RSS with the items `ids`, and with `channel` as further elements of its
/// channel.
func rssPage(_ ids: [Int], _ channel: String = "") -> String {
  let items = ids.map { "<item><title>Item \($0)</title><guid>urn:\($0)</guid></item>" }
  return
    "<rss version='2.0' xmlns:atom='http://www.w3.org/2005/Atom'><channel><title>T</title>\(channel)"
    + items.joined() + "</channel></rss>"
}

/// A number that tests change while a web answers.
final class FeedCounter: Sendable {
  private let number = Mutex(1)

  var value: Int {
    get { number.withLock { $0 } }
    set { number.withLock { $0 = newValue } }
  }
}

extension HTTPField.Name {
  /// The `Link` field (RFC 8288).
  static var link: Self { Self("Link") ?? .via }
}
