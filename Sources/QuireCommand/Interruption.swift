import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT and SIGTERM into cancellation, so that a command ends by its own rules.
///
/// The first signal cancels; a second one finds the default action again and ends the process at
/// once.
enum Interruption {
  /// Runs `operation` in a task that the signals cancel.
  ///
  /// Returns its result, and the signal that came, if one did. Errors of the operation pass through
  /// in the result, so that a cancelled one can still say where it stopped.
  static func catching<Success: Sendable>(
    _ operation: @escaping @Sendable () async throws -> Success
  ) async -> (result: Result<Success, any Error>, signal: Int32?) {
    let caught = Mutex<Int32?>(nil)
    let task = Task { try await operation() }
    let sources = [SIGINT, SIGTERM].map { number in
      // The default action would end the process before the source hears of the signal.
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        signal(number, SIG_DFL)
        caught.withLock { $0 = number }
        task.cancel()
      }
      source.resume()
      return source
    }
    let result = await task.result
    for source in sources { source.cancel() }
    return (result, caught.withLock { $0 })
  }
}
