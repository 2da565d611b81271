import Foundation
import Quire
import QuireExport

/// Exports a listing into a sink of its own: a folder with a file for each item, named by the
/// item's key. It can be killed at any moment; run it again, and it continues.
@main
struct OwnSink {
  static func main() async throws {
    guard CommandLine.arguments.count == 3 else { fatalError("usage: OwnSink URL FOLDER") }
    let folder = CommandLine.arguments[2]
    let issues = PageClient().cursor(
      of: RawItem.self, at: CommandLine.arguments[1], pagination: .linkHeader)
    // The folder holds no checkpoint, so a store keeps it. Items of the last commit may be written
    // twice, which is harmless because each has a file of its own.
    let sink = FolderSink(folder: folder, key: "/id")
      .storingCheckpoints(in: FileCheckpointStore(folder + ".state"), as: "items")
    print(try await Export(issues, to: sink).run())
  }
}

/// A folder with a file for each item.
struct FolderSink: Sink {
  let folder: String
  let key: PagePath

  func open(_ opening: SinkOpening) throws -> any SinkSession {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    return Session(sink: self)
  }

  private final class Session: SinkSession {
    let checkpoint: Checkpoint? = nil
    private let sink: FolderSink
    private var pending: [(name: String, bytes: [UInt8])] = []

    init(sink: FolderSink) { self.sink = sink }

    func write(_ page: SinkPage) throws {
      for item in page.items {
        // A whole number cannot lead to a file outside the folder, whatever a server sends.
        guard let id = try item.value(at: sink.key)?.integer else {
          throw SinkError(.unfit, "An item of page \(page.index) has no number at \(sink.key).")
        }
        pending.append(("\(id).json", item.compact))
      }
    }

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
