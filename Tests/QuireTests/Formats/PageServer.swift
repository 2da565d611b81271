import QuireHTTP
import Quire
import Synchronization

/// Pages of consecutive numbers from 0, numbered from 1, in one format or the other: `?page=2`.
final class PageServer: HTTPTransport {
  struct Row: Decodable, Sendable, Equatable { var id: Int }

  private struct State {
    var requests: [Int] = []
    var failures: [Int: (status: Int, times: Int)] = [:]
  }

  let format: PageFormat
  let sizes: [Int]
  /// Changes page n before it is sent.
  private let change: @Sendable (Int, inout [JSONValue.Member]) -> Void
  /// Cuts the bytes of page n, whose end nothing but its connection's end then shows.
  private let cut: @Sendable (Int, [UInt8]) -> [UInt8]
  private let state = Mutex(State())

  init(
    _ format: PageFormat, _ sizes: [Int],
    change: @escaping @Sendable (Int, inout [JSONValue.Member]) -> Void = { _, _ in },
    cut: @escaping @Sendable (Int, [UInt8]) -> [UInt8] = { $1 }
  ) {
    self.format = format
    self.sizes = sizes
    self.cut = cut
    self.change = change
  }

  /// The pages that were asked for, in order.
  var requests: [Int] { state.withLock { $0.requests } }

  /// Answers page n with a status, so many times.
  func fail(_ page: Int, status: Int = 400, times: Int = .max) {
    state.withLock { $0.failures[page] = (status, times) }
  }

  /// Pages on by the number in `next`.
  static let byNumber = Pagination(
    next: .body("/next | /page/next"), send: .query("page"), items: "/items | /page/items/i")

  func cursor(
    _ pagination: Pagination = byNumber,
    configure: (inout PageClient.Configuration) -> Void = { _ in }
  ) -> Cursor<Row> {
    var configuration = PageClient.Configuration()
    configuration.retry = .never
    configure(&configuration)
    return PageClient(transport: self, configuration: configuration)
      .cursor(of: Row.self, at: "https://a.test/l", pagination: pagination)
  }

  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let number = request.url.split(separator: "page=").dropFirst().first.flatMap { Int($0) } ?? 1
    let status = state.withLock { state in
      state.requests.append(number)
      guard let failure = state.failures[number], failure.times > 0 else { return 200 }
      state.failures[number]?.times -= 1
      return failure.status
    }
    var head = HTTPResponse(status: .init(code: status))
    guard status == 200 else {
      return TransportResponse(head: head, framing: .explicit, body: .bytes([]))
    }
    head.headerFields[.contentType] = format.contentType
    let bytes = cut(number, format.bytes(page(number)))
    return TransportResponse(head: head, framing: .untilClose, body: .bytes(bytes))
  }

  private func page(_ number: Int) -> JSONValue {
    let start = sizes.prefix(number - 1).reduce(0, +)
    let size = sizes.indices.contains(number - 1) ? sizes[number - 1] : 0
    var members: [JSONValue.Member] = [
      .init("items", .array((start..<start + size).map { ["id": .number(String($0))] })),
      .init("bank", ["name": "X"]), .init("pages", .number(String(sizes.count))),
      .init("remaining", .number(String(sizes.count - number))),
      .init("total", .number(String(sizes.reduce(0, +)))),
      .init("next", number < sizes.count ? .number(String(number + 1)) : .null),
    ]
    change(number, &members)
    return .object(members)
  }
}

extension Cursor {
  /// Every page's items, up to the end.
  func pages() async throws -> [[Item]] {
    var pages: [[Item]] = []
    for try await page in self { pages.append(page.items) }
    return pages
  }
}
