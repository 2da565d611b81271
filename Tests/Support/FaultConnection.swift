import Glibc

/// One accepted connection, run by a thread of its own: reads requests, plays scripts.
struct FaultConnection {
  let descriptor: Int32
  let number: Int
  let server: FaultServer.Core
  private var wire: any Wire
  private var unread: [UInt8] = []

  /// POLLRDHUP, which glibc shows only to GNU programs: the peer has closed its sending direction.
  private static let peerLeft: Int16 = 0x2000

  /// Why a connection ended. Thrown to leave the current step.
  enum End: Error {
    case peerGone
    case closedHere
    case handshakeFailed(String)
  }

  init(descriptor: Int32, number: Int, server: FaultServer.Core) {
    self.descriptor = descriptor
    self.number = number
    self.server = server
    wire = PlainWire(descriptor: descriptor)
  }

  /// Serves requests until the connection is over, and closes it.
  mutating func run() -> End {
    defer { close(descriptor) }
    do {
      if let context = server.tls { try startTLS(context) }
      try play(server.onAccept(number))
      while true {
        let request = server.record(try readRequest())
        try play(server.respond(request))
      }
    } catch {
      return error
    }
  }

  private mutating func startTLS(_ context: TLSContext) throws(End) {
    let session = TLSWire(context, descriptor: descriptor)
    wire = session
    while true {
      switch session.handshake() {
      case .moved: return
      case .blocked(let events): try wait(for: events)
      case .gone: throw .handshakeFailed(TLSWire.lastFailure())
      }
    }
  }

  // MARK: Reading

  private mutating func readRequest() throws(End) -> ReceivedRequest {
    let end = Array("\r\n\r\n".utf8)
    while true {
      if let range = unread.firstRange(of: end) {
        let head = Array(unread[..<range.upperBound])
        let length = ReceivedRequest.bodyLength(announcedBy: head)
        while unread.count < head.count + length { try readMore() }
        let body = Array(unread[head.count..<head.count + length])
        unread.removeFirst(head.count + length)
        return ReceivedRequest(head: head, body: body, connection: number)
      }
      try readMore()
    }
  }

  private mutating func readMore() throws(End) {
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      switch buffer.withUnsafeMutableBytes({ wire.read(into: $0) }) {
      case .moved(let count):
        unread += buffer[..<count]
        return
      case .blocked(let events): try wait(for: events)
      case .gone: throw .peerGone
      }
    }
  }

  // MARK: Playing a script

  private func play(_ script: [FaultStep]) throws(End) {
    for step in script { try play(step) }
  }

  private func play(_ step: FaultStep) throws(End) {
    switch step {
    case .write(let bytes): try write(bytes[...])
    case .slices(let bytes, let size):
      for start in stride(from: 0, to: bytes.count, by: size) {
        try write(bytes[start..<min(start + size, bytes.count)])
      }
    case .drip(let bytes, let pause):
      for byte in bytes {
        try write([byte])
        try wait(for: Self.peerLeft, atMost: pause)
      }
    case .flood(let bytes, let times):
      for _ in 0..<times { try write(bytes[...]) }
    case .floodUntilBlocked(let bytes, let times, let name):
      var isBlocked = false
      for _ in 0..<times { try write(bytes[...], &isBlocked, mark: name) }
      if !isBlocked { server.mark(name) }
    case .mark(let name): server.mark(name)
    case .stall(let gate): try wait(for: Self.peerLeft, or: gate)
    case .stallUntilReached(let name, let times):
      try wait(for: Self.peerLeft, or: server.gate(of: name, times: times))
    case .hold: try waitForPeerToGo()
    case .holdThenMark(let name):
      defer { server.mark(name) }
      try waitForPeerToGo()
    case .halfClose:
      wire.sayGoodbye()
      shutdown(descriptor, Int32(SHUT_WR))
      try waitForPeerToGo()
    case .finish:
      wire.sayGoodbye()
      throw .closedHere
    case .closeWithoutNotify: throw .closedHere
    case .reset:
      closeWillReset()
      throw .closedHere
    }
  }

  /// Makes closing send RST in place of FIN.
  private func closeWillReset() {
    var lingering = linger(l_onoff: 1, l_linger: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_LINGER, &lingering, socklen_t(MemoryLayout<linger>.size))
  }

  private func write(_ bytes: ArraySlice<UInt8>) throws(End) {
    var rest = bytes
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ wire.write($0) }) {
      case .moved(let count): rest = rest.dropFirst(count)
      case .blocked(let events): try wait(for: events)
      case .gone: throw .peerGone
      }
    }
  }

  /// Counts the bytes sent, and sets the mark when nothing could be sent for a fifth of a second.
  private func write(
    _ bytes: ArraySlice<UInt8>, _ isBlocked: inout Bool, mark: String
  ) throws(End) {
    var rest = bytes
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ wire.write($0) }) {
      case .moved(let count):
        rest = rest.dropFirst(count)
        server.log.record { $0.bytesFlooded += count }
      case .blocked(let events):
        if !isBlocked {
          if try wait(for: events, atMost: .milliseconds(200)) { continue }
          isBlocked = true
          server.mark(mark)
        }
        try wait(for: events)
      case .gone: throw .peerGone
      }
    }
  }

  // MARK: Waiting

  private func waitForPeerToGo() throws(End) -> Never {
    while true { try wait(for: Self.peerLeft) }
  }

  /// Waits for an event, the gate or the time limit; returns whether it was an event. Throws when
  /// the server stops, or when the peer closes although no event of it was awaited.
  @discardableResult
  private func wait(
    for events: Int16, or gate: StallGate? = nil, atMost limit: Duration? = nil
  ) throws(End) -> Bool {
    var polled = [
      pollfd(fd: descriptor, events: events, revents: 0),
      pollfd(fd: server.stopping.descriptor, events: Int16(POLLIN), revents: 0),
      pollfd(fd: gate?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
    ]
    let milliseconds = limit.map { Int32($0 / .milliseconds(1)) } ?? -1
    while poll(&polled, nfds_t(polled.count), milliseconds) < 0, errno == EINTR {}
    if polled[1].revents != 0 { throw .closedHere }
    let expectsPeer = events & Int16(POLLIN | POLLOUT) != 0
    if polled[0].revents != 0, !expectsPeer { throw .peerGone }
    return polled[0].revents != 0
  }
}
