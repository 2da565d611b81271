import CCurl
import QuireCore
import Synchronization

/// The commands from any thread to the driver, in order, with a wake-up if the driver may be
/// asleep.
///
/// `push` never blocks beyond the few instructions of another push, so a cancellation handler may
/// call it.
final class Mailbox: Sendable {
  enum Command: Sendable {
    case start(WireExchange)
    /// Stop the transfer, if it still runs.
    case cancel(WireExchange)
    /// Go on with a transfer that waited for its reader.
    case resume(WireExchange)
    /// Run a job of a task that has chosen the driver's thread.
    case run(UnownedJob, UnownedTaskExecutor)
    /// End everything, and resume the waiter when that is done.
    case shutDown(Suspension<Void>)
    /// End everything.
    case stop
  }

  private struct State {
    var commands: [Command] = []
    /// Whether the driver sleeps and was not woken since.
    var isAsleep = false
    /// Whether there is a driver that reads the commands.
    var isOpen = false
  }

  private let state = Mutex(State())
  /// The address of the multi handle in which the driver sleeps; 0 for none. It is used and freed
  /// only under this lock, which is a separate one so that a driver just woken does not wait for
  /// its waker.
  private let multi = Mutex<UInt>(0)
  private let mail = Atomic<Bool>(false)

  /// Adds a command; returns false if no driver runs, or if it has ended.
  @discardableResult
  func push(_ command: Command) -> Bool {
    let (isAccepted, mustWake) = state.withLock { state in
      guard state.isOpen else { return (false, false) }
      state.commands.append(command)
      mail.store(true, ordering: .releasing)
      defer { state.isAsleep = false }
      return (true, state.isAsleep)
    }
    if mustWake {
      multi.withLock { multi in
        if let multi = UnsafeMutableRawPointer(bitPattern: multi) { curl_multi_wakeup(multi) }
      }
    }
    return isAccepted
  }

  /// Whether there are commands, at the cost of one load.
  var hasMail: Bool { mail.load(ordering: .acquiring) }

  /// Accepts commands from now on, for a driver that sleeps in the multi handle at this address.
  func open(_ address: UInt) {
    multi.withLock { $0 = address }
    state.withLock { $0.isOpen = true }
  }

  /// Returns all commands since the last call, in order.
  func drain() -> [Command] {
    guard hasMail else { return [] }
    return state.withLock { empty(&$0) }
  }

  /// Returns whether the driver may sleep: from then on a command wakes it.
  func mayFallAsleep() -> Bool {
    state.withLock { state in
      state.isAsleep = state.commands.isEmpty
      return state.isAsleep
    }
  }

  /// Notes that the driver woke, for any reason.
  func wokeUp() {
    state.withLock { $0.isAsleep = false }
  }

  /// Refuses further commands and returns the unread ones; afterwards the handle may be freed.
  func close() -> [Command] {
    let unread = state.withLock { state in
      state.isOpen = false
      return empty(&state)
    }
    multi.withLock { $0 = 0 }
    return unread
  }

  private func empty(_ state: inout State) -> [Command] {
    mail.store(false, ordering: .relaxed)
    defer { state.commands = [] }
    return state.commands
  }
}
