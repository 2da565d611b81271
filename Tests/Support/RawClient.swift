import Glibc

/// A TCP client that sends any bytes and returns exactly the bytes received. Its calls block.
package final class RawClient: Sendable {
  private let descriptor: Int32

  /// How a connection ended, as seen by the client.
  package enum End: Sendable, Hashable {
    case finished
    case reset
  }

  package init(address: String = "127.0.0.1", port: Int) throws {
    descriptor = try Listener.connect(to: address, port: port)
    _ = fcntl(descriptor, F_SETFL, 0)
  }

  deinit { close(descriptor) }

  /// Sends the text.
  package func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard count == bytes.count else { throw POSIXError("send") }
  }

  /// Reads at least one byte and at most one packet; nil at the end.
  package func receive() throws -> [UInt8]? {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw POSIXError("recv") }
    return count == 0 ? nil : Array(buffer[..<count])
  }

  /// Reads until `count` bytes have come.
  package func receive(count: Int) throws -> String {
    var bytes: [UInt8] = []
    while bytes.count < count, let more = try receive() { bytes += more }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Reads until the server closes.
  package func receiveAll() -> (text: String, end: End) {
    var bytes: [UInt8] = []
    do {
      while let more = try receive() { bytes += more }
      return (String(decoding: bytes, as: UTF8.self), .finished)
    } catch {
      return (String(decoding: bytes, as: UTF8.self), .reset)
    }
  }
}
