import Glibc

/// A real nginx on loopback that offers HTTP/2 over TLS, for tests that no script can replace.
///
/// Every answer names its protocol in `X-Protocol` and its connection in `X-Connection`. Files
/// below `/slow/` are sent at 20 KB a second.
package final class NginxServer: Sendable {
  package let port: Int
  private let directory: String

  /// The path of nginx, or nil if it is not installed.
  package static let program: String? = [
    "/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/bin/nginx",
  ]
  .first { (path: String) in access(path, X_OK) == 0 }

  /// Starts nginx, which serves these files by their names once the initialiser has returned.
  ///
  /// - Parameters:
  ///   - requestsPerConnection: How many requests until nginx says GOAWAY.
  ///   - streams: How many requests a connection takes at the same time.
  package init(
    files: [String: [UInt8]], requestsPerConnection: Int = 1000, streams: Int = 128
  ) throws {
    guard let program = Self.program else { throw POSIXError("nginx") }
    let free = try Listener(address: "127.0.0.1", backlog: 1)
    close(free.descriptor)
    port = free.port
    var template = Array("/tmp/quire-nginx-XXXXXX".utf8CString)
    guard let path = mkdtemp(&template) else { throw POSIXError("mkdtemp") }
    directory = String(cString: path)
    let identity = try TestAuthority.shared.identity(.valid)
    try Self.move(identity.writeCertificate(), to: "\(directory)/certificate.pem")
    try Self.move(identity.writeKey(), to: "\(directory)/key.pem")
    for (name, bytes) in files { try Self.write(bytes, to: "\(directory)/\(name)") }
    let configuration = Self.configuration(directory, port, requestsPerConnection, streams)
    try Self.write(Array(configuration.utf8), to: "\(directory)/nginx.conf")
    // This returns when nginx runs as a daemon with an open port.
    let status = try Self.run([program, "-p", directory, "-c", "nginx.conf", "-e", "error.log"])
    guard status == 0 else { throw POSIXError("nginx ended with status \(status)") }
  }

  package func url(_ target: String) -> String { "https://localhost:\(port)\(target)" }

  /// Ends nginx and removes its files.
  package func stop() {
    if let text = Self.read("\(directory)/nginx.pid"), let identifier = pid_t(text) {
      kill(identifier, SIGTERM)
    }
    _ = try? Self.run(["/bin/rm", "-rf", directory])
  }

  private static func configuration(
    _ directory: String, _ port: Int, _ requests: Int, _ streams: Int
  ) -> String {
    let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map {
      "\($0)_temp_path \(directory)/\($0);"
    }
    return """
      daemon on; master_process off; pid \(directory)/nginx.pid; error_log \(directory)/error.log;
      events { worker_connections 512; }
      http {
        \(paths.joined(separator: " ")) access_log off; keepalive_requests \(requests);
        http2_max_concurrent_streams \(streams);
        add_header X-Protocol $server_protocol always; add_header X-Connection $connection always;
        server {
          listen 127.0.0.1:\(port) ssl http2;
          ssl_certificate \(directory)/certificate.pem; ssl_certificate_key \(directory)/key.pem;
          root \(directory);
          location /slow/ { alias \(directory)/; limit_rate 20k; }
        }
      }
      """
  }

  /// Runs a program without this process's output and signal mask. A daemon that kept the output
  /// open would block the readers of the tests' output, and one that inherited blocked signals
  /// could not be ended.
  private static func run(_ arguments: [String]) throws -> Int32 {
    var words = arguments.map { strdup($0) } + [nil]
    defer { for word in words { free(word) } }
    var files = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&files)
    defer { posix_spawn_file_actions_destroy(&files) }
    for descriptor in Int32(0)...2 {
      posix_spawn_file_actions_addopen(&files, descriptor, "/dev/null", O_RDWR, 0)
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var identifier = pid_t()
    let result = posix_spawn(&identifier, arguments[0], &files, &attributes, &words, environ)
    guard result == 0 else { throw POSIXError("posix_spawn \(arguments[0])") }
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
    return status
  }

  private static func move(_ source: String, to target: String) throws {
    _ = try check("rename", rename(source, target))
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    guard let file = fopen(path, "w") else { throw POSIXError("fopen") }
    defer { fclose(file) }
    guard fwrite(bytes, 1, bytes.count, file) == bytes.count else { throw POSIXError("fwrite") }
  }

  /// The number at the beginning of a file.
  private static func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var number: Int32 = 0
    return withUnsafeMutablePointer(to: &number) { pointer in
      withVaList([pointer]) { vfscanf(file, "%d", $0) } == 1 ? String(pointer.pointee) : nil
    }
  }
}
