import Foundation

/// A folder of checkpoints, one file for each name, in the form that file sinks use: two
/// generations with check sums, locked, readable by the owner only.
///
/// A checkpoint of more than 16 MiB is refused as `.unsupported`, and the one before it stays. The
/// items of that commit are in their sink by then, and are repeated by the next run.
public struct FileCheckpointStore: CheckpointStore {
  /// The folder; created when the first checkpoint is opened.
  public let folder: String

  /// Creates a store in a folder.
  public init(_ folder: String) { self.folder = folder }

  /// Opens `NAME.checkpoint`. Throws `SinkError`: `.inUse`, `.damaged`, `.writeFailed`, and
  /// `.unsupported` for a name that is not a valid file name.
  public func open(_ name: String) throws -> any CheckpointSession {
    guard !name.isEmpty, !name.hasPrefix("."), !name.contains("/"), !name.contains("\0") else {
      throw SinkError(
        .unsupported, "A checkpoint cannot be called \"\(name)\": that is no file's name.")
    }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw SinkError(
        .writeFailed, "\(folder): the folder cannot be created: \(error.localizedDescription)")
    }
    return try Session("\(folder)/\(name)")
  }

  private final class Session: CheckpointSession {
    private var generations: GenerationFile
    private var claim: FileClaim?

    init(_ path: String) throws(SinkError) {
      // Locks a file of its own: the checkpoint file is replaced as it grows, and its lock would
      // stay with the old file.
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
