public import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The proxies that requests go through.
///
/// A proxy resolves names itself, so the address guard of a walk can check only the hosts of URLs:
/// addresses, in any spelling, and the names of this machine. It cannot check what else the proxy
/// reaches. The proxy's password is sent to the proxy only, and never printed.
public struct Proxy: Hashable, Sendable, CustomStringConvertible {
  /// One proxy.
  struct Server: Hashable, Sendable {
    var scheme: String
    var host: String
    var port: Int
    var user: String?
    var password: String?

    var url: String { "\(scheme)://\(host):\(port)" }

    /// The user with the password, and the password alone; the user, if there is no password.
    var secrets: [String] {
      guard let user else { return [] }
      return password.map { ["\(user):\($0)", $0] } ?? [user]
    }

    /// Reads `http://user:password@host:3128`; without a scheme, the proxy speaks http.
    init(_ text: String) throws(PageError) {
      let parts =
        text.firstRange(of: "://").map { range in
          (String(text[..<range.lowerBound]).lowercased(), String(text[range.upperBound...]))
        } ?? ("http", text)
      // A SOCKS proxy always resolves names itself: no resolver may be asked here.
      let schemes = [
        "http": ("http", 3128), "https": ("https", 443), "socks5h": ("socks5h", 1080),
        "socks5": ("socks5h", 1080), "socks": ("socks5h", 1080),
      ]
      var rest = parts.1[...].prefix { $0 != "/" }
      guard let (scheme, port) = schemes[parts.0] else { throw Proxy.unreadable }
      self.scheme = scheme
      if let at = rest.lastIndex(of: "@") {
        let pair = rest[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        user = Self.decoded(pair[0])
        password = pair.dropFirst().first.map(Self.decoded)
        rest = rest[rest.index(after: at)...]
      }
      guard let origin = try? Origin(url: "http://\(rest)"), !rest.isEmpty else {
        throw Proxy.unreadable
      }
      host = origin.host
      self.port = rest.hasSuffix(":\(origin.port)") ? origin.port : port
    }

    private static func decoded(_ text: Substring) -> String {
      String(decoding: PercentEncoding.decodedBytes(text), as: UTF8.self)
    }
  }

  private var http: Server?
  private var https: Server?
  /// The hosts that are reached directly.
  private var direct: [String] = []

  private init() {}

  /// No proxy: every host is reached directly.
  public static let none = Proxy()

  /// Creates one proxy for all hosts but `except`: names, which stand for those below them too,
  /// addresses, networks such as `10.0.0.0/8`, or `*`.
  ///
  /// - Parameters:
  ///   - url: `http://host:3128`, with `user:password@` before the host if the proxy requires it;
  ///     `https://` if the proxy itself is reached over TLS, `socks5h://` for SOCKS.
  ///   - except: The hosts that are reached directly. Default: none.
  /// - Throws: `invalidArgument` for a URL that cannot be read. Its message does not repeat it.
  public init(_ url: String, except: [String] = []) throws(PageError) {
    let server = try Server(url)
    (http, https, direct) = (server, server, except.map { $0.lowercased() })
  }

  /// Returns the proxies that the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`
  /// name, in lower or upper case. `HTTP_PROXY` is ignored, because a web server's request could
  /// set it (CVE-2016-5385). Default: the variables of the process.
  public static func environment(
    _ variables: [String: String]? = nil
  ) throws(PageError) -> Proxy {
    let variables = variables ?? ProcessInfo.processInfo.environment
    func value(_ names: String...) -> String? {
      names.lazy.compactMap { variables[$0] }.first { !$0.isEmpty }
    }
    var proxy = Proxy()
    let all = value("all_proxy", "ALL_PROXY")
    if let text = value("http_proxy") ?? all { proxy.http = try Server(text) }
    if let text = value("https_proxy", "HTTPS_PROXY") ?? all { proxy.https = try Server(text) }
    proxy.direct = (value("no_proxy", "NO_PROXY") ?? "").lowercased()
      .split { $0 == "," || $0 == " " }.map(String.init)
    return proxy
  }

  /// Returns the proxy for a request to a host; nil if the host is reached directly.
  func server(scheme: String, host: String, port: Int) -> Server? {
    guard let server = scheme == "https" ? https : http else { return nil }
    let host = host.hasSuffix(".") ? String(host.dropLast()) : host
    let address = IPAddress(host)
    let isDirect = direct.contains { entry in
      if entry == "*" { return true }
      var name = entry[...]
      // The last group of an IPv6 address is no port.
      if let colon = name.lastIndex(of: ":"), Int(name[name.index(after: colon)...]) == port,
        (try? AddressNetwork(entry)) == nil
      {
        name = name[..<colon]
      }
      if let address, let network = try? AddressNetwork(String(name)) {
        return network.contains(address)
      }
      while name.hasPrefix(".") || name.hasPrefix("*") { name = name.dropFirst() }
      return host == name || host.hasSuffix("." + name)
    }
    return isDirect ? nil : server
  }

  /// What the proxies are sent as their password, which they may repeat.
  var secrets: [String] { [http, https].compactMap(\.self).flatMap(\.secrets) }

  private static var unreadable: PageError {
    PageError(
      .invalidArgument,
      "A proxy is written as http://host:3128, https://host:443 or socks5h://host:1080, where needed with "
        + "user:password@ before the host.", attempts: 0)
  }

  /// The URLs of the proxies, without users and passwords.
  public var description: String {
    let servers = [http, https].compactMap(\.self).map(\.url)
    return servers.isEmpty ? "none" : Set(servers).sorted().joined(separator: ", ")
  }
}

extension Proxy: CustomReflectable {
  /// Shows only the description, because people read dumps, too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A client certificate and its key, for mutual TLS with one origin. Its description shows the
/// origin alone.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  let origin: Origin
  let file: String
  let keyFile: String
  let password: String?

  /// Creates a certificate for an origin; it is sent to no other, along no redirect and no next
  /// link.
  ///
  /// - Parameters:
  ///   - origin: The origin, such as `https://api.example.com`.
  ///   - file: A PEM file with the certificate, and the certificates of its issuers.
  ///   - keyFile: A PEM file with the key. Default: the same file.
  ///   - password: The password by which the key is encrypted. Default: the key is not encrypted.
  /// - Throws: `invalidURL` if `origin` is not an origin.
  public init(
    for origin: String, file: String, keyFile: String? = nil, password: String? = nil
  ) throws(PageError) {
    self.origin = try Origin(url: origin)
    self.file = file
    self.keyFile = keyFile ?? file
    self.password = password
  }

  /// The name of the type, and the origin.
  public var description: String { "ClientCertificate(\(origin))" }

  /// Shows only the description, because people read dumps, too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
