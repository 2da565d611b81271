import FlyingSocks
import Foundation

/// A socket pool that has every socket send at once.
///
/// The server writes a head and a body as two segments. With Nagle's algorithm the second waits for
/// the client's acknowledgement, which the client delays: 40 ms for every page. Accepted sockets
/// inherit the option from the listening one, which waits here first.
struct PromptSocketPool<Base: AsyncSocketPool>: AsyncSocketPool {
  let base: Base

  func prepare() async throws { try await base.prepare() }

  func run() async throws { try await base.run() }

  func suspendSocket(_ socket: Socket, untilReadyFor events: Socket.Events) async throws {
    try? socket.setValue(
      true, for: BoolSocketOption(level: CInt(IPPROTO_TCP), name: TCP_NODELAY))
    try await base.suspendSocket(socket, untilReadyFor: events)
  }
}
