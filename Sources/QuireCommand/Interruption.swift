import ArgumentParser
import Dispatch
import Foundation
import QuireCore
import Synchronization

/// Turns SIGHUP, SIGINT and SIGTERM into cancellation, so that a command can end in order.
///
/// The first signal cancels. After it, each of these signals has its default action again and ends
/// the process at once. Signals that the parent process ignores, as `nohup` does, stay ignored.
enum Interruption {
  /// The pipe from the signal handler, which may do little but write, to the dispatch source that
  /// cancels the task. Each byte is the number of a signal.
  private static let numbers = Pipe()
  private static let output = Atomic<Int32>(-1)
  private static let first = Atomic<Int32>(0)
  /// The signals that have the handler, one bit each.
  private static let handled = Atomic<UInt32>(0)

  /// The first signal that was received; nil if none was.
  static var caught: Int32? {
    let number = first.load(ordering: .sequentiallyConsistent)
    return number == 0 ? nil : number
  }

  /// Runs `operation` in a task that signals cancel.
  ///
  /// Returns its result, and the signal if there was one. Errors are in the result, so that a
  /// cancelled operation can report where it stopped. With `untilExit` the process ends after the
  /// operation, and the handlers stay: a later signal changes nothing.
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
    // Begins only once signals are watched. A signal may arrive before the task is stored.
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

  /// Restores the default action of the signals in `mask`.
  private static func restore(_ mask: UInt32) {
    if mask & 1 << UInt32(SIGHUP) != 0 { signal(SIGHUP, SIG_DFL) }
    if mask & 1 << UInt32(SIGINT) != 0 { signal(SIGINT, SIG_DFL) }
    if mask & 1 << UInt32(SIGTERM) != 0 { signal(SIGTERM, SIG_DFL) }
  }

  /// The signal handler. It calls only async-signal-safe functions (POSIX.1-2017, 2.4.3).
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

extension AsyncParsableCommand {
  /// Runs `operation` in a task that signals cancel, and returns its result.
  ///
  /// Throws the exit status after a signal, and after a `PageError`, which is written in the words
  /// of this command.
  func interruptible<Success: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Success
  ) async throws -> Success {
    let (result, signal) = await Interruption.catching(operation)
    if let signal { throw ExitStatus.interrupted(signal: signal) }
    do {
      return try result.get()
    } catch let error as PageError {
      throw Diagnostics.failure(error, of: Self.self)
    }
  }
}
