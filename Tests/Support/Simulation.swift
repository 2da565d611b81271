import Dispatch
import Glibc
import QuireCore
import QuireTesting
import Synchronization

/// Runs asynchronous code on one thread, in an order that a seed decides.
///
/// Every job that becomes ready on a thread that simulates goes into the queue of its simulation, from which jobs are
/// drawn at random; jobs of other threads run as usual. So the real actors, tasks and continuations
/// run, and a run can be repeated. Tests that simulate run on `SimulationActor`.
package enum Simulation {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The jobs of one simulation that are ready.
  // SAFETY: only the thread that simulates touches them: it alone has it for its queue, and runs their jobs.
  private final class Queue: @unchecked Sendable, TaskExecutor {
    var ready: [UnownedJob] = []

    func enqueue(_ job: consuming ExecutorJob) { ready.append(UnownedJob(job)) }

    /// That of this thread; nil where it does not simulate.
    static var current: Queue? {
      get {
        pthread_getspecific(key).map { Unmanaged<Queue>.fromOpaque($0).takeUnretainedValue() }
      }
      set { pthread_setspecific(key, newValue.map { Unmanaged.passUnretained($0).toOpaque() }) }
    }

    private static let key = {
      var key = pthread_key_t()
      pthread_key_create(&key, nil)
      return key
    }()
  }

  /// Whether the runtime allows the hook.
  package static let isInstalled: Bool = {
    guard let symbol = dlsym(nil, "swift_task_enqueueGlobal_hook") else { return false }
    symbol.assumingMemoryBound(to: Optional<Hook>.self).pointee = { job, original in
      if let queue = Queue.current { queue.ready.append(job) } else { original(job) }
    }
    return true
  }()

  /// Runs `body` and everything it starts until no job is ready any more. Returns the number of
  /// jobs. Nothing inside may wait for an event from outside.
  package static func run(seed: UInt64, _ body: @escaping @Sendable () async -> Void) -> Int {
    precondition(isInstalled)
    let queue = Queue()
    Queue.current = queue
    defer { Queue.current = nil }
    var random = SeededGenerator(seed: seed)
    Task { await body() }
    var jobs = 0
    while !queue.ready.isEmpty {
      let index = Int.random(in: 0..<queue.ready.count, using: &random)
      let job = queue.ready.remove(at: index)
      job.runSynchronously(on: queue.asUnownedTaskExecutor())
      jobs += 1
    }
    return jobs
  }

  /// Simulates `runs` times with random seeds, on two threads, and describes a failure after its seed; nil
  /// if all succeed.
  @SimulationActor package static func firstFlaw(
    in runs: UInt64, _ simulate: @Sendable (_ seed: UInt64) -> String?
  ) -> String? {
    guard isInstalled else { return "This runtime has no hook for jobs." }
    let base = UInt64.random(in: 0...UInt64.max / 2)
    let flaw = Mutex<String?>(nil)
    DispatchQueue.concurrentPerform(iterations: 2) { thread in
      for seed in stride(from: base + UInt64(thread), to: base + runs, by: 2) {
        if flaw.withLock({ $0 != nil }) { return }
        if let found = simulate(seed) { flaw.withLock { $0 = "seed \(seed): \(found)" } }
      }
    }
    return flaw.withLock { $0 }
  }
}

/// Runs one simulating test at a time.
@globalActor package actor SimulationActor {
  package static let shared = SimulationActor()

  /// A thread beside those of all other tests: of these a small machine has two, and a simulation gives none back
  /// before it is done.
  private final class Executor: SerialExecutor {
    private let queue = DispatchQueue(label: "Simulation")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  private static let executor = Executor()

  nonisolated package var unownedExecutor: UnownedSerialExecutor {
    Self.executor.asUnownedSerialExecutor()
  }
}
