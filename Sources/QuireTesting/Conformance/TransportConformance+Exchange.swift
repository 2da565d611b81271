import HTTPTypes
import QuireCore
import QuireHTTP

extension TransportConformance {
  /// A request as the origin saw it.
  struct Echo {
    var line: String
    var fields: [String]
    var body: [UInt8]
  }

  func request(_ target: String) -> TransportRequest {
    TransportRequest(head: head(of: origin + target))
  }

  /// Splits a URL at the first `//` and the first `/` after that, and nowhere else.
  func head(of url: String) -> HTTPRequest {
    let parts = url.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
    let rest = parts.last ?? ""
    let authority = rest.prefix { $0 != "/" }
    return HTTPRequest(
      method: .get, scheme: String(parts[0]), authority: String(authority),
      path: String(rest.dropFirst(authority.count)))
  }

  func body(of request: TransportRequest) async throws -> [UInt8] {
    let response = try await transport.send(request)
    var bytes: [UInt8] = []
    while let slice = try await response.body.next() { bytes += slice }
    return bytes
  }

  func echo(_ request: TransportRequest) async throws -> Echo {
    let bytes = try await body(of: request)
    let newline = UInt8(ascii: "\n")
    var lines: [String] = []
    var rest = bytes[...]
    while let end = rest.firstIndex(of: newline), end > rest.startIndex {
      lines.append(String(decoding: rest[..<end], as: UTF8.self))
      rest = rest[(end + 1)...]
    }
    return Echo(
      line: lines.first ?? "", fields: Array(lines.dropFirst()), body: Array(rest.dropFirst()))
  }

  /// The body of `/bytes/count`.
  func pattern(_ count: Int) -> [UInt8] {
    let block = Array(UInt8(0)..<251)
    var bytes: [UInt8] = []
    while bytes.count < count { bytes += block }
    return Array(bytes.prefix(count))
  }

  func expect(
    _ condition: Bool, _ promise: String, evidence: @autoclosure () -> String
  ) throws {
    guard condition else { throw ConformanceFailure(promise, evidence: evidence()) }
  }

  func expectFailure(
    _ promise: String, codes: Set<PageError.Code>, _ operation: () async throws -> Void
  ) async throws {
    do {
      try await operation()
    } catch let error as PageError where codes.contains(error.code) {
      return
    } catch {
      throw ConformanceFailure(promise, evidence: "It threw \(error)")
    }
    throw ConformanceFailure(promise, evidence: "It succeeded.")
  }
}
