import Foundation

/// A file of items: JSON Lines, a JSON array, CSV or TSV, each also compressed.
///
/// ```swift
/// try await Export(issues, to: FileSink("issues.jsonl")).run()
/// try await Export(issues, to: FileSink("issues.csv.gz", columns: ["number", "author=/user/login"])).run()
/// ```
/// Its progress is stored beside it, in `issues.jsonl.checkpoint`: the committed length and a check
/// sum of the items, in two generations, readable by the owner only. Bytes after the committed
/// length are left by a killed export, and are cut off when the next one continues. The items are
/// durable on disk before their checkpoint is written.
///
/// A file that another program has changed, truncated or extended is refused and left untouched,
/// and so is one that no export wrote, unless the export begins anew or appends.
public struct FileSink: Sink {
  /// The path of the file.
  public let path: String
  /// The format of the items; nil if none was given and the path's extension is unknown.
  public let format: FileFormat?
  /// What a run does if the destination's run is complete. `.upsert` is refused: it needs a
  /// database.
  public let mode: SinkMode
  /// The columns of a table; nil for all members of the items, in order of appearance.
  let columns: [TableColumn]?
  let guardsFormulas: Bool
  let calls: FileCalls
  /// Whether files are locked for one export; false for simulated file systems.
  let isLocked: Bool
  /// The committed content according to another record, which takes precedence over the checkpoint
  /// beside the file; nil to use that checkpoint.
  package var adopted: Content?
  /// The name of the form in which items are written; nil for JSON without white space. A file is
  /// only continued with items of the same form.
  package var itemForm: String?

  /// The committed content of a file, and the checkpoint that belongs to it.
  package struct Content: Sendable {
    /// The number of committed bytes, without the text that closes the file.
    package var length: Int
    /// The CRC-32 of these bytes, in the notation of the `crc32` command.
    package var sum: String
    /// The checkpoint of these bytes; nil if no export has committed yet.
    package var checkpoint: Checkpoint?

    package init(length: Int, sum: String, checkpoint: Checkpoint?) {
      self.length = length
      self.sum = sum
      self.checkpoint = checkpoint
    }

    init(_ commit: FileCommit) {
      self.init(
        length: commit.length, sum: commit.sum, checkpoint: commit.checkpoint?.checkpoint)
    }
  }

  /// The committed content according to the checkpoint beside the file; nil if there is none.
  package var committed: Content? {
    guard var generations = try? GenerationFile(GenerationFile.path(beside: target), calls) else {
      return nil
    }
    defer { generations.close() }
    return generations.newest.map(Content.init)
  }

  /// Creates a sink for the file at `path`.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - format: The format of the items. Default: by the extension, `.jsonl`, `.ndjson`, `.json`,
  ///     `.csv` or `.tsv`, each with an additional `.gz` for compression.
  ///   - columns: The columns of a table. Default: all members of the items, in order of
  ///     appearance. If some appear only after rows are committed, the file is written once more
  ///     when the run is complete or ended by a limit, so that every row has all columns.
  ///   - guardsFormulas: Whether to put an apostrophe before texts that a spreadsheet would take
  ///     for a formula. Default false, because it changes the text.
  ///   - mode: What a run does if the file's run is complete. Default `.once`.
  public init(
    _ path: String, format: FileFormat? = nil, columns: [TableColumn]? = nil,
    guardsFormulas: Bool = false, mode: SinkMode = .once
  ) {
    self.init(
      path, format: format, columns: columns, guardsFormulas: guardsFormulas, mode: mode,
      calls: .system, isLocked: true)
  }

  /// Creates a sink in a test's file system.
  init(
    _ path: String, format: FileFormat?, columns: [TableColumn]?, guardsFormulas: Bool,
    mode: SinkMode, calls: FileCalls, isLocked: Bool
  ) {
    self.path = path
    self.format = format ?? FileFormat(path: path)
    self.columns = columns
    self.guardsFormulas = guardsFormulas
    self.mode = mode
    self.calls = calls
    self.isLocked = isLocked
  }

  /// Opens, locks and checks the file. Reads all committed bytes, at the speed of the disk.
  ///
  /// Throws `SinkError`: `.unsupported` for an unknown extension, for a mode or settings that do
  /// not fit the format, and for a name that leaves no room for those of the files beside it;
  /// `.inUse`; `.notOurs` for a file that no export wrote; `.damaged` for a file that has changed.
  public func open(_ opening: SinkOpening) throws -> any SinkSession {
    guard let format else {
      let known = FileFormat.endings.map(\.ending).joined(separator: " ")
      throw SinkError(
        .unsupported,
        "\(path): its ending says no format. Known are \(known), each also with .gz.")
    }
    guard mode != .upsert else {
      throw SinkError(
        .unsupported,
        "\(path): a file cannot replace single items by their key; a database can. Use append or "
          + "replace.")
    }
    guard columns == nil || format.isTable else {
      throw SinkError(.unsupported, "\(path): \(format.name) has no columns; CSV and TSV have.")
    }
    try checkName()
    return try FileSession(self, format, opening)
  }

  /// Refuses a name that leaves no room for those of the companion files, with which the first
  /// commit would fail.
  private func checkName() throws(SinkError) {
    let url = URL(fileURLWithPath: target)
    let longest = pathconf(url.deletingLastPathComponent().path, Int32(_PC_NAME_MAX))
    let count = url.lastPathComponent.utf8.count
    let added = companions.map(\.utf8.count).max().map { $0 - target.utf8.count } ?? 0
    guard isLocked, longest > 0, count + added > longest else { return }
    throw SinkError(
      .unsupported,
      "\(path): its name has \(count) bytes, and names of files here have at most \(longest). The files that an "
        + "export keeps beside it have \(added) more: choose a name of at most \(longest - added).")
  }

  /// The file that symbolic links lead to, so that its checkpoint is found by each of its names.
  var target: String {
    var status = stat()
    return isLocked && lstat(path, &status) == 0 ? Self.resolved(path) : path
  }

  /// Returns a file's absolute path with all symbolic links followed, at most 40 as in Linux. The
  /// file itself need not exist.
  package static func resolved(_ path: String, links: Int = 40) -> String {
    let url = URL(fileURLWithPath: path)
    let folder = url.deletingLastPathComponent().path
    if links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      return resolved(target.hasPrefix("/") ? target : "\(folder)/\(target)", links: links - 1)
    }
    guard let real = realpath(folder, nil) else { return url.path }
    defer { free(real) }
    return URL(fileURLWithPath: String(cString: real)).appending(path: url.lastPathComponent).path
  }

  /// The paths of the files that an export may create beside the file.
  package var companions: [String] {
    let (target, checkpoint) = (target, GenerationFile.path(beside: target))
    return [checkpoint, GenerationFile.temporaryPath(for: checkpoint)]
      + FileCommit.Staged.allCases.map { $0.path(beside: target) }
  }

  /// The file's absolute path, with symbolic links followed.
  package var absolutePath: String { URL(fileURLWithPath: target).path }

  /// Returns the settings that must be the same in all runs, as stored in the checkpoint.
  func settings(_ format: FileFormat) -> String {
    var words = [format.name]
    if let columns {
      words.append("columns " + columns.map { "\($0.name)=\($0.path)" }.joined(separator: ","))
    }
    if guardsFormulas { words.append("guarded formulas") }
    if let itemForm { words.append(itemForm) }
    return words.joined(separator: ", ")
  }
}
