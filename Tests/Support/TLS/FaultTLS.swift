/// How a `FaultServer` speaks TLS.
package struct FaultTLS: Sendable {
  /// What is right or wrong with the server's certificate.
  package enum Certificate: Sendable, CaseIterable {
    /// Issued by `TestAuthority` for localhost and 127.0.0.1 to 127.0.0.9.
    case valid
    /// The same, but its time is over.
    case expired
    /// In order, but issued for another host.
    case wrongHost
    /// For the right host, but issued by itself.
    case selfSigned
  }

  package var certificate: Certificate
  /// The protocols offered by ALPN, the preferred one first; empty to ignore the extension.
  package var protocols: [String]
  /// Whether it refuses whoever shows no certificate of `TestAuthority`.
  package var wantsClient: Bool

  package init(
    _ certificate: Certificate = .valid, protocols: [String] = ["http/1.1"],
    wantsClient: Bool = false
  ) {
    self.certificate = certificate
    self.protocols = protocols
    self.wantsClient = wantsClient
  }
}
