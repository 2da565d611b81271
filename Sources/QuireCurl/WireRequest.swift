import QuirePagination
import HTTPTypes
import QuireCore
import QuireHTTP

/// A request, checked and put into the form that libcurl takes.
///
/// The connection is made from `origin`, the request line from `target`, so that libcurl's URL
/// parser never sees the path and cannot change it. A class, because thousands of requests may wait
/// for their turn.
final class WireRequest: Sendable {
  /// `scheme://authority/`.
  let origin: String
  /// Path and query, byte for byte, without the fragment.
  let target: String
  let method: String
  /// `Name: value` lines, each of them ending in NUL.
  let lines: [UInt8]
  let body: [UInt8]
  let timeouts: Timeouts
  let limits: TransferLimits
  /// The authority, for messages.
  let host: String
  /// The number of times that libcurl may replay the request.
  let replays: Int
  /// Whether it does no harm to repeat the request; for messages.
  let isRepeatable: Bool
  /// Whether its connection is worth keeping.
  let keepsConnection: Bool
  /// The addresses that may be connected to.
  let addresses: AddressGuard
  /// The host's name or address, and its port.
  let name: String
  let port: Int

  /// Whether a body is sent, even an empty one: always except for HEAD, and for GET without a body.
  var carriesBody: Bool { Self.carriesBody(method, body) }

  private static func carriesBody(_ method: String, _ body: [UInt8]) -> Bool {
    method != "HEAD" && (method != "GET" || !body.isEmpty)
  }

  init(_ request: TransportRequest, userAgent: String) throws(PageError) {
    let scheme = request.head.scheme?.lowercased() ?? ""
    guard scheme == "https" || scheme == "http" else {
      throw PageError(
        .invalidURL, "The URL's scheme is \"\(scheme)\"; only https and http can be requested.")
    }
    let authority = request.head.authority ?? ""
    origin = "\(scheme)://\(authority)/"
    if let known = request.origin, known.isWritten(as: scheme, authority) {
      (host, name, port) = (authority, known.host, known.port)
    } else {
      host = try Self.checkedAuthority(authority)
      let whole = try Origin(url: origin)
      (name, port) = (whole.host, whole.port)
    }
    addresses = request.addresses
    target = try Self.checkedTarget(request.head.path ?? "/", host: host)
    method = request.head.method.rawValue
    lines = try Self.lines(of: request, userAgent: userAgent)
    body = request.body
    timeouts = request.timeouts
    limits = request.limits
    replays = request.replays
    keepsConnection = request.keepsConnection
    isRepeatable = replays > 0 || request.head.method.isSafe
  }

  private static func checkedAuthority(_ authority: String) throws(PageError) -> String {
    guard !authority.isEmpty else { throw PageError(.invalidURL, "The URL names no host.") }
    for byte in authority.utf8 {
      switch byte {
      case UInt8(ascii: "@"):
        throw PageError(
          .invalidURL, "The URL carries a user name or password; send them as a header instead.")
      case 0...0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "?"),
        UInt8(ascii: "#"), UInt8(ascii: "%"), UInt8(ascii: "\""), UInt8(ascii: "<"),
        UInt8(ascii: ">"), UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"),
        UInt8(ascii: "|"), UInt8(ascii: "}"):
        throw PageError(.invalidURL, "The URL's host contains a character that no host can have.")
      default: break
      }
    }
    return authority
  }

  private static func checkedTarget(_ path: String, host: String) throws(PageError) -> String {
    var path = path
    let (end, isLegal) = path.withUTF8 { bytes in
      let sent = bytes.prefix { $0 != UInt8(ascii: "#") }
      return (sent.count, sent.allSatisfy { $0 > 0x20 && $0 != 0x7F })
    }
    guard isLegal else {
      throw PageError(
        .invalidURL,
        "The path of a URL on \(host) contains a space or control character; percent-encode it.")
    }
    let target =
      end == path.utf8.count ? path : String(decoding: path.utf8.prefix(end), as: UTF8.self)
    if target.isEmpty { return "/" }
    if target.hasPrefix("/") { return target }
    if target.hasPrefix("?") { return "/" + target }
    throw PageError(.invalidURL, "The path of a URL on \(host) does not begin with a slash.")
  }

  private static func lines(
    of request: TransportRequest, userAgent: String
  ) throws(PageError) -> [UInt8] {
    let fields = request.head.headerFields
    for name in [HTTPField.Name.contentLength, .transferEncoding] where fields.contains(name) {
      throw PageError(
        .invalidArgument, "The header field \(name) is the transport's to set; leave it out.")
    }
    var lines: [UInt8] = []
    lines.reserveCapacity(512)
    for field in fields { try append(field, to: &lines) }
    if !fields.contains(.userAgent) {
      try append(HTTPField(name: .userAgent, value: userAgent), to: &lines)
    }
    if !fields.contains(.acceptEncoding) { lines += "Accept-Encoding: gzip, deflate\0".utf8 }
    // libcurl would send `Accept: */*` on its own.
    if !fields.contains(.accept) { lines += "Accept:\0".utf8 }
    if carriesBody(request.head.method.rawValue, request.body) {
      // libcurl would declare a form and, above 1 MiB, wait for a "100 Continue".
      if !fields.contains(.contentType) { lines += "Content-Type:\0".utf8 }
      if !fields.contains(.expect) { lines += "Expect:\0".utf8 }
    }
    return lines
  }

  private static func append(
    _ field: HTTPField, to lines: inout [UInt8]
  ) throws(PageError) {
    lines += field.name.rawName.utf8
    let isWhole = field.withUnsafeBytesOfValue { value in
      // A semicolon is libcurl's spelling of a field without a value.
      lines += value.isEmpty ? ";".utf8 : ": ".utf8
      lines += value
      return value.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D }
    }
    guard isWhole else {
      throw PageError(
        .invalidArgument,
        "The value of the header field \(field.name) contains a line break or NUL.")
    }
    lines.append(0)
  }
}
