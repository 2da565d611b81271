import Glibc
import Synchronization

/// A tunnelling proxy, by HTTP's CONNECT or by SOCKS 5. It connects every client to one port of
/// this machine, and records the destination that the client asked for.
package final class TunnelProxy: Sendable {
  package enum Kind: Sendable {
    case connect
    case socks
  }

  package let port: Int
  private let listener: Listener
  private let core: Core
  private let acceptThread: Mutex<ServerThread?>

  /// The state that its threads share.
  fileprivate final class Core: Sendable {
    let kind: Kind
    let target: Int
    let stopping = StallGate()
    let asked = Mutex<[String]>([])
    let threads = Mutex<[ServerThread]>([])

    init(_ kind: Kind, _ target: Int) { (self.kind, self.target) = (kind, target) }
  }

  package init(_ kind: Kind, to target: Int) throws {
    let listener = try Listener(address: "127.0.0.1", backlog: 64)
    let core = Core(kind, target)
    (self.listener, self.core, port) = (listener, core, listener.port)
    acceptThread = Mutex(
      ServerThread {
        while core.waits(for: [listener.descriptor]) != nil {
          guard let client = listener.accept() else { continue }
          let thread = ServerThread { core.serve(client) }
          core.threads.withLock { $0.append(thread) }
        }
      })
  }

  /// The heads of CONNECT requests, or `user:password@host:port` for SOCKS.
  package var asked: [String] { core.asked.withLock { $0 } }

  /// Ends all tunnels.
  package func stop() {
    core.stopping.open()
    guard let thread = acceptThread.withLock({ $0.take() }) else { return }
    thread.join()
    for thread in core.threads.withLock({ $0 }) { thread.join() }
    close(listener.descriptor)
  }
}

extension TunnelProxy.Core {
  /// The first of the descriptors that can be read; nil once the proxy is stopping.
  fileprivate func waits(for descriptors: [Int32]) -> Int32? {
    while true {
      var polled = (descriptors + [stopping.descriptor]).map {
        pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
      }
      guard poll(&polled, nfds_t(polled.count), -1) > 0 else { continue }
      if polled[descriptors.count].revents != 0 { return nil }
      if let ready = polled.first(where: { $0.revents != 0 }) { return ready.fd }
    }
  }

  /// Reads some bytes; nil at the end.
  private func read(_ descriptor: Int32) -> [UInt8]? {
    while waits(for: [descriptor]) != nil {
      if let bytes = take(descriptor) { return bytes.isEmpty ? nil : bytes }
    }
    return nil
  }

  /// Reads the available bytes: empty at the end, nil if there are none yet.
  private func take(_ descriptor: Int32) -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    if count < 0, errno == EAGAIN || errno == EINTR { return nil }
    return Array(buffer.prefix(max(0, count)))
  }

  private func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      if count > 0 { rest = rest.dropFirst(count) }
      if count < 0, errno != EAGAIN, errno != EINTR { return false }
      if count < 0 {
        var polled = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&polled, 1, -1)
      }
    }
    return true
  }

  fileprivate func serve(_ client: Int32) {
    defer { close(client) }
    guard let rest = kind == .connect ? connect(client) : socks(client),
      let server = try? Listener.connect(to: "127.0.0.1", port: target)
    else { return }
    defer { close(server) }
    var polled = pollfd(fd: server, events: Int16(POLLOUT), revents: 0)
    poll(&polled, 1, -1)
    guard rest.isEmpty || write(rest, to: server) else { return }
    while let ready = waits(for: [client, server]) {
      guard let bytes = take(ready) else { continue }
      guard !bytes.isEmpty, write(bytes, to: ready == client ? server : client) else { return }
    }
  }

  /// Answers a CONNECT; returns the bytes after its head.
  private func connect(_ client: Int32) -> [UInt8]? {
    var head: [UInt8] = []
    while true {
      guard let more = read(client) else { return nil }
      head += more
      let text = String(decoding: head, as: UTF8.self)
      guard let end = text.firstRange(of: "\r\n\r\n") else { continue }
      asked.withLock { $0.append(String(text[..<end.lowerBound])) }
      guard write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), to: client) else { return nil }
      return Array(text[end.upperBound...].utf8)
    }
  }

  /// Answers SOCKS 5, with a user and a password where the client has them (RFC 1928, RFC 1929).
  private func socks(_ client: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    func need(_ count: Int) -> Bool {
      while bytes.count < count {
        guard let more = read(client) else { return false }
        bytes += more
      }
      return true
    }
    func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
    guard need(2), need(2 + Int(bytes[1])) else { return nil }
    let hasPassword = bytes[2..<2 + Int(bytes[1])].contains(2)
    bytes.removeFirst(2 + Int(bytes[1]))
    guard write([5, hasPassword ? 2 : 0], to: client) else { return nil }
    var who = ""
    if hasPassword {
      guard need(2), need(3 + Int(bytes[1])) else { return nil }
      let user = 2..<2 + Int(bytes[1])
      let length = Int(bytes[user.upperBound])
      guard need(user.upperBound + 1 + length) else { return nil }
      let password = user.upperBound + 1..<user.upperBound + 1 + length
      who = text(user) + ":" + text(password) + "@"
      bytes.removeFirst(password.upperBound)
      guard write([1, 0], to: client) else { return nil }
    }
    // Destinations by name are read; of others only the kind is recorded.
    guard need(5) else { return nil }
    guard bytes[3] == 3 else {
      asked.withLock { $0.append("\(who)kind \(bytes[3])") }
      return nil
    }
    let name = 5..<5 + Int(bytes[4])
    guard need(name.upperBound + 2) else { return nil }
    let port = Int(bytes[name.upperBound]) << 8 | Int(bytes[name.upperBound + 1])
    asked.withLock { $0.append("\(who)\(text(name)):\(port)") }
    bytes.removeFirst(name.upperBound + 2)
    guard write([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], to: client) else { return nil }
    return bytes
  }
}
