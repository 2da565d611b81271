import COpenSSL
import Glibc

/// The contents of a certificate to issue.
struct CertificateRequest {
  var name: String
  /// Numeric identifiers and values in OpenSSL's configuration syntax.
  var extensions: [(identifier: Int32, value: String)]
  /// Seconds from now.
  var validity: ClosedRange<Int> = -86_400...86_400
}

/// A private key with its certificate.
final class TLSIdentity: @unchecked Sendable {
  // SAFETY: made in init and only read afterwards; OpenSSL counts references to both atomically.
  let key: OpaquePointer
  let certificate: OpaquePointer

  /// Creates a P-256 key and a certificate for it, issued by `issuer`, or self-signed if that is
  /// nil.
  init(_ request: CertificateRequest, issuer: TLSIdentity?) throws {
    guard let key = quire_generate_p256_key() else { throw OpenSSLError("EVP_EC_gen") }
    guard let certificate = X509_new() else { throw OpenSSLError("X509_new") }
    self.key = key
    self.certificate = certificate
    try describe(request, issuer: issuer?.certificate ?? certificate)
    for (identifier, value) in request.extensions {
      try add(identifier, value, issuer: issuer?.certificate ?? certificate)
    }
    guard X509_sign(certificate, issuer?.key ?? key, EVP_sha256()) > 0 else {
      throw OpenSSLError("X509_sign")
    }
  }

  deinit {
    X509_free(certificate)
    EVP_PKEY_free(key)
  }

  /// Writes the certificate as PEM into a new temporary file and returns its path.
  func writeCertificate() throws -> String {
    try Self.writeTemporary { PEM_write_X509($0, certificate) }
  }

  /// Writes the key as PEM into a new temporary file and returns its path; the key is encrypted if
  /// there is a password.
  func writeKey(password: String? = nil) throws -> String {
    var password = password.map { Array($0.utf8) }
    let length = Int32(password?.count ?? 0)
    return try Self.writeTemporary { file in
      guard length > 0 else { return PEM_write_PrivateKey(file, key, nil, nil, 0, nil, nil) }
      return password?.withUnsafeMutableBufferPointer {
        PEM_write_PrivateKey(file, key, EVP_aes_256_cbc(), $0.baseAddress, length, nil, nil)
      } ?? 0
    }
  }

  private static func writeTemporary(
    _ write: (UnsafeMutablePointer<FILE>) -> Int32
  ) throws -> String {
    var path = Array("/tmp/quire-test-tls-XXXXXX".utf8CString)
    let descriptor = try check("mkstemp", mkstemp(&path))
    guard let file = fdopen(descriptor, "w") else { throw POSIXError("fdopen") }
    let isWritten = write(file) == 1
    guard fclose(file) == 0, isWritten else { throw OpenSSLError("PEM_write") }
    return path.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
  }

  private func describe(_ request: CertificateRequest, issuer: OpaquePointer) throws {
    X509_set_version(certificate, 2)
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int.random(in: 1...Int(Int32.max)))
    X509_gmtime_adj(X509_getm_notBefore(certificate), request.validity.lowerBound)
    X509_gmtime_adj(X509_getm_notAfter(certificate), request.validity.upperBound)
    X509_set_pubkey(certificate, key)
    let subject = X509_get_subject_name(certificate)
    let name = Array(request.name.utf8)
    guard
      X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, name, Int32(name.count), -1, 0) == 1,
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1
    else { throw OpenSSLError("X509_NAME_add_entry_by_txt") }
  }

  private func add(_ identifier: Int32, _ value: String, issuer: OpaquePointer) throws {
    var context = X509V3_CTX()
    X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let part = X509V3_EXT_conf_nid(nil, &context, identifier, value) else {
      throw OpenSSLError("X509V3_EXT_conf_nid")
    }
    defer { X509_EXTENSION_free(part) }
    guard X509_add_ext(certificate, part, -1) == 1 else { throw OpenSSLError("X509_add_ext") }
  }
}
