import Foundation
import QuireCore
import QuireCurl
import QuireHTTP
import QuireJSON
import QuirePagination
import TestSupport
import Testing

@Suite("The log of TLS secrets", .timeLimit(.minutes(15)))
struct KeyLogTests {
  private static func transport(writesKeyLog: Bool) -> CurlTransport {
    let authority = TestAuthority.shared.certificateFile
    var configuration = CurlTransport.Configuration(certificateAuthorities: .file(authority))
    configuration.writesKeyLog = writesKeyLog
    return CurlTransport(configuration)
  }

  @Test("12-S5, L4: SSLKEYLOGFILE of the environment has no effect unless a transport asks for it")
  func environment() async {
    // The environment is a process's own, and so is what libcurl made of it.
    await #expect(processExitsWith: .success) {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "quire-keys-\(ProcessInfo.processInfo.processIdentifier)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("keys").path
      setenv("SSLKEYLOGFILE", file, 1)
      let server = try FaultServer(tls: FaultTLS()) { _ in [.respond("[1]")] }
      defer { server.stop() }
      let silent = Self.transport(writesKeyLog: false)
      _ = try await silent.fetch(server.url())
      #expect(!FileManager.default.fileExists(atPath: file))
      #expect(getenv("SSLKEYLOGFILE") == nil)
      // Asked for later, and beside a transport that was not asked.
      let talking = Self.transport(writesKeyLog: true)
      _ = try await talking.fetch(server.url())
      let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
      #expect(
        !lines.isEmpty && lines.allSatisfy { $0.contains("_SECRET") || $0.hasPrefix("CLIENT_") })
      let attributes = try FileManager.default.attributesOfItem(atPath: file)
      #expect(attributes[.posixPermissions] as? Int == 0o600)
      await silent.shutdown()
      let another = Self.transport(writesKeyLog: false)
      _ = try await another.fetch(server.url())
      #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n") == lines)
    }
  }

  @Test("12-S5: a log that was asked for and cannot be written is an error, and nothing is sent")
  func obstacle() async {
    await #expect(processExitsWith: .success) {
      setenv("SSLKEYLOGFILE", "/nowhere/at/all", 1)
      let server = try FaultServer(tls: FaultTLS()) { _ in [.respond("[1]")] }
      defer { server.stop() }
      try await Self.transport(writesKeyLog: true).expectFailure(
        TransportRequest(server.url()), .tls)
      #expect(server.connections == 0)
    }
  }
}
