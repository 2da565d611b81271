import Foundation

/// A file of items: JSON Lines, a JSON array, CSV or TSV, each also compressed.
///
/// ```swift
/// try await Export(issues, to: FileSink("issues.jsonl")).run()
/// try await Export(issues, to: FileSink("issues.csv.gz", columns: ["number", "author=/user/login"])).run()
/// ```
/// Beside it, in `issues.jsonl.checkpoint`, stands how far it is committed, in two generations and with
/// a check sum of the items, readable by its owner only. What stands in the file behind that was
/// written by an export that was killed, and is cut off when the next one goes on. The file is
/// confirmed on disk before its checkpoint is. A file that something else has changed, cut or filled is
/// refused and not touched; neither is one that no export wrote, unless the export begins anew or
/// appends.
public struct FileSink: Sink {
  /// The file.
  public let path: String
  /// How items stand in it; nil where the path's ending says nothing.
  public let format: FileFormat?
  /// What a run does that finds a complete one; `upsert` needs a database.
  public let mode: SinkMode
  /// The columns of a table; nil for all members that items have, in the order in which they appear.
  let columns: [TableColumn]?
  let guardsFormulas: Bool
  let calls: FileCalls
  /// Opens files for one export alone; nil where a simulated file system has no locks.
  let isLocked: Bool
  /// What is known of the file from elsewhere, and counts whatever stands beside it.
  package var adopted: Content?
  /// How items are written where that is not their JSON without white space; nil for that. Lines of another kind
  /// are not put behind those that are there.
  package var itemForm: String?

  /// What a file holds, and how far that reaches.
  package struct Content: Sendable {
    /// Bytes that are committed, without what closes the text behind them.
    package var length: Int
    /// Their CRC-32, as `crc32` prints it.
    package var sum: String
    /// How far the listing reaches in them; nil while nothing is committed.
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

  /// What is committed of the file by what stands beside it; nil where nothing stands there.
  package var committed: Content? {
    guard var generations = try? GenerationFile(GenerationFile.path(beside: target), calls) else {
      return nil
    }
    defer { generations.close() }
    return generations.newest.map(Content.init)
  }

  /// A file at `path`.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - format: How items stand in it. Default: as the ending says, `.jsonl`, `.ndjson`, `.json`, `.csv`
  ///     or `.tsv`, each with `.gz` behind it to be compressed.
  ///   - columns: The columns of a table. Default: all that the items have, in the order in which they
  ///     appear. Where some appear only after rows are committed, the file is written once more when
  ///     the run is complete, so that every row has all of them.
  ///   - guardsFormulas: Whether a text that a spreadsheet would take for a formula has an apostrophe in
  ///     front. Default false: it changes the text.
  ///   - mode: What a run does that finds a complete one. Default `.once`.
  public init(
    _ path: String, format: FileFormat? = nil, columns: [TableColumn]? = nil,
    guardsFormulas: Bool = false, mode: SinkMode = .once
  ) {
    self.init(
      path, format: format, columns: columns, guardsFormulas: guardsFormulas, mode: mode,
      calls: .system, isLocked: true)
  }

  /// A file in a file system of a test's.
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

  /// Opens, locks and checks the file: reads what is committed, at the speed of the disk.
  ///
  /// Throws `SinkError`: `.unsupported` for an ending, a mode or settings that do not go together, and for a name
  /// without room for those of the files beside it, `.inUse`, `.notOurs` for a file that no export wrote, `.damaged`
  /// for one that is not what it was.
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

  /// Refuses a name that leaves no room for those of the companions: the first commit would fail.
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

  /// The file that links lead to: what stands beside it is found by every name.
  var target: String {
    var status = stat()
    return isLocked && lstat(path, &status) == 0 ? Self.resolved(path) : path
  }

  /// A file's path from the root with every link on the way followed, as many as Linux follows; the file itself
  /// need not be there.
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

  /// What an export has beside the file at times.
  package var companions: [String] {
    let (target, checkpoint) = (target, GenerationFile.path(beside: target))
    return [checkpoint, GenerationFile.temporaryPath(for: checkpoint)]
      + FileCommit.Staged.allCases.map { $0.path(beside: target) }
  }

  /// The file's path from the root, links followed.
  package var absolutePath: String { URL(fileURLWithPath: target).path }

  /// What must not change from one run to the next.
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
