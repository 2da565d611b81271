import CCurl

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension EasyHandle {
  /// Opens a socket for an attempt to connect.
  func openSocket(_ wanted: curl_sockaddr) -> Int32 {
    connection = nil
    // A connection for a replay that is not allowed would be made in vain, and waited for.
    guard transfer?.machine.mayGoOut == true else { return CURL_SOCKET_BAD }
    #if canImport(Glibc)
      let descriptor = socket(
        wanted.family, wanted.socktype | Int32(SOCK_CLOEXEC.rawValue), wanted.protocol)
    #else
      let descriptor = socket(wanted.family, wanted.socktype, wanted.protocol)
      if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
    #endif
    if descriptor >= 0 { attempts.append(ledger.withSockets { $0.open(descriptor) }) }
    return descriptor
  }

  /// The transfer has its connection, new or kept.
  func connected(along route: SocketTable.Route) {
    if reusedConnection {
      connection = ledger.withSockets { $0.descriptor(along: route) }
      return
    }
    connection =
      attempts.last { attempts.count == 1 || Self.localPort(of: $0.descriptor) == route.localPort }?
      .descriptor
    if let connection { ledger.withSockets { $0.connect(connection, along: route) } }
    abandonAttempts()
  }

  /// Writes off the attempts that did not become the connection: libcurl closes their sockets
  /// without a word.
  func abandonAttempts() {
    let lost = attempts.filter { $0.descriptor != connection }
    attempts = []
    ledger.withSockets { sockets in
      for attempt in lost { sockets.abandon(attempt) }
    }
  }

  /// The head has come, and shown which version the connection speaks.
  func headArrived(isHTTP2: Bool) {
    guard let connection else { return }
    ledger.withSockets { $0.note(connection, speaksHTTP1: !isHTTP2) }
  }

  /// Whether a kept HTTP/1 connection is of no more use: it was closed since libcurl looked, or holds
  /// bytes that were not asked for, which libcurl 7.88.1 would take for the answer to the next
  /// request.
  var connectionIsSpent: Bool {
    guard reusedConnection, let connection else { return false }
    guard ledger.withSockets({ $0.speaksHTTP1(connection) }) else { return false }
    var byte: UInt8 = 0
    let count = recv(connection, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
    return count >= 0 || ![EAGAIN, EWOULDBLOCK, EINTR].contains(errno)
  }

  private static func localPort(of descriptor: Int32) -> Int32? {
    // The port lies at the same place in an IPv4 and an IPv6 address.
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        getsockname(descriptor, $0, &length)
      }
    }
    return result == 0 ? Int32(UInt16(bigEndian: address.sin6_port)) : nil
  }
}
