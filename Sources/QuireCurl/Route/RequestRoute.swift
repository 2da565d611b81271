import QuireCore
import QuireHTTP
import QuirePagination

/// The route of a request. A class, because thousands of requests may wait for their turn.
final class RequestRoute: Sendable {
  /// The proxy that the request goes through; nil if there is none.
  let proxy: Proxy.Server?
  /// The addresses to connect to, which are the proxy's if there is one; empty if libcurl needs no
  /// resolver.
  let addresses: [IPAddress]

  fileprivate init(through proxy: Proxy.Server?, to addresses: [IPAddress] = []) {
    self.proxy = proxy
    self.addresses = addresses
  }
}

extension CurlTransport {
  /// Returns the route of a request: its proxy, and the addresses to connect to.
  ///
  /// Throws `refusedAddress` if one of the name's addresses must not be reached, even if others may
  /// be.
  func route(of request: WireRequest) async throws -> RequestRoute {
    let route = try unresolvedRoute(of: request)
    guard let name = unresolvedName(of: request, route) else { return route }
    let addresses = try await resolver.addresses(of: name, within: request.timeouts.connect)
    return try resolved(route, to: addresses, for: request)
  }

  @inline(never)
  private func unresolvedRoute(of request: WireRequest) throws -> RequestRoute {
    if let objection = request.addresses.objection(toHost: request.name, port: request.port) {
      throw PageError.refusedAddress(of: request.host, objection)
    }
    let scheme = request.origin.hasPrefix("https:") ? "https" : "http"
    return RequestRoute(
      through: configuration.proxy.server(
        scheme: scheme, host: request.name, port: request.port))
  }

  /// Returns the name that must be resolved; nil if libcurl needs no resolver.
  @inline(never)
  private func unresolvedName(of request: WireRequest, _ route: RequestRoute) -> String? {
    let name = route.proxy?.host ?? request.name
    if name == "localhost" || name.hasSuffix(".localhost") || IPAddress(name) != nil { return nil }
    return name
  }

  @inline(never)
  private func resolved(
    _ route: RequestRoute, to addresses: [IPAddress], for request: WireRequest
  ) throws -> RequestRoute {
    // The caller chose the proxy, so its addresses are not checked.
    for address in addresses where route.proxy == nil {
      if let objection = request.addresses.objection(to: address, port: request.port) {
        throw PageError.refusedAddress(of: request.host, objection)
      }
    }
    return RequestRoute(through: route.proxy, to: addresses)
  }
}
