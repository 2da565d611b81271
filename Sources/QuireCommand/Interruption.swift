import Dispatch
import Foundation
import Synchronization

/// Turns SIGHUP, SIGINT and SIGTERM into cancellation, so that a command ends by its own rules.
///
/// The first signal cancels; after it every one of them has its default action again and ends the
/// process at once. One that the parent process had ignored, as `nohup` does, stays so.
enum Interruption {
  /// The handler may do nothing but write, so it writes each signal's number here, and a task that
  /// may do everything reads it.
  private static let numbers = Pipe()
  private static let output = Atomic<Int32>(-1)
  private static let first = Atomic<Int32>(0)
  /// The signals with our handler, a bit for each number.
  private static let handled = Atomic<UInt32>(0)

  /// The signal that came; nil where none did.
  static var caught: Int32? {
    let number = first.load(ordering: .sequentiallyConsistent)
    return number == 0 ? nil : number
  }

  /// Runs `operation` in a task that the signals cancel.
  ///
  /// Returns its result, and the signal that came, if one did. Errors of the operation pass through
  /// in the result, so that a cancelled one can still say where it stopped. With `untilExit` nothing
  /// comes after the operation, and a signal that finds it over changes nothing.
  static func catching<Success: Sendable>(
    untilExit: Bool = false, _ operation: @escaping @Sendable () async throws -> Success
  ) async -> (result: Result<Success, any Error>, signal: Int32?) {
    let state = Mutex(State<Success>())
    output.store(numbers.fileHandleForWriting.fileDescriptor, ordering: .sequentiallyConsistent)
    let input = numbers.fileHandleForReading.fileDescriptor
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: .global())
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(input, &number, 1) == 1 else { return }
      let task = state.withLock { state in
        state.isCaught = true
        return state.task
      }
      task?.cancel()
    }
    source.resume()
    install()
    // Nothing begins before signals are watched, and a signal may come before there is a task to cancel.
    let task = Task { try await operation() }
    let isCaught = state.withLock { state in
      state.task = task
      return state.isCaught
    }
    if isCaught { task.cancel() }
    let result = await task.result
    if !untilExit { restore(handled.load(ordering: .sequentiallyConsistent)) }
    source.cancel()
    return (result, caught)
  }

  private struct State<Success: Sendable> {
    var isCaught = false
    var task: Task<Success, any Error>?
  }

  private static func install() {
    let installed = [SIGHUP, SIGINT, SIGTERM].filter { number in
      var action = sigaction()
      guard sigaction(number, nil, &action) == 0 else { return false }
      return !isIgnored(action)
    }
    handled.store(
      installed.reduce(0) { $0 | 1 << UInt32($1) }, ordering: .sequentiallyConsistent)
    for number in installed { signal(number, note) }
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  /// Gives back their default action to the signals in `mask`.
  private static func restore(_ mask: UInt32) {
    if mask & 1 << UInt32(SIGHUP) != 0 { signal(SIGHUP, SIG_DFL) }
    if mask & 1 << UInt32(SIGINT) != 0 { signal(SIGINT, SIG_DFL) }
    if mask & 1 << UInt32(SIGTERM) != 0 { signal(SIGTERM, SIG_DFL) }
  }

  /// The handler: only what is safe in one (POSIX.1-2017, 2.4.3).
  private static let note: @convention(c) (Int32) -> Void = { number in
    let before = errno
    restore(handled.load(ordering: .sequentiallyConsistent))
    _ = first.compareExchange(
      expected: 0, desired: number, ordering: .sequentiallyConsistent)
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(output.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = before
  }
}
