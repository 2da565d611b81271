import CCurl
import Dispatch
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

  /// How the driver sleeps.
  private enum Sleep: Sendable {
    /// In the multi handle, which watches the sockets of transfers too.
    case polling
    /// On the semaphore: to be woken takes a system call on either side, where the multi handle
    /// writes to a socket of its own, and reads that empty.
    case waiting
  }

  private struct State {
    var commands: [Command] = []
    /// Nil if the driver is awake, or was woken since.
    var sleep: Sleep?
    /// Whether there is a driver that reads the commands.
    var isOpen = false
  }

  private let state = Mutex(State())
  /// The address of the multi handle in which the driver sleeps; 0 for none. It is used and freed
  /// only under this lock, which is a separate one so that a driver just woken does not wait for
  /// its waker.
  private let multi = Mutex<UInt>(0)
  private let semaphore = DispatchSemaphore(value: 0)
  private let mail = Atomic<Bool>(false)

  /// Adds a command; returns false if no driver runs, or if it has ended.
  @discardableResult
  func push(_ command: Command) -> Bool {
    let (isAccepted, sleep) = state.withLock { state -> (Bool, Sleep?) in
      guard state.isOpen else { return (false, nil) }
      state.commands.append(command)
      mail.store(true, ordering: .releasing)
      defer { state.sleep = nil }
      return (true, state.sleep)
    }
    switch sleep {
    case nil: break
    case .waiting: semaphore.signal()
    case .polling:
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

  /// Sleeps until the next command; returns at once if there is one.
  func wait() {
    // Each time that the driver falls asleep it is woken exactly once.
    if fallsAsleep(.waiting) { semaphore.wait() }
  }

  /// Sleeps until the next command, or as long as the multi handle has nothing to do, but at most so
  /// many milliseconds; returns at once if there is a command.
  func poll(_ multi: UnsafeMutableRawPointer, for milliseconds: Int) {
    guard fallsAsleep(.polling) else { return }
    curl_multi_poll(multi, nil, 0, Int32(milliseconds), nil)
    state.withLock { $0.sleep = nil }
  }

  private func fallsAsleep(_ sleep: Sleep) -> Bool {
    state.withLock { state in
      guard state.commands.isEmpty else { return false }
      state.sleep = sleep
      return true
    }
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
