import HTTPTypes
import QuireCore
import QuireHTTP

/// A request checked and cut to what libcurl takes.
///
/// The connection is made from `origin`, the request line from `target`: so libcurl's URL parser
/// never sees the path, and cannot touch it.
struct WireRequest: Sendable {
  /// `scheme://authority/`.
  let origin: String
  /// Path and query, byte for byte, without the fragment.
  let target: String
  let method: String
  /// `Name: value` lines as raw bytes ending in NUL.
  let lines: [[UInt8]]
  let body: [UInt8]
  let timeouts: Timeouts
  let limits: TransferLimits
  /// The authority, for messages.
  let host: String

  init(_ request: TransportRequest, userAgent: String) throws(PageError) {
    let scheme = request.head.scheme?.lowercased() ?? ""
    guard scheme == "https" || scheme == "http" else {
      throw PageError(
        .invalidURL, "The URL's scheme is \"\(scheme)\"; only https and http can be requested.")
    }
    host = try Self.checkedAuthority(request.head.authority ?? "")
    origin = "\(scheme)://\(host)/"
    target = try Self.checkedTarget(request.head.path ?? "/", host: host)
    method = request.head.method.rawValue
    lines = try Self.lines(of: request, userAgent: userAgent)
    body = request.body
    timeouts = request.timeouts
    limits = request.limits
  }

  private static let refusedInHosts = Array("/\\?#%\"<>^`{|}".utf8)

  private static func checkedAuthority(_ authority: String) throws(PageError) -> String {
    guard !authority.isEmpty else { throw PageError(.invalidURL, "The URL names no host.") }
    guard !authority.utf8.contains(UInt8(ascii: "@")) else {
      throw PageError(
        .invalidURL, "The URL carries a user name or password; send them as a header instead.")
    }
    guard authority.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F && !refusedInHosts.contains($0) })
    else {
      throw PageError(.invalidURL, "The URL's host contains a character that no host can have.")
    }
    return authority
  }

  private static func checkedTarget(_ path: String, host: String) throws(PageError) -> String {
    let bytes = path.utf8.prefix { $0 != UInt8(ascii: "#") }
    guard bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
      throw PageError(
        .invalidURL,
        "The path of a URL on \(host) contains a space or control character; percent-encode it.")
    }
    let target = String(Substring(bytes))
    if target.isEmpty { return "/" }
    if target.hasPrefix("/") { return target }
    if target.hasPrefix("?") { return "/" + target }
    throw PageError(.invalidURL, "The path of a URL on \(host) does not begin with a slash.")
  }

  private static func lines(
    of request: TransportRequest, userAgent: String
  ) throws(PageError) -> [[UInt8]] {
    var fields = request.head.headerFields
    for name in [HTTPField.Name.contentLength, .transferEncoding] where fields[name] != nil {
      throw PageError(
        .invalidArgument, "The header field \(name) is the transport's to set; leave it out.")
    }
    if fields[.userAgent] == nil { fields[.userAgent] = userAgent }
    if fields[.acceptEncoding] == nil { fields[.acceptEncoding] = "gzip, deflate" }
    var lines: [[UInt8]] = []
    lines.reserveCapacity(fields.count + 2)
    for field in fields { lines.append(try line(of: field)) }
    // libcurl would accept anything on our behalf.
    if fields[.accept] == nil { lines.append(Array("Accept:\0".utf8)) }
    if !request.body.isEmpty {
      // libcurl would declare a form and, above 1 MiB, wait for a "100 Continue".
      if fields[.contentType] == nil { lines.append(Array("Content-Type:\0".utf8)) }
      if fields[.expect] == nil { lines.append(Array("Expect:\0".utf8)) }
    }
    return lines
  }

  private static func line(of field: HTTPField) throws(PageError) -> [UInt8] {
    var line = Array(field.name.rawName.utf8)
    let isWhole = field.withUnsafeBytesOfValue { value in
      // A semicolon is libcurl's spelling of a field without a value.
      line.append(contentsOf: value.isEmpty ? Array(";".utf8) : Array(": ".utf8))
      line.append(contentsOf: value)
      return value.allSatisfy { $0 != 0 && $0 != 0x0A && $0 != 0x0D }
    }
    guard isWhole else {
      throw PageError(
        .invalidArgument,
        "The value of the header field \(field.name) contains a line break or NUL.")
    }
    line.append(0)
    return line
  }
}
