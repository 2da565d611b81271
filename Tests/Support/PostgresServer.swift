import Foundation

/// A PostgreSQL cluster in a temporary folder, on a free port of loopback. It ends with this
/// process, however that ends.
package final class PostgresServer: Sendable {
  /// The folder of the server's programs, or nil if it is not installed.
  package static let programs: String? = {
    let root = "/usr/lib/postgresql"
    let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
    return versions.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "\(root)/\($0)/bin" }
      .first { FileManager.default.isExecutableFile(atPath: "\($0)/postgres") }
  }()

  /// The server that tests share, each in a schema of its own.
  package static let shared = Result { try PostgresServer() }

  package let port: Int
  private let folder: String
  /// The server ends when this pipe closes, which the end of this process does.
  private let leash: Pipe
  private let keeper: Process

  /// Starts a new cluster, which accepts connections when this returns.
  package init() throws {
    guard let programs = Self.programs else { throw POSIXError("postgres") }
    let free = try Listener(address: "127.0.0.1", backlog: 1)
    close(free.descriptor)
    port = free.port
    folder = "/tmp/quire-postgres-\(UUID())"
    leash = Pipe()
    keeper = Process()
    keeper.executableURL = URL(filePath: "/bin/sh")
    // PostgreSQL refuses to run as root.
    let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --clear-groups" : ""
    keeper.arguments = [
      "-c",
      """
      mkdir -m 700 \(folder) && { [ -z "\(user)" ] || chown postgres \(folder); } && cd \(folder)
      \(user) \(programs)/initdb -D \(folder)/data -U quire -A trust -E UTF8 --no-sync >/dev/null || exit 1
      trap '' INT TERM
      while \(user) \(programs)/postgres -D \(folder)/data -p \(port) -k \(folder) \
        -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200 -c log_min_messages=fatal \
        >/dev/null 2>&1 </dev/null; [ ! -e \(folder)/end ]; do sleep 0.2; done &
      cat >/dev/null
      : >\(folder)/end; kill -QUIT "$(head -n 1 \(folder)/data/postmaster.pid)"; wait; rm -rf \(folder)
      """,
    ]
    keeper.standardInput = leash
    keeper.standardOutput = FileHandle.nullDevice
    keeper.standardError = FileHandle.nullDevice
    try keeper.run()
    try waitUntilReady()
  }

  /// The URL for libpq; with `schema`, it uses that schema, which is created first.
  package func url(schema: String? = nil) -> String {
    let base = "postgres://quire@127.0.0.1:\(port)/postgres"
    guard let schema else { return base }
    run(["psql", "-q", base, "-c", "CREATE SCHEMA IF NOT EXISTS \(schema)"])
    return "\(base)?options=-csearch_path%3D\(schema)"
  }

  /// Ends the server at once, like a crash. It restarts by itself, and accepts connections when this
  /// returns.
  package func crash() throws {
    let file = "\(folder)/data/postmaster.pid"
    let line = try String(contentsOfFile: file, encoding: .utf8).prefix { $0 != "\n" }
    guard let process = pid_t(line) else { throw POSIXError("postmaster.pid") }
    kill(process, SIGQUIT)
    while kill(process, 0) == 0 { usleep(10_000) }
    try waitUntilReady()
  }

  /// Ends the server and removes its files.
  package func stop() {
    try? leash.fileHandleForWriting.close()
    keeper.waitUntilExit()
  }

  private func waitUntilReady() throws {
    for _ in 0..<600 {
      if run(["pg_isready", "-q", "-h", "127.0.0.1", "-p", "\(port)"]) == 0 { return }
      guard keeper.isRunning else { break }
      usleep(50_000)
    }
    throw POSIXError("postgres does not start")
  }

  /// Runs one of the server's programs to its end; returns its status.
  @discardableResult
  package func run(_ words: [String]) -> Int32 {
    let process = Process()
    process.executableURL = URL(filePath: "\(Self.programs ?? "")/\(words[0])")
    process.arguments = Array(words.dropFirst())
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return -1 }
    process.waitUntilExit()
    return process.terminationStatus
  }
}
