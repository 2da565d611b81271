import COpenSSL
import Glibc

/// TLS over TCP, the server's side.
final class TLSWire: Wire {
  private let session: OpaquePointer

  init(_ context: TLSContext, descriptor: Int32) {
    session = context.makeSession()
    SSL_set_fd(session, descriptor)
    SSL_set_accept_state(session)
  }

  deinit { SSL_free(session) }

  /// One step of the handshake; moved(1) once it is complete.
  func handshake() -> WireAttempt {
    attempt { SSL_do_handshake(session) }
  }

  /// OpenSSL's message about the last failure.
  static func lastFailure() -> String {
    var text = [CChar](repeating: 0, count: 256)
    ERR_error_string_n(ERR_get_error(), &text, text.count)
    return text.withUnsafeBufferPointer { buffer in
      buffer.baseAddress.map { String(cString: $0) } ?? ""
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer) -> WireAttempt {
    attempt { SSL_read(session, buffer.baseAddress, Int32(buffer.count)) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> WireAttempt {
    attempt { SSL_write(session, bytes.baseAddress, Int32(clamping: bytes.count)) }
  }

  func sayGoodbye() { SSL_shutdown(session) }

  private func attempt(_ operation: () -> Int32) -> WireAttempt {
    ERR_clear_error()
    let result = operation()
    if result > 0 { return .moved(Int(result)) }
    switch SSL_get_error(session, result) {
    case SSL_ERROR_WANT_READ: return .blocked(Int16(POLLIN))
    case SSL_ERROR_WANT_WRITE: return .blocked(Int16(POLLOUT))
    default: return .gone
    }
  }
}
