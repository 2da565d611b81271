import COpenSSL
import Glibc

/// A certificate authority that exists only as long as the test process.
package final class TestAuthority: Sendable {
  package static let shared: TestAuthority = {
    do {
      return try TestAuthority()
    } catch {
      fatalError("The test authority could not be made: \(error)")
    }
  }()

  /// A file with the authority's certificate as PEM, for clients to trust. It is removed at exit.
  package let certificateFile: String

  private let authority: TLSIdentity

  private init() throws {
    authority = try TLSIdentity(
      CertificateRequest(
        name: "Quire Test Authority",
        extensions: [
          (NID_basic_constraints, "critical,CA:TRUE"),
          (NID_key_usage, "critical,keyCertSign,cRLSign"),
          (NID_subject_key_identifier, "hash"),
        ]), issuer: nil)
    certificateFile = try authority.writeCertificate()
    atexit { unlink(TestAuthority.shared.certificateFile) }
  }

  /// Files of a client's certificate and key.
  package struct ClientFiles: Sendable {
    package let certificate: String
    package let key: String

    package func remove() { for file in [certificate, key] { unlink(file) } }
  }

  /// Creates a certificate for a client, and its key, encrypted if there is a password.
  package func clientFiles(password: String? = nil) throws -> ClientFiles {
    let identity = try TLSIdentity(
      CertificateRequest(
        name: "client.test", extensions: [(NID_basic_constraints, "critical,CA:FALSE")]),
      issuer: authority)
    return ClientFiles(
      certificate: try identity.writeCertificate(), key: try identity.writeKey(password: password))
  }

  /// A key and a certificate with this property.
  func identity(_ certificate: FaultTLS.Certificate) throws -> TLSIdentity {
    let addresses = (1...9).map { "IP:127.0.0.\($0)" }.joined(separator: ",")
    let own = "DNS:localhost,\(addresses)"
    let request = CertificateRequest(
      name: certificate == .wrongHost ? "elsewhere.test" : "localhost",
      extensions: [
        (NID_basic_constraints, "critical,CA:FALSE"),
        (NID_subject_alt_name, certificate == .wrongHost ? "DNS:elsewhere.test" : own),
      ],
      validity: certificate == .expired ? -172_800 ... -86_400 : -86_400...86_400)
    return try TLSIdentity(request, issuer: certificate == .selfSigned ? nil : authority)
  }
}
