import COpenSSL

/// OpenSSL's settings for all sessions of one server.
final class TLSContext: @unchecked Sendable {
  // SAFETY: set up in init and only read afterwards; OpenSSL counts references to it atomically.
  private let context: OpaquePointer
  /// The offered protocols as ALPN sends them: each with its length before it.
  private let protocols: UnsafeMutableBufferPointer<UInt8>

  init(_ settings: FaultTLS) throws {
    guard let context = SSL_CTX_new(TLS_server_method()) else { throw OpenSSLError("SSL_CTX_new") }
    self.context = context
    let wire = settings.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    protocols = .allocate(capacity: wire.count)
    _ = protocols.initialize(from: wire)

    let identity = try TestAuthority.shared.identity(settings.certificate)
    SSL_CTX_use_certificate(context, identity.certificate)
    SSL_CTX_use_PrivateKey(context, identity.key)
    _ = quire_set_minimum_version(context, TLS1_2_VERSION)
    try settings.weakness.map { try Self.weaken(context, $0, identity) }
    quire_allow_partial_writes(context)
    // Tickets would be sent after the handshake, between the bytes of a script.
    SSL_CTX_set_num_tickets(context, 0)
    if settings.wantsClient {
      SSL_CTX_load_verify_locations(context, TestAuthority.shared.certificateFile, nil)
      SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
    }
    guard !wire.isEmpty else { return }
    let argument = Unmanaged.passUnretained(self).toOpaque()
    SSL_CTX_set_alpn_select_cb(
      context,
      { _, chosen, length, offered, offeredLength, argument in
        guard let argument else { return SSL_TLSEXT_ERR_NOACK }
        let context = Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
        return context.select(chosen, length, offered, offeredLength)
      }, argument)
  }

  deinit {
    SSL_CTX_free(context)
    protocols.deallocate()
  }

  private static func weaken(
    _ context: OpaquePointer, _ weakness: FaultTLS.Weakness, _ identity: TLSIdentity
  ) throws {
    func limit(_ version: Int32, _ ciphers: String) throws {
      guard quire_set_minimum_version(context, min(version, TLS1_1_VERSION)) == 1,
        quire_set_maximum_version(context, version) == 1,
        // OpenSSL refuses these ciphers at its default security level.
        SSL_CTX_set_cipher_list(context, "\(ciphers):@SECLEVEL=0") == 1
      else { throw OpenSSLError("SSL_CTX_set_cipher_list") }
    }
    switch weakness {
    case .version10: try limit(TLS1_VERSION, "ALL")
    case .version11: try limit(TLS1_1_VERSION, "ALL")
    case .cipher: try limit(TLS1_2_VERSION, "eNULL")
    case .hugeChain:
      for _ in 0..<500 where quire_add_chain_certificate(context, identity.certificate) != 1 {
        throw OpenSSLError("SSL_CTX_add1_chain_cert")
      }
    }
  }

  func makeSession() -> OpaquePointer {
    guard let session = SSL_new(context) else { fatalError("SSL_new failed: out of memory") }
    return session
  }

  private func select(
    _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ length: UnsafeMutablePointer<UInt8>?,
    _ offered: UnsafePointer<UInt8>?, _ offeredLength: UInt32
  ) -> Int32 {
    var match: UnsafeMutablePointer<UInt8>?
    let outcome = SSL_select_next_proto(
      &match, length, protocols.baseAddress, UInt32(protocols.count), offered, offeredLength)
    chosen?.pointee = UnsafePointer(match)
    return outcome == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK
  }
}

/// A call into OpenSSL that failed while a test server was set up.
package struct OpenSSLError: Error, CustomStringConvertible {
  package let description: String

  init(_ call: String) {
    description = "\(call): \(TLSWire.lastFailure())"
  }
}
