import Glibc
import Synchronization

/// A listening TCP socket on an address of the loopback network.
package struct Listener: Sendable {
  package let descriptor: Int32
  package let port: Int

  /// The free ports that listeners of this process have had.
  ///
  /// None is used twice: a request to a stopped server must be refused, and not reach the server of
  /// another test.
  private static let givenPorts = Mutex<Set<Int>>([])

  /// Listens on a port; 0 is a free one that no listener of this process has had.
  package init(address: String, port: Int = 0, backlog: Int32) throws {
    var listener = try Listener(boundTo: address, port: port, backlog: backlog)
    while !Self.givenPorts.withLock({ $0.insert(listener.port).inserted }), port == 0 {
      close(listener.descriptor)
      listener = try Listener(boundTo: address, port: 0, backlog: backlog)
    }
    self = listener
  }

  private init(boundTo address: String, port: Int, backlog: Int32) throws {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    descriptor = try check("socket", socket(AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0))
    do {
      var on: Int32 = 1
      _ = try check(
        "setsockopt", setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(4)))
      _ = try check(
        "bind",
        try Self.withAddress(address, port: port) { [descriptor] in bind(descriptor, $0, $1) })
      _ = try check("listen", listen(descriptor, backlog))
      self.port = try Self.boundPort(of: descriptor)
    } catch {
      close(descriptor)
      throw error
    }
  }

  /// The next connection, without delay for small packets, or nil if none is waiting.
  func accept() -> Int32? {
    let accepted = Glibc.accept(descriptor, nil, nil)
    guard accepted >= 0 else { return nil }
    _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
    _ = fcntl(accepted, F_SETFL, O_NONBLOCK)
    var on: Int32 = 1
    setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(4))
    return accepted
  }

  /// Starts a connection to this listener, which completes only if its queue has room.
  static func connect(to address: String, port: Int) throws -> Int32 {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let descriptor = try check("socket", socket(AF_INET, type | Int32(SOCK_NONBLOCK.rawValue), 0))
    _ = try withAddress(address, port: port) { Glibc.connect(descriptor, $0, $1) }
    return descriptor
  }

  private static func boundPort(of descriptor: Int32) throws -> Int {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    _ = try check("getsockname", result)
    return Int(UInt16(bigEndian: address.sin_port))
  }

  private static func withAddress(
    _ text: String, port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = UInt16(port).bigEndian
    guard inet_pton(AF_INET, text, &address.sin_addr) == 1 else { throw POSIXError("inet_pton") }
    return withUnsafePointer(to: address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
  }
}
