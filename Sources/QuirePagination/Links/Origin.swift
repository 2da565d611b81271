public import QuireCore

/// The scheme, host and port of a URL, to which credentials are bound.
///
/// Only `http` and `https` URLs have an origin here. Source: RFC 6454, §4.
public struct Origin: Hashable, Sendable, CustomStringConvertible {
  /// `http` or `https`.
  public let scheme: String
  /// The host in lowercase; an IPv6 address in brackets.
  public let host: String
  /// The port, by default that of the scheme.
  public let port: Int
  /// `host`, with the port unless it is the scheme's default.
  package let authority: String

  /// Creates the origin of an absolute URL.
  ///
  /// Throws `PageError` with code `invalidURL` for another scheme, no host, user information, an
  /// invalid port, and a host that is not ASCII or too long.
  public init(url: String) throws(PageError) {
    try self.init(URLReference(url))
  }

  package init(_ reference: URLReference) throws(PageError) {
    guard let scheme = reference.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
      let found =
        reference.scheme.map { "has the scheme \"\(ServerText($0, limit: 64))\"" }
        ?? "has no scheme"
      throw PageError(
        .invalidURL, "A URL \(found); it has to begin with https:// or http://.")
    }
    guard let authority = reference.authority, !authority.isEmpty else {
      throw PageError(.invalidURL, "A URL has no host.")
    }
    let (host, port) = try Self.split(authority)
    guard host.utf8.count <= Self.longestHost else {
      throw PageError(
        .invalidURL,
        "A URL has a host of \(host.utf8.count) bytes, and a name has \(Self.longestHost) at most.")
    }
    self.scheme = scheme
    self.host = host
    let standard = scheme == "https" ? 443 : 80
    self.port = port ?? standard
    self.authority = self.port == standard ? host : "\(host):\(self.port)"
  }

  /// The longest host name in bytes, including the trailing dot (RFC 1035, §2.3.4).
  package static let longestHost = 254

  /// Creates the origin of an absolute URL, on a fast path if it is `home`, as it mostly is.
  package init(_ reference: URLReference, likely home: Origin) throws(PageError) {
    guard let scheme = reference.scheme, let authority = reference.authority,
      home.isWritten(as: scheme, authority)
    else {
      try self.init(reference)
      return
    }
    self = home
  }

  /// Whether `scheme` and `authority` are written exactly as in this origin.
  package func isWritten(as scheme: String, _ authority: String) -> Bool {
    scheme == self.scheme && authority == self.authority
  }

  /// Whether scheme, host and port are equal.
  public static func == (left: Origin, right: Origin) -> Bool {
    left.port == right.port && left.host == right.host && left.scheme == right.scheme
  }

  /// Hashes scheme, host and port.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(port)
    hasher.combine(host)
    hasher.combine(scheme)
  }

  private static func split(_ authority: String) throws(PageError) -> (host: String, port: Int?) {
    let bytes = Array(authority.utf8)
    guard !bytes.contains(UInt8(ascii: "@")) else {
      throw PageError(
        .invalidURL,
        "A URL carries user information before its host. Send credentials in a header field.")
    }
    let bracket = bytes.lastIndex(of: UInt8(ascii: "]")) ?? 0
    let colon = bytes[bracket...].firstIndex(of: UInt8(ascii: ":")) ?? bytes.count
    guard colon > 0, bytes[..<colon].allSatisfy(isLegalInHost) else {
      throw PageError(
        .invalidURL,
        "A URL's host holds characters that no host has. Write international names in Punycode.")
    }
    let host = String(decoding: bytes[..<colon].map(lowercased), as: UTF8.self)
    let digits = bytes.dropFirst(colon + 1)
    if digits.isEmpty { return (host, nil) }
    let text = String(decoding: digits, as: UTF8.self)
    guard digits.allSatisfy({ (48...57).contains($0) }), let port = Int(text),
      (1...65535).contains(port)
    else {
      throw PageError(
        .invalidURL, "A URL's port is \"\(ServerText(text, limit: 64))\"; ports are 1 to 65535.")
    }
    return (host, port)
  }

  /// The origin for messages, shortened and escaped, because a link may contain anything.
  package var displayText: ServerText { ServerText(description) }

  private static func isLegalInHost(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ":"), UInt8(ascii: "["),
      UInt8(ascii: "]"):
      true
    default: false
    }
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// Whether requests to the origin cannot be read on their way, because they are encrypted or stay
  /// on this machine (W3C Secure Contexts, §3.1).
  package var isTrustworthy: Bool { scheme == "https" || isLoopback }

  /// Whether the host is this machine: `localhost`, `127.0.0.0/8` or `[::1]`.
  private var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    guard host.utf8.starts(with: "127.".utf8) else { return false }
    var dots = 0
    var octet: Int?
    for byte in host.utf8 {
      switch byte {
      case UInt8(ascii: ".") where octet != nil:
        dots += 1
        octet = nil
      case UInt8(ascii: "0")...UInt8(ascii: "9"):
        let value = (octet ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
        guard value <= 255 else { return false }
        octet = value
      default: return false
      }
    }
    return dots == 3 && octet != nil
  }

  /// `scheme://host`, with the port unless it is the scheme's default.
  public var description: String { "\(scheme)://\(authority)" }
}
