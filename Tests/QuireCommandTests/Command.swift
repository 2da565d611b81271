import Foundation
import Synchronization
import TestSupport

/// A program of this package, run as a process of its own.
struct Command {
  /// The folder that holds what was built, the tests themselves among it.
  private static let folder = URL(fileURLWithPath: "/proc/self/exe")
    .resolvingSymlinksInPath().deletingLastPathComponent()

  /// Whether `make tsan` runs the tests.
  static let hasThreadSanitizer = ProcessInfo.processInfo.environment["TSAN_OPTIONS"] != nil

  private let process = Process()
  private let standardOutput = TemporaryFile()
  private let standardError = TemporaryFile()
  private let ended = AsyncStream<Void>.makeStream()

  /// What a process left behind.
  struct Ending {
    /// As a shell counts: 128 and the signal's number for a process that died of one.
    let status: Int32
    /// Whether it died of a signal.
    let wasKilled: Bool
    let output: String
    let errors: String

    /// The last line on stderr.
    var report: String { errors.split(separator: "\n").last.map(String.init) ?? "" }
    /// What stderr says to give `--from`, as a shell reads it.
    var resumption: String? {
      errors.split(separator: "\n").first { $0.hasPrefix("quire: to resume, ") }
        .flatMap { $0.components(separatedBy: " --from ").last }
    }
    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Starts `program` with `input` on its standard input, or in a terminal.
  init(
    _ arguments: [String], of program: String = "quire", environment: [String: String] = [:],
    input: FileHandle = .nullDevice, terminal: PseudoTerminal? = nil
  ) throws {
    process.executableURL =
      program.hasPrefix("/")
      ? URL(fileURLWithPath: program) : Self.folder.appendingPathComponent(program)
    process.arguments = arguments
    // Swift's tool for backtraces of crashes can hang, and holds what tells of the process's end.
    process.environment = ProcessInfo.processInfo.environment
      .merging(["SWIFT_BACKTRACE": "enable=no", "XDG_STATE_HOME": NSTemporaryDirectory()]) { $1 }
      .merging(environment) { $1 }
    process.standardInput = terminal?.follower ?? input
    let (output, errors) = (try standardOutput.writing(), try standardError.writing())
    // Foundation keeps the process, and with it the files, for ever.
    defer {
      try? output.close()
      try? errors.close()
    }
    process.standardOutput = terminal?.follower ?? output
    process.standardError = errors
    let continuation = ended.continuation
    process.terminationHandler = { _ in continuation.finish() }
    try process.run()
  }

  /// Starts a shell script in which `$quire` is the tool.
  static func shell(_ script: String) throws -> Command {
    let quire = folder.appendingPathComponent("quire").path
    // A child inherits what the thread that starts it has blocked, which is no terminal's way.
    return try Command(
      ["--default-signal=HUP,INT,TERM", "bash", "-c", script], of: "/usr/bin/env",
      environment: ["quire": quire])
  }

  /// Runs a script in which no file grows beyond a number of KiB, as on a full disk; the signal that
  /// comes with such a limit is ignored.
  static func shell(_ script: String, maximumFileSize kibibytes: Int) throws -> Command {
    // ThreadSanitizer begins by writing a larger file to this folder, and traps if it is cut.
    try shell("trap '' XFSZ; ulimit -f \(kibibytes); export TMPDIR=/nowhere; \(script)")
  }

  /// Runs a program to its end.
  static func run(
    _ program: String = "quire", _ arguments: String..., environment: [String: String] = [:]
  ) async throws -> Ending {
    try await Command(arguments, of: program, environment: environment).end()
  }

  /// Runs `quire` to its end.
  static func quire(
    _ arguments: [String], environment: [String: String] = [:]
  ) async throws -> Ending {
    try await Command(arguments, environment: environment).end()
  }

  /// The first line of the output, as soon as it is there.
  func firstLine() async -> String { await standardOutput.line() }

  /// Returns once a line on stderr is as wanted.
  func line(where condition: @escaping @Sendable (String) -> Bool) async {
    await standardError.line(where: condition)
  }

  var processIdentifier: Int32 { process.processIdentifier }

  func send(signal: Int32) { kill(process.processIdentifier, signal) }

  /// Waits for the end, which is a signal's once a server has got so many requests more, unless it comes before.
  func end(by signal: Int32, after count: Int, at server: FaultServer) async throws -> Ending {
    try await server.acting(after: count) {
      if process.isRunning { send(signal: signal) }
    } during: {
      try await end()
    }
  }

