import Glibc

/// Reads from and writes to a peer without blocking; a connection waits between attempts.
protocol Wire {
  /// Reads into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> WireAttempt
  /// Writes as much of `bytes` as fits.
  func write(_ bytes: UnsafeRawBufferPointer) -> WireAttempt
  /// Tells the peer that no more will be sent, if the protocol has a message for that.
  func sayGoodbye()
}

/// The result of one attempt to read or write.
enum WireAttempt {
  /// The number of bytes moved, at least one.
  case moved(Int)
  /// Try again when `poll` reports these events.
  case blocked(Int16)
  /// The peer closed or reset the connection.
  case gone
}

/// Plain TCP.
struct PlainWire: Wire {
  let descriptor: Int32

  func read(into buffer: UnsafeMutableRawBufferPointer) -> WireAttempt {
    attempt(recv(descriptor, buffer.baseAddress, buffer.count, 0), Int16(POLLIN))
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> WireAttempt {
    let flags = Int32(MSG_NOSIGNAL)
    return attempt(send(descriptor, bytes.baseAddress, bytes.count, flags), Int16(POLLOUT))
  }

  func sayGoodbye() {}

  private func attempt(_ count: Int, _ events: Int16) -> WireAttempt {
    if count > 0 { return .moved(count) }
    return count < 0 && (errno == EAGAIN || errno == EINTR) ? .blocked(events) : .gone
  }
}
