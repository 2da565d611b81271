import CCurl
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A named thread of our own, because libcurl blocks its thread, and Swift's pool must not be
/// blocked.
final class DriverThread: Sendable {
  private let thread: Mutex<pthread_t?>

  private final class Work: Sendable {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      self.body = body
    }
  }

  /// Starts a thread that runs `body` once; nil if the system refuses one. Linux shows at most 15
  /// bytes of `name`.
  init?(name: String, body: @escaping @Sendable () -> Void) {
    let work = Unmanaged.passRetained(Work(name: name, body: body))
    #if canImport(Darwin)
      var created: pthread_t?
      let status = pthread_create(
        &created, nil,
        { context in
          let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
          quire_name_thread(work.name)
          work.body()
          return nil
        }, work.toOpaque())
    #else
      var created = pthread_t()
      let status = pthread_create(
        &created, nil,
        { context in
          guard let context else { return nil }
          let work = Unmanaged<Work>.fromOpaque(context).takeRetainedValue()
          quire_name_thread(work.name)
          work.body()
          return nil
        }, work.toOpaque())
    #endif
    guard status == 0 else {
      work.release()
      return nil
    }
    thread = Mutex(created)
  }

  /// Waits until the thread has ended; call it only if the thread is about to end. Later calls do
  /// nothing.
  func join() {
    if let ended = take() { pthread_join(ended, nil) }
  }

  /// Lets the thread run without being joined, unless it was.
  func detach() {
    if let running = take() { pthread_detach(running) }
  }

  private func take() -> pthread_t? {
    thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
  }
}
