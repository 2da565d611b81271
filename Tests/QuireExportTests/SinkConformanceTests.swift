import Foundation
import QuireCore
import QuireExport
import QuirePagination
import QuireTesting
import Testing

@Suite(.timeLimit(.minutes(15))) struct SinkConformanceTests {
  @Test("16-Sinks: memory keeps the promises of sinks, in every mode", arguments: SinkMode.allCases)
  func memory(mode: SinkMode) async throws {
    try await SinkConformance.check(
      { MemorySink(mode: mode, key: mode == .upsert ? "/id" : nil) }, items: { $0.items })
  }

  @Test(
    "16-Sinks: files keep the promises of sinks, in every mode and format",
    arguments: [SinkMode.once, .append, .replace], ["a.jsonl", "a.json", "a.jsonl.gz", "a.json.gz"])
  func files(mode: SinkMode, name: String) async throws {
    let folder = try Folder()
    var count = 0
    try await SinkConformance.check(
      {
        count += 1
        return FileSink(folder("\(count)-\(name)"), mode: mode)
      },
      items: { sink in
        // A file that is open and has nothing committed is empty, which is no file of gzip.
        let size = try? FileManager.default.attributesOfItem(atPath: sink.path)[.size]
        guard let size = size as? Int, size > 0 else { return [] }
        let file = URL(fileURLWithPath: sink.path).lastPathComponent
        let text = name.hasSuffix(".gz") ? try folder.unzipped(file) : folder.text(file)
        return text.split(separator: "\n").filter { $0.hasPrefix("{") }
          .map { String($0.hasSuffix(",") ? $0.dropLast() : $0) }
      })
  }

  @Test("16-Sinks, K13: checkpoints in a folder keep the promises of stores")
  func store() async throws {
    let folder = try Folder()
    try await CheckpointStoreConformance.check(FileCheckpointStore(folder("state")))
    let mode = try FileManager.default.attributesOfItem(atPath: folder("state/one.checkpoint"))[
      .posixPermissions]
    #expect(mode as? Int == 0o600)
    for name in ["", "../x", ".x", "a/b"] {
      #expect(throws: SinkError.self) { try FileCheckpointStore(folder.path).open(name) }
    }
  }

  /// A sink that shows items before they are committed.
  private final class Hasty: Sink, SinkSession, @unchecked Sendable {
    // SAFETY: used by one test's task alone.
    private(set) var checkpoint: Checkpoint?
    var items: [String] = []
    func open(_ opening: SinkOpening) -> any SinkSession { self }
    func write(_ page: SinkPage) { items += page.items.map(\.description) }
    func commit(_ checkpoint: Checkpoint) { self.checkpoint = checkpoint }
    func close() {}
  }

  @Test("16-Sinks: a sink that shows items before they are committed is found out")
  func findsOut() async throws {
    await #expect(throws: ConformanceFailure.self) {
      try await SinkConformance.check({ Hasty() }, items: { $0.items })
    }
  }

  /// A sink that holds items and no checkpoint.
  private final class Lines: Sink, SinkSession, @unchecked Sendable {
    // SAFETY: used by one test's task alone.
    let checkpoint: Checkpoint? = nil
    var items: [String] = []
    private var pending: [String] = []
    func open(_ opening: SinkOpening) -> any SinkSession { self }
    func write(_ page: SinkPage) { pending += page.items.map(\.description) }
    func commit(_ checkpoint: Checkpoint) { (items, pending) = (items + pending, []) }
    func close() { pending = [] }
  }

  @Test("16-Sinks: a sink without a checkpoint goes on by one that a store keeps")
  func storing() async throws {
    let folder = try Folder()
    let lines = Lines()
    let source = ScriptedSource(sizes: 2, 2, 2)
    source.fail(3)
    let sink = lines.storingCheckpoints(in: FileCheckpointStore(folder.path), as: "lines")
    let export = Export(Cursor(source), to: sink)
    await #expect(throws: PageError.self) { try await export.run() }
    #expect(lines.items == ["0", "1", "2", "3"])
    try await export.run()
    #expect(lines.items == (0..<6).map(String.init))
    #expect(try await "\(export.run().end)" == "already complete")
  }
}
