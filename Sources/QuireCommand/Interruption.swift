import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT and SIGTERM into cancellation, so that a command ends by its own rules.
///
/// The first signal cancels; a second one finds the default action again and ends the process at
/// once.
enum Interruption {
  /// The handler may do nothing but write, so it writes each signal's number here, and a task that
  /// may do everything reads it.
  private static let numbers = Pipe()
  private static let output = Atomic<Int32>(-1)

  /// Runs `operation` in a task that the signals cancel.
  ///
  /// Returns its result, and the signal that came, if one did. Errors of the operation pass through
  /// in the result, so that a cancelled one can still say where it stopped.
  static func catching<Success: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Success
  ) async -> (result: Result<Success, any Error>, signal: Int32?) {
    let state = Mutex(State<Success>())
    output.store(numbers.fileHandleForWriting.fileDescriptor, ordering: .sequentiallyConsistent)
    let input = numbers.fileHandleForReading.fileDescriptor
    let source = DispatchSource.makeReadSource(fileDescriptor: input, queue: .global())
    source.setEventHandler {
      var number: UInt8 = 0
      guard read(input, &number, 1) == 1 else { return }
      signal(Int32(number), SIG_DFL)
      let task = state.withLock { state in
        state.caught = Int32(number)
        return state.task
      }
      task?.cancel()
    }
    source.resume()
    for number in [SIGINT, SIGTERM] { signal(number, note) }
    // Nothing begins before somebody listens, and a signal may come before there is a task to cancel.
    let task = Task { try await operation() }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.caught != nil
    }
    if isCancelled { task.cancel() }
    let result = await task.result
    for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
    source.cancel()
    return (result, state.withLock(\.caught))
  }

  private struct State<Success: Sendable> {
    var caught: Int32?
    var task: Task<Success, any Error>?
  }

  /// The handler: only what is safe in one (POSIX.1-2017, 2.4.3).
  private static let note: @convention(c) (Int32) -> Void = { number in
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(output.load(ordering: .sequentiallyConsistent), &byte, 1)
    errno = before
  }
}
