/// The TLS settings of a `FaultServer`.
package struct FaultTLS: Sendable {
  /// The kinds of certificates, valid and invalid.
  package enum Certificate: Sendable, CaseIterable {
    /// Issued by `TestAuthority` for localhost and 127.0.0.1 to 127.0.0.9.
    case valid
    /// The same, but expired.
    case expired
    /// Valid, but issued for another host.
    case wrongHost
    /// For the right host, but self-signed.
    case selfSigned
  }

  /// Outdated or excessive settings of a server.
  package enum Weakness: Sendable, CaseIterable {
    /// TLS 1.0 and nothing newer.
    case version10
    /// TLS 1.1 at most.
    case version11
    /// TLS 1.2, with only those ciphers that do not encrypt.
    case cipher
    /// More than 100 KB of certificates.
    case hugeChain
  }

  package var certificate: Certificate
  /// Nil for a server with current settings.
  package var weakness: Weakness?
  /// The protocols offered by ALPN, the preferred one first; empty to ignore the extension.
  package var protocols: [String]
  /// Whether it refuses clients without a certificate of `TestAuthority`.
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
