/// One thing a `FaultServer` does to a connection. Steps run in order.
///
/// A script that ends without closing the connection leaves it open for the next request.
package enum FaultStep: Sendable {
  /// Sends these bytes at once.
  case write([UInt8])
  /// Sends these bytes in pieces of at most `size`, each in a packet of its own.
  case slices([UInt8], of: Int)
  /// Sends these bytes one at a time, with `pause` between them.
  case drip([UInt8], pause: Duration)
  /// Sends these bytes `times` times, or until the peer has closed.
  case flood([UInt8], times: Int)
  /// Sends these bytes `times` times, counts them in `FaultServer.bytesFlooded`, and reports `mark`
  /// to `FaultServer.reached(_:)` when they could not be sent for a fifth of a second, or were all
  /// sent.
  case floodUntilBlocked([UInt8], times: Int, mark: String)
  /// Reports to `FaultServer.reached(_:)` that the script has come to this step.
  case mark(String)
  /// Waits until the gate opens; if the peer closes first, the script ends.
  case stall(until: StallGate)
  /// Waits until scripts have reached the step `.mark` of this name `times` times in all.
  case stallUntilReached(String, times: Int)
  /// Waits until the peer has closed.
  case hold
  /// Waits until the peer has closed, and then reports it to `FaultServer.reached(_:)`.
  case holdThenMark(String)
  /// Ends the sending direction and waits until the peer has closed.
  case halfClose
  /// Closes properly: close_notify over TLS, then FIN.
  case finish
  /// Closes with FIN only, over TLS without close_notify.
  case closeWithoutNotify
  /// Closes with RST.
  case reset
}

extension FaultStep {
  /// Sends this text at once.
  package static func write(_ text: String) -> FaultStep { .write(Array(text.utf8)) }

  /// Sends a correct response with a Content-Length.
  package static func respond(
    _ body: [UInt8], status: String = "200 OK", headers: [(String, String)] = []
  ) -> FaultStep {
    let fields = headers.map { "\($0): \($1)\r\n" }.joined()
    let head = "HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.count)\r\n\r\n"
    return .write(Array(head.utf8) + body)
  }

  /// Sends a correct response with a Content-Length.
  package static func respond(
    _ body: String, status: String = "200 OK", headers: [(String, String)] = []
  ) -> FaultStep {
    respond(Array(body.utf8), status: status, headers: headers)
  }
}
