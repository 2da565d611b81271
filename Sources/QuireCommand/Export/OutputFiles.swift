import ArgumentParser
import Foundation
import Quire
import QuireExport
import QuireSQLite

/// The files that an export writes, checked before anything is requested.
struct OutputFiles: Sendable {
  /// The path of the items; nil for standard output.
  var items: String?
  /// The file of bad items; nil if there is none.
  var badItems: String?
  var report: ReportFile?
  /// Where `--from` continues the files; nil without it.
  let point: ResumePoint?
  /// The sink of `-o`; nil for standard output, pipes and devices.
  let sink: (any Sink)?
  let table: String?
  /// The columns of `--columns`; empty without it.
  let columns: [TableColumn]

  /// Reads `-o` and `--report`. Throws a usage error if two of the files are the same, or if the
  /// report or the items cannot be written.
  init(_ command: ExportCommand, badItems option: BadItemsOption, from point: ResumePoint?) throws {
    items = command.output == "-" ? nil : command.output
    report = command.report.map(ReportFile.init)
    self.point = point
    if case .setAside(let path?) = option { badItems = path }
    let request = try Self.request(command)
    table = request?.table
    columns = request?.columns ?? []
    if let request, !Self.isStream(request.path) {
      var sink = try request.sink()
      do throws(SyncFileError) {
        try request.check(sink)
      } catch {
        throw ValidationError(error.description)
      }
      if command.raw {
        try Self.checkRaw(request, sink, command.format.format)
        if var file = sink as? FileSink {
          file.itemForm = "raw items"
          sink = file
        }
      }
      self.sink = sink
    } else {
      if let request { try Self.checkStream(request) }
      sink = nil
    }
    let companions =
      (sink as? FileSink)?.companions ?? (sink as? SQLiteSink)?.companions ?? []
    try Self.checkDistinct(
      [("-o", items, isUsed: items != nil || !command.plan)]
        + companions.map { ("-o", $0, isUsed: true) }
        + [
          ("--report", reportPath, isUsed: report != nil),
          ("--bad-items", badItems, isUsed: badItems != nil),
        ])
    try report?.check()
    let needsOutput = items == nil || report == .standardOutput || command.plan
    guard needsOutput, !StandardDescriptors.hasOutput else { return }
    throw ValidationError(
      "Standard output is closed, or open for reading only: nothing can be written to it. Write the "
        + "items to a file with -o.")
  }

  private var reportPath: String? {
    if case .file(let path) = report { path } else { nil }
  }

  private static func request(_ command: ExportCommand) throws -> DestinationRequest? {
    let options = [
      ("--columns", command.columns != nil), ("--mode", command.mode != nil),
      ("--key", command.key != nil), ("--table", command.table != nil),
      ("--guard-formulas", command.guardFormulas),
    ]
    guard let path = command.output, path != "-" else {
      if let option = options.first(where: \.1)?.0 {
        throw ValidationError(
          "\(option): standard output gets lines of JSON. Name a destination by -o.")
      }
      return nil
    }
    // Without the rest of the address, which may have a password.
    if !DestinationKind.isPostgres(path), let scheme = path.firstRange(of: "://") {
      throw ValidationError(
        "-o: nothing is known by \(ServerText(path[..<scheme.upperBound])). Name a file, or a database by "
          + "postgres://….")
    }
    var request = DestinationRequest(path: path)
    request.mode = try command.mode.map { text in
      guard let mode = SinkMode(rawValue: text) else {
        let known = SinkMode.allCases.map(\.rawValue).joined(separator: ", ")
        throw ValidationError("--mode \(text): expected one of \(known).")
      }
      return mode
    }
    request.guardsFormulas = command.guardFormulas
    do {
      request.columns = try command.columns.map(columns)
      request.key = try command.key.map { text in
        let texts = text.split(separator: ",").map(String.init)
        guard !texts.isEmpty else { throw ValidationError("--key: name at least one path.") }
        return try TableKey(texts: texts)
      }
      request.table = command.table
    } catch let error as PageError {
      throw ValidationError(error.message)
    }
    return request
  }

