import Glibc

/// A thread of a test server. Its owner has to join it.
struct ServerThread: @unchecked Sendable {
  // SAFETY: a thread's identifier may be used from any thread.
  private let identifier: pthread_t

  private final class Work {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  init(_ run: @escaping @Sendable () -> Void) {
    var identifier = pthread_t()
    let work = Unmanaged.passRetained(Work(run))
    let result = pthread_create(
      &identifier, nil,
      { argument in
        guard let argument else { return nil }
        ServerThread.blockPipeSignal()
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().run()
        return nil
      }, work.toOpaque())
    precondition(result == 0, "pthread_create failed with \(result)")
    self.identifier = identifier
  }

  /// Waits for the thread to end.
  func join() { pthread_join(identifier, nil) }

  /// OpenSSL writes with `write`, which would raise SIGPIPE. The signal is blocked only in this
  /// thread, so that a client under test still has to handle it.
  private static func blockPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }
}
