import Glibc

/// Bytes to and from a peer that never block; a connection waits between attempts.
protocol Wire {
  /// Reads into `buffer`.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> WireAttempt
  /// Writes as much of `bytes` as fits.
  func write(_ bytes: UnsafeRawBufferPointer) -> WireAttempt
  /// Tells the peer in the protocol's own words that no more will be sent, where it has such words.
  func sayGoodbye()
}

/// How one attempt to move bytes went.
enum WireAttempt {
  /// So many bytes were moved, at least one.
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
