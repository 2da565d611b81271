import HTTPTypes
import Quire
import QuireHTTP
import QuirePagination

/// What a page costs on its way from the server to a loop, whatever is in it.
enum Walks {
  /// Pages of 22 KB by their Link headers, their bytes alone, from a server on loopback.
  static func page(_ times: Int, _ server: String) async throws {
    try await walk(PageClient(), times, server)
  }

  /// The same without libcurl, without a wire and its wake-ups: our own part, the same in every run.
  static func scripted(_ times: Int) async throws {
    try await walk(PageClient(transport: Script()), times, "http://127.0.0.1")
  }

  @concurrent private static func walk(
    _ client: PageClient, _ times: Int, _ server: String
  ) async throws {
    var cursor = client.cursor(
      at: server + "/page?number=1", pagination: .linkHeader, decoder: BytesPageDecoder())
    cursor.limits.pages = times
    var count = 0
    for try await page in cursor { count += page.items.count }
    precondition(count == times)
  }

  /// What a paginator adds to pages that are there at once, twenty of them together.
  @concurrent static func ahead(_ times: Int) async throws {
    let cursor = Cursor<Int> { position in
      let index = position?.value?.integer ?? 0
      return Page([index], next: index + 1 < times ? Position(integerLiteral: index + 1) : nil)
    }
    var count = 0
    for try await page in Paginator(cursor) { count += page.items.count }
    precondition(count == times)
  }
}

/// Answers each request with a page that is linked to the next.
private struct Script: HTTPTransport {
  func send(_ request: TransportRequest) async throws -> TransportResponse {
    let number = (request.head.path?.split(separator: "=").last).flatMap { Int($0) } ?? 0
    let body = Array("[{\"page\":\(number)}]".utf8)
    let fields = HTTPFields([
      HTTPField(name: .contentType, value: "application/json"),
      HTTPField(name: Self.link, value: "</page?number=\(number + 1)>; rel=\"next\""),
    ])
    return TransportResponse(
      head: HTTPResponse(status: .ok, headerFields: fields), body: .bytes(body))
  }

  private static let link = HTTPField.Name("Link") ?? .location
}
