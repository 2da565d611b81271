import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireExport
import QuireHTTP
import QuirePagination

/// `quire sync`: exports the listings of a file, each into its destination, parents before
/// children.
struct SyncCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    _superCommandName: "quire",
    abstract: "Keep copies of many listings in step, by a file that describes them.",
    discussion: """
      The same command again goes on where it was stopped, however it was; once all listings are \
      complete, it begins another round. Run it from cron. With --state postgres://… it runs on as many \
      machines as start it, and any of them may die.
      """)

  @Argument(
    help: "The file, of YAML or JSON.", completion: .file(extensions: ["yaml", "yml", "json"]))
  var file: String?

  @Flag(help: "Say what would be done, and request nothing.")
  var plan = false

  @Flag(help: "Say what each listing holds, when it ran, and what stands in its way.")
  var status = false

  @Flag(help: "Begin anew: the first commit of each listing takes away what its destination holds.")
  var restart = false

  @Option(help: ArgumentHelp("Only this listing; may be repeated.", valueName: "listing"))
  var only: [String] = []

  @Option(
    help:
      "Send so many requests to one server at a time, for several listings and for several parents of one. Default: 1."
  )
  var parallel: Int?

  @Option(
    help: ArgumentHelp(
      "What is known between runs: a file, or postgres://… for several machines.",
      valueName: "place"))
  var state: String?

  @Option(
    help: ArgumentHelp(
      "With --state postgres://…: how long a machine that is not heard of keeps its work. Default: 30s.",
      valueName: "time"))
  var lease: String?

  @Flag(help: "Print the JSON Schema of the file.")
  var schema = false

  @Option(help: "text or json: how progress is told on standard error.")
  var log: LogFormat = .text

  func run() async throws {
    if schema { return print(SyncMembers.schema) }
    let parallel = try NumberOption.number(parallel, for: "--parallel", atMost: 1024) ?? 1
    let sync = try read(parallel)
    let line = SyncLine(log)
    let shared = try sharedState(sync, line)
    guard shared == nil || parallel == 1 else {
      throw ValidationError(
        "--parallel is for one machine. Several share their work: start the command once more.")
    }
    if plan || status { return try await show(sync, shared) }
    guard let shared else { return try await run(sync, parallel, line) }
    try await run(sync, shared, line)
  }

  /// Reads the file, and checks that it has the listings of `--only`.
  private func read(_ parallel: Int) throws -> SyncFile {
    guard let file else { throw ValidationError("Name the file, such as github.yaml.") }
    let sync: SyncFile
    do {
      sync = try SyncFile(path: file, state: state, parallel: parallel, forRequests: !status)
    } catch let error as SyncFileError {
      throw ValidationError("\(file): \(error)")
    }
    let names = sync.listings.map(\.name)
    if let name = only.first(where: { !names.contains($0) }) {
      throw ValidationError(
        "--only \(name): there is no such listing.\(NearestName.hint(name, in: names))")
    }
    return sync
  }

  /// Prints what `--plan` or `--status` asks for.
  private func show(_ sync: SyncFile, _ shared: SharedSyncState?) async throws {
    if plan { try checkState(of: sync, shared) }
    let snapshot = try await snapshot(of: sync, shared)
    // A run without `--plan` would refuse this too, except on several machines.
    if plan, restart, shared == nil {
      try sync.checkReaders(of: sync.listings(named: only).map(\.name)) { snapshot.record($0) }
    }
    let status = SyncStatus(
      file: sync, snapshot: snapshot,
      isRunning: shared == nil ? FileLock.isHeld(SyncState.lock(of: sync.statePath)) : nil)
    guard plan else { return print(status.table) }
    let refusals = await status.refusals(only: only, restarts: restart)
    print(status.plan(only: only, restarts: restart, refusals: refusals))
    // The exit status of a run without `--plan`.
    if !refusals.isEmpty { throw ExitStatus.failed }
  }

  /// Throws as a run does if it could not keep what it knows, or share it with other machines. A
  /// plan creates nothing, so the lock is taken only where it could not be created.
  private func checkState(of sync: SyncFile, _ shared: SharedSyncState?) throws {
    if let shared {
      _ = try SharedSyncRun(sync, shared, names: only)
      return
    }
    let lock = URL(fileURLWithPath: SyncState.lock(of: sync.statePath))
    if access(lock.deletingLastPathComponent().path, W_OK) != 0 { _ = try Self.lock(sync) }
  }

  /// Returns the state that several machines share; nil for one machine.
  private func sharedState(_ sync: SyncFile, _ line: SyncLine) throws -> SharedSyncState? {
    let time = try lease.map { try DurationOption.duration($0, for: "--lease") } ?? .seconds(30)
    guard time >= .seconds(1) else {
      throw ValidationError("--lease \(lease ?? ""): a machine needs a second to be heard of.")
    }
    guard sync.isShared else {
      guard lease == nil else {
        throw ValidationError(
          "--lease is for several machines: say by --state postgres://… what they share.")
      }
      return nil
    }
    return SharedSyncState(
      sync.statePath, sync: sync.name, leaseTime: time, waits: !plan && !status,
      onWait: { line.tellWait(forState: $0, $1) })
  }

  private func snapshot(of sync: SyncFile, _ shared: SharedSyncState?) async throws -> SyncSnapshot
  {
    let names = sync.listings.map(\.name)
    if let shared { return try await shared.snapshot(of: names) }
    guard FileManager.default.fileExists(atPath: sync.statePath) else { return SyncSnapshot() }
    return try SyncState(sync.statePath).snapshot(of: names)
  }

  /// Works together with other machines.
  private func run(_ sync: SyncFile, _ shared: SharedSyncState, _ line: SyncLine) async throws {
    let run = try SharedSyncRun(sync, shared, names: only)
    if restart {
      guard try await shared.restart(run.listings.map(\.name)) else {
        throw Diagnostics.failure(
          "another machine works on these listings. End it, or wait for it, and begin anew then.")
      }
    }
    let ending = await Interruption.catching {
      try await run.run { line.tell($0) }
    }
    await shared.close()
    try await end(sync, ending.result, ending.signal)
  }

  private func run(_ sync: SyncFile, _ parallel: Int, _ line: SyncLine) async throws {
    let lock = try Self.lock(sync)
    defer { withExtendedLifetime(lock) {} }
    let run = SyncRun(
      file: sync, state: try SyncState(sync.statePath), names: only, restarts: restart,
      parallel: parallel)
    let ending = await Interruption.catching {
      try await run.run { line.tell($0) }
    }
    try await end(sync, ending.result, ending.signal)
  }

  /// Ends the command with the result of a run.
  private func end(
    _ sync: SyncFile, _ result: Result<Bool, any Error>, _ signal: Int32?
  ) async throws {
    if signal != nil { Diagnostics.write("quire: stopped; the same command goes on.") }
    // A refresh token that the server gave is written to its file first.
    await Task.detachedCleanup(ContinuousClock()) { [client = sync.client] in
      await client.settleCredentials()
    }.value
    if let signal { throw ExitStatus.interrupted(signal: signal) }
    if try !result.get() { throw ExitStatus.failed }
  }

  /// Returns the lock that lets only one process at a time run a sync.
  private static func lock(_ sync: SyncFile) throws -> FileClaim {
    do throws(SinkError) {
      return try FileClaim(SyncState.lock(of: sync.statePath)) { other in
        "\(sync.statePath): another sync, \(other), is running. Nothing was requested."
      }
    } catch {
      guard error.code == .inUse else { throw ValidationError(error.message) }
      throw Diagnostics.failure("\(error)")
    }
  }
}
