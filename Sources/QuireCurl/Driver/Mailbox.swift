import CCurl
import QuireCore
import Synchronization

/// The way from any thread to the driver: commands in order, and a wake-up when it may be asleep.
///
/// `push` never blocks beyond the few instructions of another push, so a cancellation handler may
/// call it.
final class Mailbox: Sendable {
  enum Command: Sendable {
    case start(Exchange)
    /// Stop the transfer, if it still runs.
    case cancel(Exchange)
    /// End everything, and say when that is done.
    case shutDown(Suspension<Void>)
    /// End everything.
    case stop
  }

  private struct State {
    var commands: [Command] = []
    /// The driver's multi handle while it may sleep in `curl_multi_poll`. It is only used under the
    /// lock, and taken away before it is freed.
    var multi: UnsafeMutableRawPointer?
    var isClosed = false
  }

  private let state = Mutex(State())

  /// Hands over a command; false when there is nobody left to read it.
  @discardableResult
  func push(_ command: Command) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      let driverMayNotKnow = state.commands.isEmpty
      state.commands.append(command)
      if driverMayNotKnow, let multi = state.multi { curl_multi_wakeup(multi) }
      return true
    }
  }

  /// From now on the driver sleeps in this handle.
  func open(_ multi: UnsafeMutableRawPointer) {
    state.withLock { [address = UInt(bitPattern: multi)] state in
      state.multi = UnsafeMutableRawPointer(bitPattern: address)
    }
  }

  /// All commands since the last call, in order.
  func drain() -> [Command] {
    state.withLock { state in
      if state.commands.isEmpty { return [] }
      defer { state.commands = [] }
      return state.commands
    }
  }

  /// Refuses further commands and returns the unread ones.
  func close() -> [Command] {
    state.withLock { state in
      state.isClosed = true
      state.multi = nil
      defer { state.commands = [] }
      return state.commands
    }
  }
}
