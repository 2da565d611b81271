import ArgumentParser
import Foundation
import Quire
import QuireCore
import QuireExport
import QuirePagination

/// `quire sync`: the listings of a file, each into its destination, parents before children.
struct SyncCommand: AsyncParsableCommand {
  enum Log: String, CaseIterable, ExpressibleByArgument { case text, json }

  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Keep copies of many listings in step, by a file that describes them.",
    discussion: """
      The same command again goes on where it was stopped, however it was; once all listings are \
      complete, it begins another round. Run it from cron.
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

  @Flag(help: "Print the JSON Schema of the file.")
  var schema = false

  @Option(help: "text or json: how progress is told on standard error.")
  var log: Log = .text

  func run() async throws {
    if schema {
      print(SyncMember.schema)
      return
    }
    guard let file else { throw ValidationError("Name the file, such as github.yaml.") }
    let sync: SyncFile
    do {
      sync = try SyncFile(path: file, forRequests: !plan && !status)
    } catch let error as SyncFileError {
      throw ValidationError("\(file): \(error)")
    }
    let names = sync.listings.map(\.name)
    if let name = only.first(where: { !names.contains($0) }) {
      throw ValidationError(
        "--only \(name): there is no such listing.\(NearestName.hint(name, in: names))")
    }
    if plan { return print(try SyncStatus(sync).plan(only: only)) }
    if status { return print(try SyncStatus(sync).table) }
    try await run(sync)
  }

  private func run(_ sync: SyncFile) async throws {
    let lock = try SyncLock(sync.statePath)
    defer { withExtendedLifetime(lock) {} }
    let run = SyncRun(
      file: sync, state: try SyncState(sync.statePath), names: only, restarts: restart, lookAhead: 1
    )
    let line = SyncLine(log)
    let (result, signal) = await Interruption.catching {
      try await run.run { line.tell($0) }
    }
    if let signal {
      Diagnostics.write("quire: stopped; the same command goes on.")
      throw ExitStatus.interrupted(signal: signal)
    }
    if try !result.get() { throw ExitStatus.failed }
  }
}

/// The right to run a sync, which one process has at a time.
private final class SyncLock {
  private let descriptor: Int32

  init(_ statePath: String) throws {
    let path = statePath + "-lock"
    descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else {
      throw ValidationError("\(path) cannot be written: \(String(cString: strerror(errno))).")
    }
    if case .held(let process) = FileLock.take(descriptor) {
      Diagnostics.write(
        "quire: \(statePath): another sync, process \(process), is running. Nothing was requested.")
      throw ExitStatus.failed
    }
  }

  deinit { close(descriptor) }
}