  private static func columns(_ text: String) throws -> [TableColumn] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      guard !name.isEmpty else {
        throw ValidationError("--columns \(text): a name is missing between two commas.")
      }
      return try TableColumn(String(name))
    }
  }

  /// Throws if raw XML elements would go into a JSON array or a table, which need JSON.
  private static func checkRaw(
    _ request: DestinationRequest, _ sink: (any Sink)?, _ format: FormatArguments.Format
  ) throws {
    let kind = (sink as? FileSink)?.format
    guard kind != FileFormat.jsonLines, kind != FileFormat.jsonLines.compressed,
      ![.json, .csv, .jsonl].contains(format)
    else { return }
    throw ValidationError(
      "--raw: elements of XML go into JSON Lines, and not into "
        + "\(DestinationRequest.shown(request.path, table: nil)). If the pages are no XML, say what "
        + "they are: --format json, csv or jsonl.")
  }

  /// Throws for a pipe or device whose name or options ask for anything but JSON Lines: the request
  /// would be ignored.
  private static func checkStream(_ request: DestinationRequest) throws {
    let isPlain = FileFormat(path: request.path).map { $0 == .jsonLines } ?? true
    guard isPlain, !DestinationKind.isDatabase(request.path) else {
      throw ValidationError(
        "-o \(request.path) is a pipe or a device, which gets lines of JSON. Write to a file, or give the "
          + "pipe a name without an ending.")
    }
    guard request.columns == nil, request.key == nil, request.table == nil, request.mode == nil,
      !request.guardsFormulas
    else {
      throw ValidationError(
        "-o \(request.path) is a pipe or a device, which gets lines of JSON: --columns, --guard-formulas, "
          + "--mode, --key and --table are for files and databases.")
    }
  }

  /// Whether a path is a pipe, a device, or anything else that keeps nothing.
  private static func isStream(_ path: String) -> Bool {
    var status = stat()
    guard stat(path, &status) == 0 else { return false }
    return status.st_mode & S_IFMT != S_IFREG && status.st_mode & S_IFMT != S_IFDIR
  }

  /// Locks an existing report for a plan, because another export may be about to write it. Throws
  /// as `openReport` does.
  func lockReport() async throws -> OutputFile? {
    guard let path = reportPath, case .file? = FileIdentity(path: path) else { return nil }
    return try await openReport()
  }

  /// Opens and locks the report's file, which is replaced only at the end; nil if there is none or
  /// if it is a pipe. Throws a usage error if it cannot be written, and `SinkError` if another
  /// export writes it.
  func openReport() async throws -> OutputFile? {
    guard let path = reportPath else {
      guard report == .standardOutput else { return nil }
      return try await opening { try await OutputFile("--report", path: nil, appending: true) }
    }
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    do {
      return try await OutputFile("--report", path: path, appending: true)
    } catch let failure as OutputFailure where failure.reason == EACCES {
      // Replacing a file needs no permission to write it.
      return nil
    } catch let failure as OutputFailure {
      throw ValidationError("\(failure)")
    }
  }

  /// Opens the stream for items. Throws as `openReport` does, `CancellationError` if the wait for a
  /// pipe's reader is cancelled, and a usage error if a file cannot be continued from `--from`.
  func openItems(
    _ isStopping: @escaping @Sendable () -> Bool, _ record: WrittenRecord
  ) async throws -> LineWriter {
    let file = try await opening {
      try await OutputFile("-o", path: items, appending: point != nil, isStopping: isStopping)
    }
    note(file, in: record)
    let writer = LineWriter(file, appending: point != nil, isStopping: isStopping)
    if let point {
      writer.continueChecksum(
        from: try ContinuedFile(file).checkedContent(for: point, record: point.output))
    } else if file.isFile, report != nil {
      // A shell's `>>` appends: the report's check sum covers the existing content too.
      writer.continueChecksum(from: try ContinuedFile(file).content())
    }
    return writer
  }

  /// Opens the file for bad items; nil if there is none. Throws as `openItems` does.
  ///
  /// `aside` is the file's state at the last commit: what stands behind it comes again.
  func openBadItems(
    isContinued: Bool, from aside: AsideFile?, _ isStopping: @escaping @Sendable () -> Bool,
    _ record: WrittenRecord
  ) async throws -> LineWriter? {
    guard let badItems else { return nil }
    let file = try await opening {
      try await OutputFile(
        "--bad-items", path: badItems, appending: isContinued, isStopping: isStopping)
    }
    // Each line has a position, which may be secret.
    file.makePrivate()
    note(file, in: record)
    let writer = LineWriter(file, appending: isContinued, isStopping: isStopping)
    if let point {
      writer.continueChecksum(
        from: try ContinuedFile(file).checkedContent(for: point, record: point.badItems))
    } else if isContinued, file.isFile {
      writer.goOn(behind: try ContinuedFile(file).part(committedAs: aside))
    }
    return writer
  }

  private func opening(_ open: () async throws -> OutputFile) async throws -> OutputFile {
    do {
      return try await open()
    } catch let failure as OutputFailure {
      throw ValidationError("\(failure)")
    }
  }

  private func note(_ file: OutputFile, in record: WrittenRecord) {
    guard let reason = file.lockFailure else { return }
    let warning =
      "\(file.name) is on a file system without locks (\(String(cString: strerror(reason)))): "
      + "make sure that no other export writes to it."
    record.update { $0.warnings.append(warning) }
  }

  /// Throws if two options write to one file; a nil path is standard output.
  private static func checkDistinct(
    _ outputs: [(option: String, path: String?, isUsed: Bool)]
  ) throws {
    var known: [FileIdentity: (option: String, name: String)] = [:]
    var standardOutput: String?
    for (option, path, isUsed) in outputs where isUsed {
      if path == nil {
        if standardOutput != nil {
          throw ValidationError(
            "\(option) -: the items go to standard output. Write them to a file with -o, or the "
              + "report.")
        }
        standardOutput = option
      }
      let identity: FileIdentity? =
        if let path { FileIdentity(path: path) } else { FileIdentity(descriptor: STDOUT_FILENO) }
      guard let identity else { continue }
      let name = path ?? "standard output"
      if let other = known[identity] {
        let names = other.name == name ? name : "\(other.name) and \(name)"
        throw ValidationError(
          "\(other.option) and \(option) write to one file, \(names): one would take the other's "
            + "place. Give each its own.")
      }
      known[identity] = (option, name)
    }
  }
}
