import Foundation

/// Checkpoints in a folder, a file for each name, as those of file sinks are: two generations with check sums,
/// their owner's alone, and locked. One of more than 16 MiB is refused, as unsupported, and the one before it stays:
/// the items of that commit are in their sink by then, and come again with the next run.
public struct FileCheckpointStore: CheckpointStore {
  /// The folder; made when the first checkpoint is opened.
  public let folder: String

  /// A store in a folder.
  public init(_ folder: String) { self.folder = folder }

  /// Opens `NAME.checkpoint`; throws `SinkError`: `.inUse`, `.damaged`, `.writeFailed`, and `.unsupported` for
  /// a name that is no file's.
  public func open(_ name: String) throws -> any CheckpointSession {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0") else {
      throw SinkError(
        .unsupported, "A checkpoint cannot be called \"\(name)\": that is no file's name.")
    }
    try? FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return try Session("\(folder)/\(name)")
  }

  private final class Session: CheckpointSession {
    private var generations: GenerationFile
    private var claim: FileClaim?

    init(_ path: String) throws(SinkError) {
      // The file itself is replaced as it grows, and a lock would stay with the old one.
      let claim = try FileClaim(path + ".lock")
      generations = try GenerationFile(path + ".checkpoint", .system)
      self.claim = claim
    }

    var checkpoint: Checkpoint? { generations.newest?.checkpoint?.checkpoint }

    func save(_ checkpoint: Checkpoint) throws {
      var commit = FileCommit(format: "none")
      commit.checkpoint = Checkpoint.Stored(checkpoint)
      try generations.save(commit)
    }

    func close() {
      generations.close()
      claim = nil
    }
  }
}
