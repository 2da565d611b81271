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

/// Decides whether an idle driver looks for another request for a moment before it sleeps.
///
/// A reader that asks for its next page at once then finds the driver awake, which saves waking a
/// thread: about a quarter of a small page's time. Slower readers cost nothing, because two
/// failures in a row end the looking until a request comes soon again.
struct IdleSpin {
  /// How long to look.
  static let length = Duration.microseconds(50)

  private var failures = 0
  private var skipped = 0

  /// Whether to look now. After two failures in a row, only every sixteenth idle moment is tried.
  mutating func isWorthwhile() -> Bool {
    if failures < 2 { return true }
    skipped += 1
    return skipped % 16 == 0
  }

  /// Notes whether looking found a request.
  mutating func ended(withMail found: Bool) {
    failures = found ? 0 : failures + 1
  }
}

/// The time of the driver's present round: read once, and used by every callback in it.
final class RoundClock {
  // Unchecked: it is set between the rounds alone, and every line of every head reads it.
  @exclusivity(unchecked) private(set) var now = ContinuousClock.now

  /// Begins a new round.
  func tick() { now = .now }
}
