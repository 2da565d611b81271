import Glibc
import Synchronization

/// An HTTP server on raw sockets that sends exactly the bytes of its script, valid or not.
///
/// ```swift
/// let server = try FaultServer { request in
///   switch (request.path, request.ordinal) {
///   case ("/page", 1): [.write("HTTP/1.1 200 OK\r\nContent-Le"), .reset]
///   case ("/page", _): [.respond("[1,2,3]")]
///   default: [.hold]
///   }
/// }
/// defer { server.stop() }
/// ```
/// Each connection has a thread of its own. Nothing sleeps: a stalled script waits for a gate or
/// for the peer to close, and tests wait for events with `received(_:)`, `reached(_:)` and
/// `disconnected(_:)`.
package final class FaultServer: Sendable {
  /// Chooses a script by the request.
  package typealias Respond = @Sendable (ReceivedRequest) -> [FaultStep]

  /// Chooses the steps before the first byte is read, by the connection's number.
  package typealias OnAccept = @Sendable (Int) -> [FaultStep]

  package let port: Int
  private let address: String
  private let scheme: String
  private let core: Core
  private let listening: Mutex<Listener?>
  private let acceptThread = Mutex<ServerThread?>(nil)

  /// Listens on a port of `address`, which may be any of 127.0.0.0/8, and accepts at once. Port 0
  /// is any free port; a test that restarts a server passes the port of the one before.
  ///
  /// A server for very many requests can do without `requests`, which would grow with each of them.
  package convenience init(
    address: String = "127.0.0.1", port: Int = 0, tls: FaultTLS? = nil,
    keepsRequests: Bool = true, onAccept: @escaping OnAccept = { _ in [] },
    respond: @escaping Respond
  ) throws {
    let listener = try Listener(address: address, port: port, backlog: 512)
    let context = try tls.map { try TLSContext($0) }
    let core = Core(
      tls: context, keepsRequests: keepsRequests, onAccept: onAccept, respond: respond)
    self.init(listener, address, core)
    acceptThread.withLock { $0 = ServerThread { core.acceptAll(from: listener) } }
  }

  private init(_ listener: Listener, _ address: String, _ core: Core) {
    self.address = address
    self.core = core
    port = listener.port
    scheme = core.tls == nil ? "http" : "https"
    listening = Mutex(listener)
  }

  /// A server whose queue is full and that never accepts, so that connecting never ends.
  package static func blackHole(address: String = "127.0.0.1") throws -> FaultServer {
    let listener = try Listener(address: address, backlog: 0)
    let core = Core(tls: nil, keepsRequests: true, onAccept: { _ in [] }, respond: { _ in [] })
    for _ in 0..<4 { core.keep(try Listener.connect(to: address, port: listener.port)) }
    return FaultServer(listener, address, core)
  }

  /// The URL of a target on this server: of `localhost` over TLS, of the address otherwise.
  package func url(_ target: String = "/") -> String {
    let host = scheme == "https" && address == "127.0.0.1" ? "localhost" : address
    return "\(scheme)://\(host):\(port)\(target)"
  }

  /// Closes the listening port, so that connecting is refused. Open connections continue.
  package func refuseConnections() {
    core.accepting.open()
    acceptThread.withLock { $0.take() }?.join()
    if let listener = listening.withLock({ $0.take() }) { close(listener.descriptor) }
  }

  /// Ends all scripts, joins all threads and closes all descriptors.
  package func stop() {
    core.stopping.open()
    refuseConnections()
    core.finish()
  }
}

extension FaultServer {
  /// All requests so far, in the order in which they were complete.
  package var requests: [ReceivedRequest] { core.log.events.requests }

  /// The number of requests so far, including those that were not kept.
  package var received: Int { core.log.events.received }

  /// The number of connections accepted so far.
  package var connections: Int { core.log.events.accepted }

  /// The number of connections that the peer has closed or reset so far.
  package var disconnections: Int { core.log.events.lostPeers }

  /// The reasons of failed TLS handshakes so far.
  package var failedHandshakes: [String] { core.log.events.failedHandshakes }

  /// The number of bytes that the steps `.floodUntilBlocked` have sent so far.
  package var bytesFlooded: Int { core.log.events.bytesFlooded }

  /// Returns once `count` connections have been accepted in all.
  package func accepted(_ count: Int = 1) async throws {
    try await core.log.wait { $0.accepted >= count }
  }

  /// Returns once `count` requests have been received in all.
  package func received(_ count: Int = 1) async throws {
    try await core.log.wait { $0.received >= count }
  }

  /// Runs an action on the server's own thread once `count` more requests have been received,
  /// before the last of them is answered, unless the work ends before that.
  package func acting<Result>(
    after count: Int, _ action: @escaping @Sendable () -> Void,
    during work: () async throws -> Result
  ) async rethrows -> Result {
    let number = core.act(after: count, action)
    defer { core.forget(action: number) }
    return try await work()
  }

  /// Returns once scripts have reached the step `.mark(name)` `count` times in all.
  package func reached(_ name: String, _ count: Int = 1) async throws {
    try await core.log.wait { $0.marks[name, default: 0] >= count }
  }

  /// Returns once the peer has closed or reset `count` connections in all.
  package func disconnected(_ count: Int = 1) async throws {
    try await core.log.wait { $0.lostPeers >= count }
  }

  /// Returns once no connection is open.
  package func quiet() async throws {
    try await core.log.wait { $0.open == 0 }
  }
}
