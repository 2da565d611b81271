import Glibc
import Synchronization

extension FaultServer {
  /// The state that the threads of a server share.
  final class Core: Sendable {
    let tls: TLSContext?
    let keepsRequests: Bool
    let onAccept: OnAccept
    let respond: Respond
    let log = ServerLog()
    /// Opens when no more connections are to be accepted.
    let accepting = StallGate()
    /// Opens when everything is to end.
    let stopping = StallGate()

    private struct Threads {
      var running: [Int: ServerThread] = [:]
      var ended: [Int] = []
      /// Descriptors that stay open until the end.
      var kept: [Int32] = []
    }

    private let threads = Mutex(Threads())
    /// Actions by the number of received requests at which they run.
    private let actions = Mutex<[Int: @Sendable () -> Void]>([:])

    init(
      tls: TLSContext?, keepsRequests: Bool, onAccept: @escaping OnAccept,
      respond: @escaping Respond
    ) {
      self.tls = tls
      self.keepsRequests = keepsRequests
      self.onAccept = onAccept
      self.respond = respond
    }

    /// Accepts until `accepting` opens, and gives each connection a thread.
    func acceptAll(from listener: Listener) {
      var polled = [
        pollfd(fd: listener.descriptor, events: Int16(POLLIN), revents: 0),
        pollfd(fd: accepting.descriptor, events: Int16(POLLIN), revents: 0),
      ]
      while true {
        if poll(&polled, nfds_t(polled.count), -1) < 0 { continue }
        if polled[1].revents != 0 { return }
        if let descriptor = listener.accept() { start(descriptor) }
        for thread in takeEnded() { thread.join() }
      }
    }

    /// Closes `descriptor` only at the end.
    func keep(_ descriptor: Int32) { threads.withLock { $0.kept.append(descriptor) } }

    /// Adds a request to the log and counts it.
    func record(_ request: ReceivedRequest) -> ReceivedRequest {
      let (request, received) = log.record { [keepsRequests] events in
        var request = request
        events.requestsByPath[request.path, default: 0] += 1
        request.ordinal = events.requestsByPath[request.path, default: 0]
        events.received += 1
        if keepsRequests { events.requests.append(request) }
        return (request, events.received)
      }
      actions.withLock { $0.removeValue(forKey: received) }?()
      return request
    }

    /// Runs `action` once `count` more requests have been received; returns its number.
    func act(after count: Int, _ action: @escaping @Sendable () -> Void) -> Int {
      log.record { events in
        actions.withLock { $0[events.received + count] = action }
        return events.received + count
      }
    }

    func forget(action number: Int) { actions.withLock { $0[number] = nil } }

    /// Records that a script has reached a mark.
    func mark(_ name: String) { log.record { $0.marks[name, default: 0] += 1 } }

    /// A gate that opens when scripts have reached a mark `times` times in all.
    func gate(of name: String, times: Int) -> StallGate {
      let gate = StallGate()
      Task { [log] in
        try await log.wait { $0.marks[name, default: 0] >= times }
        gate.open()
      }
      return gate
    }

    /// Joins the threads of all connections, which `stopping` ends.
    func finish() {
      let (running, kept) = threads.withLock { threads in
        defer { threads = Threads() }
        return (Array(threads.running.values), threads.kept)
      }
      for thread in running { thread.join() }
      for descriptor in kept { close(descriptor) }
    }

    private func start(_ descriptor: Int32) {
      let number = log.record { events in
        events.accepted += 1
        return events.accepted
      }
      threads.withLock {
        $0.running[number] = ServerThread { [self] in
          var connection = FaultConnection(descriptor: descriptor, number: number, server: self)
          record(connection.run())
          threads.withLock { $0.ended.append(number) }
        }
      }
    }

    private func record(_ end: FaultConnection.End) {
      log.record { events in
        switch end {
        case .peerGone: events.lostPeers += 1
        case .closedHere: events.closedHere += 1
        case .handshakeFailed(let reason): events.failedHandshakes.append(reason)
        }
      }
    }

    /// Removes and returns the finished threads, so that a long test keeps only the live ones.
    private func takeEnded() -> [ServerThread] {
      threads.withLock { threads in
        defer { threads.ended = [] }
        return threads.ended.compactMap { threads.running.removeValue(forKey: $0) }
      }
    }
  }
}
