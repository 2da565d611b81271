import HTTPTypes
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

extension CurlTransport {
  /// A transport of its own that trusts the test authority and speaks HTTP/1.1.
  static func underTest(connectionsPerHost: Int = 6) -> CurlTransport {
    let authority = TestAuthority.shared.certificateFile
    return CurlTransport(
      Configuration(
        certificateAuthorities: .file(authority), httpVersion: .http1,
        connectionsPerHost: connectionsPerHost))
  }
}

extension TransportRequest {
  /// A GET of this URL, split at its slashes and otherwise untouched.
  init(_ url: String, timeouts: Timeouts = .api, limits: TransferLimits = .api) {
    let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let authority = parts[1].prefix { $0 != "/" }
    let head = HTTPRequest(
      method: .get, scheme: String(parts[0]), authority: String(authority),
      path: String(parts[1].dropFirst(authority.count)))
    self.init(head: head, timeouts: timeouts, limits: limits)
  }
}

/// A response that arrived whole.
struct Fetched {
  var status: Int
  var fields: HTTPFields
  var body: [UInt8]
  var framing: TransportResponse.Framing
  var metrics: TransferMetrics

  var text: String { String(decoding: body, as: UTF8.self) }
}

extension HTTPTransport {
  /// Sends the request and reads the body to its end.
  func fetch(_ request: TransportRequest) async throws -> Fetched {
    let response = try await send(request)
    var body: [UInt8] = []
    while let slice = try await response.body.next() { body += slice }
    return Fetched(
      status: response.head.status.code, fields: response.head.headerFields, body: body,
      framing: response.framing, metrics: response.body.metrics)
  }

  /// Gets the URL and reads the body to its end.
  func fetch(_ url: String) async throws -> Fetched { try await fetch(TransportRequest(url)) }

  /// Expects that the request fails with one of these codes.
  func expectFailure(
    _ request: TransportRequest, _ codes: PageError.Code..., comment: Comment? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    do {
      let fetched = try await fetch(request)
      Issue.record(
        "It succeeded: \(fetched.status), \(fetched.body.count) bytes. \(comment ?? "")",
        sourceLocation: sourceLocation)
    } catch let error as PageError {
      #expect(
        codes.contains(error.code), "\(error) \(comment ?? "")", sourceLocation: sourceLocation)
    }
  }
}
