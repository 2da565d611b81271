public import QuireCore
import QuireHTTP
import QuirePagination

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What requests go through on their way.
///
/// A proxy resolves names itself, so the guard of a walk's addresses can judge the hosts of URLs alone:
/// addresses, in any spelling, and the names of this machine. What else a proxy reaches is the proxy's own
/// affair. Its password is sent to the proxy only, and printed nowhere.
public struct Proxy: Hashable, Sendable, CustomStringConvertible {
  /// One proxy.
  struct Server: Hashable, Sendable {
    var scheme: String
    var host: String
    var port: Int
    var user: String?
    var password: String?

    var url: String { "\(scheme)://\(host):\(port)" }

    /// Reads `http://user:password@host:3128`; without a scheme it is http.
    init(_ text: String) throws(PageError) {
      let parts =
        text.firstRange(of: "://").map { range in
          (String(text[..<range.lowerBound]).lowercased(), String(text[range.upperBound...]))
        } ?? ("http", text)
      // A proxy by SOCKS resolves names itself, always: nothing here may ask a resolver.
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
  /// Hosts that are asked directly.
  private var direct: [String] = []

  private init() {}

  /// Every host is asked directly.
  public static let none = Proxy()

  /// One proxy for everything but the hosts `except`: names, which stand for those below them too,
  /// addresses, networks such as `10.0.0.0/8`, or `*`.
  ///
  /// - Parameters:
  ///   - url: `http://host:3128`, with `user:password@` before the host where the proxy wants that;
  ///     `https://` where the proxy itself is asked over TLS, `socks5h://` for SOCKS.
  ///   - except: Hosts that are reached without it. Default: none.
  /// - Throws: `invalidArgument`. No message repeats the URL.
  public init(_ url: String, except: [String] = []) throws(PageError) {
    let server = try Server(url)
    (http, https, direct) = (server, server, except.map { $0.lowercased() })
  }

  /// What the variables `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say, in either case but
  /// for the first, which a web server's request could set (CVE-2016-5385).
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

  /// The proxy for a request to a host; nil for none.
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

  private static var unreadable: PageError {
    PageError(
      .invalidArgument,
      "A proxy is written as http://host:3128, https://host:443 or socks5h://host:1080, where needed with "
        + "user:password@ before the host.", attempts: 0)
  }

  /// Where the proxies are, without users and passwords.
  public var description: String {
    let servers = [http, https].compactMap(\.self).map(\.url)
    return servers.isEmpty ? "none" : Set(servers).sorted().joined(separator: ", ")
  }
}

extension Proxy: CustomReflectable {
  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A client certificate and its key, for mutual TLS with one origin. Printed, it shows the
/// origin alone.
public struct ClientCertificate: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
  let origin: Origin?
  let file: String
  let keyFile: String
  let password: String?

  /// A certificate for an origin; it is sent to no other, along no redirect and no next link.
  /// - Parameters:
  ///   - origin: Such as `https://api.example.com`.
  ///   - file: A file in PEM with the certificate, and those that vouch for it.
  ///   - keyFile: A file in PEM with the key. Default: the same.
  ///   - password: What the key is encrypted by. Default: it is not.
  /// - Throws: `invalidURL` for an origin that is none.
  public init(
    for origin: String, file: String, keyFile: String? = nil, password: String? = nil
  ) throws(PageError) {
    self.origin = try Origin(url: origin)
    self.file = file
    self.keyFile = keyFile ?? file
    self.password = password
  }

  /// The origin.
  public var description: String { "ClientCertificate(\(origin.map { "\($0)" } ?? ""))" }

  /// The same: what is dumped is read by people too.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
