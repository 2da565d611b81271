import Foundation
import Quire
import QuireExport

/// Exports a listing into a sink of its own: a folder with one file for each item, named by the
/// item's key. The export can be killed at any moment, and the next run continues it.
@main
struct OwnSink {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: OwnSink URL FOLDER") }
    let folder = CommandLine.arguments[2]
    let issues = PageClient().cursor(
      of: RawItem.self, at: CommandLine.arguments[1], pagination: .linkHeader)
    // The sink cannot store a checkpoint together with its items, so a checkpoint store does. After
    // a crash, items of the last commit may be written twice, which is harmless because each item
    // has a file of its own.
    let sink = FolderSink(folder: folder, key: "/id")
      .storingCheckpoints(in: FileCheckpointStore(folder + ".state"), as: "items")
    print(try await Export(issues, to: sink).run())
  }
}

/// A sink that writes each item to a file of its own in a folder.
struct FolderSink: Sink {
  let folder: String
  /// The path to the key of an item, which must be a whole number.
  let key: PagePath

  func open(_ opening: SinkOpening) throws -> any SinkSession {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return Session(sink: self)
  }

  private final class Session: SinkSession {
    // Nil, because this sink stores no checkpoints: `storingCheckpoints(in:as:)` provides them.
    let checkpoint: Checkpoint? = nil
    private let sink: FolderSink
    private var pending: [(name: String, bytes: [UInt8])] = []

    init(sink: FolderSink) { self.sink = sink }

    /// Keeps a page's items in memory until the next commit.
    func write(_ page: SinkPage) throws {
      for item in page.items {
        // A whole number cannot lead to a file outside the folder, even if the server is hostile.
        guard let id = try item.value(at: sink.key)?.integer else {
          throw SinkError(.unfit, "An item of page \(page.index) has no number at \(sink.key).")
        }
        pending.append(("\(id).json", item.compact))
      }
    }

    /// Writes the items since the last commit to their files.
    func commit(_ checkpoint: Checkpoint) throws {
      for (name, bytes) in pending {
        let file = URL(fileURLWithPath: sink.folder).appendingPathComponent(name)
        try Data(bytes).write(to: file, options: .atomic)
      }
      pending = []
    }

    func close() { pending = [] }
  }
}
