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

  /// In what a server may be behind the times, or beyond measure.
  package enum Weakness: Sendable, CaseIterable {
    /// TLS 1.0 and nothing newer.
    case version10
    /// TLS 1.1 at most.
    case version11
    /// TLS 1.2, and ciphers only that encrypt nothing.
    case cipher
    /// More than 100 KB of certificates.
    case hugeChain
  }

  package var certificate: Certificate
  /// Nil for a server that is up to date.
  package var weakness: Weakness?
  /// The protocols offered by ALPN, the preferred one first; empty to ignore the extension.
  package var protocols: [String]
  /// Whether it refuses whoever shows no certificate of `TestAuthority`.
  package var wantsClient: Bool

  package init(
    _ certificate: Certificate = .valid, protocols: [String] = ["http/1.1"],
    wantsClient: Bool = false, weakness: Weakness? = nil
  ) {
    self.certificate = certificate
    self.weakness = weakness
    self.protocols = protocols
    self.wantsClient = wantsClient
  }
}