  /// Waits for the end.
  func end() async throws -> Ending {
    for await _ in ended.stream {}
    if process.isRunning {
      // The test was cancelled, by its time limit for example.
      send(signal: SIGKILL)
      process.waitUntilExit()
    }
    let wasKilled = process.terminationReason == .uncaughtSignal
    return Ending(
      status: process.terminationStatus + (wasKilled ? 128 : 0), wasKilled: wasKilled,
      output: try standardOutput.text(),
      errors: try standardError.text())
  }
}

/// A folder that is gone when nobody needs it any more.
final class TemporaryFolder: Sendable {
  private let url = FileManager.default.temporaryDirectory.appending(path: "quire-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func path(_ name: String) -> String { url.appending(path: name).path }
}

/// A file that is gone when nobody needs it any more.
final class TemporaryFile: Sendable {
  let path: String

  init(_ content: String? = nil) {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("quire-test-\(UUID().uuidString)").path
    if let content { create(Data(content.utf8)) }
  }

  private func create(_ content: Data) {
    precondition(FileManager.default.createFile(atPath: path, contents: content))
  }

  deinit {
    try? FileManager.default.removeItem(atPath: path)
    try? FileManager.default.removeItem(atPath: path + ".checkpoint")
  }

  func writing() throws -> FileHandle {
    create(Data())
    return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
  }

  func text() throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  /// The first whole line that is as wanted, as soon as it is there; empty where the test was
  /// cancelled before.
  @discardableResult
  func line(where condition: @escaping @Sendable (String) -> Bool = { _ in true }) async -> String {
    await KernelWait.run { [self] wait in
      let watch = inotify_init1(Int32(IN_CLOEXEC))
      defer { close(watch) }
      inotify_add_watch(watch, path, UInt32(IN_MODIFY))
      while true {
        let whole = (try? text())?.split(separator: "\n", omittingEmptySubsequences: false)
          .dropLast()
        if let line = whole?.map(String.init).first(where: condition) { return line }
        guard wait.forInput(of: watch) else { return "" }
        var event = [UInt8](repeating: 0, count: 4096)
        _ = read(watch, &event, event.count)
      }
    }
  }

  /// Returns once the file is there, or the test was cancelled.
  func waitUntilThere() async {
    await KernelWait.run { [path] wait in
      let watch = inotify_init1(Int32(IN_CLOEXEC))
      defer { close(watch) }
      let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
      inotify_add_watch(watch, folder, UInt32(IN_CREATE | IN_MOVED_TO))
      while !FileManager.default.fileExists(atPath: path), wait.forInput(of: watch) {
        var event = [UInt8](repeating: 0, count: 4096)
        _ = read(watch, &event, event.count)
      }
    }
  }

  func lines() throws -> [String] { try text().split(separator: "\n").map(String.init) }
}

/// A pipe with a name, open for reading and never read.
final class NamedPipe: Sendable {
  let path = TemporaryFile().path
  private let descriptor: Int32

  init() throws {
    guard mkfifo(path, 0o600) == 0 else { throw POSIXError(.EIO) }
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
  }

  deinit {
    close(descriptor)
    unlink(path)
  }

  /// Returns once there is something to read, or the test was cancelled.
  func waitForBytes() async {
    await KernelWait.run { [descriptor] in _ = $0.forInput(of: descriptor) }
  }
}

/// A wait for the kernel's word, on a thread of its own: the tests' threads are few. It ends with its test,
/// by the time limit of that for example.
struct KernelWait {
  private let isCancelled: @Sendable () -> Bool

  static func run<Result: Sendable>(
    _ operation: @escaping @Sendable (KernelWait) -> Result
  ) async -> Result {
    let cancelled = Cancellation()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        DispatchQueue.global().async {
          continuation.resume(
            returning: operation(KernelWait { cancelled.flag.load(ordering: .relaxed) }))
        }
      }
    } onCancel: {
      cancelled.flag.store(true, ordering: .relaxed)
    }
  }

  /// Whether there is something to read; false where the test was cancelled before.
  func forInput(of descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while poll(&entry, 1, 200) <= 0 { if isCancelled() { return false } }
    return true
  }

  private final class Cancellation: Sendable {
    let flag = Atomic(false)
  }
}
