import Dispatch
import Glibc
import QuireCore
import QuireTesting
import Synchronization

/// Runs asynchronous code on one thread, in an order that a seed decides.
///
/// Every job that becomes ready on the simulation's thread goes into a queue, from which jobs are
/// drawn at random; jobs of other threads run as usual. So the real actors, tasks and continuations
/// run, and a run can be repeated. One test simulates at a time: such tests run on
/// `SimulationActor`.
package enum Simulation {
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void

  /// The thread that simulates; 0 when none does.
  private static let thread = Atomic<UInt>(0)
  // SAFETY: only the simulating thread touches it, and there is one at a time.
  nonisolated(unsafe) private static var ready: [UnownedJob] = []

  private final class Executor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { Simulation.ready.append(UnownedJob(job)) }
  }

  private static let executor = Executor()

  /// Whether the runtime allows the hook.
  package static let isInstalled: Bool = {
    guard let symbol = dlsym(nil, "swift_task_enqueueGlobal_hook") else { return false }
    symbol.assumingMemoryBound(to: Optional<Hook>.self).pointee = { job, original in
      if Simulation.thread.load(ordering: .acquiring) == UInt(pthread_self()) {
        Simulation.ready.append(job)
      } else {
        original(job)
      }
    }
    return true
  }()

  /// Runs `body` and everything it starts until no job is ready any more. Returns the number of
  /// jobs. Nothing inside may wait for an event from outside.
  package static func run(seed: UInt64, _ body: @escaping @Sendable () async -> Void) -> Int {
    precondition(isInstalled)
    thread.store(UInt(pthread_self()), ordering: .releasing)
    defer { thread.store(0, ordering: .releasing) }
    var random = SeededGenerator(seed: seed)
    Task { await body() }
    var jobs = 0
    while !ready.isEmpty {
      let index = Int.random(in: 0..<ready.count, using: &random)
      let job = ready.remove(at: index)
      job.runSynchronously(on: executor.asUnownedTaskExecutor())
      jobs += 1
    }
    return jobs
  }

  /// Simulates `runs` times with random seeds, and describes the first failure after its seed; nil
  /// if all succeed.
  @SimulationActor package static func firstFlaw(
    in runs: UInt64, _ simulate: (_ seed: UInt64) -> String?
  ) -> String? {
    guard isInstalled else { return "This runtime has no hook for jobs." }
    let base = UInt64.random(in: 0...UInt64.max / 2)
    for seed in base..<base + runs {
      if let flaw = simulate(seed) { return "seed \(seed): \(flaw)" }
    }
    return nil
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
