import ArgumentParser
import Foundation

/// Where an export writes: looked at before anything is requested.
struct OutputFiles: Sendable {
  /// The items' file; nil for standard output.
  var items: String?
  /// The file of items that were set aside; nil where there is none.
  var badItems: String?
  var report: ReportFile?
  /// Where the files are continued; nil where they are begun anew.
  let point: ResumePoint?

  /// Reads `-o` and `--report`. Throws a usage error where two of the files are one, and where the
  /// report or the items cannot be written.
  init(_ command: ExportCommand, badItems option: BadItemsOption, from point: ResumePoint?) throws {
    items = command.output == "-" ? nil : command.output
    report = command.report.map(ReportFile.init)
    self.point = point
    if case .setAside(let path?) = option { badItems = path }
    try Self.checkDistinct([
      ("-o", items, isUsed: !command.plan),
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

  /// The files, open for one export alone.
  struct Open {
    var items: LineWriter
    var badItems: LineWriter?
    /// Holds the place of the report, which takes it at the end.
    var report: OutputFile?
    /// What to know about files that could not be locked.
    var warnings: [String] = []
  }

  /// Opens and locks the files, before anything is requested. Throws a usage error for one that
  /// cannot be written, or not continued from where `--from` says, `FileInUse` for one that another
  /// export writes, and `CancellationError` where the wait for a pipe's reader was cancelled.
  func open() async throws -> Open {
    do {
      let report = try await openReport()
      let items = try await OutputFile("-o", path: items, appending: point != nil)
      let aside = try await openBadItems()
      let warnings = [items, aside, report].compactMap { $0 }.compactMap(Self.warning)
      return Open(
        items: try writer(items, continuing: point?.output),
        badItems: try aside.map { try writer($0, continuing: point?.badItems) },
        report: report, warnings: warnings)
    } catch let failure as OutputFailure {
      throw ValidationError("\(failure)")
    }
  }

  /// Locks the report's file for a plan, where there is one already: another export's report may be
  /// on its way there. Throws as `open` does.
  func lockReport() async throws -> OutputFile? {
    guard let path = reportPath, case .file? = FileIdentity(path: path) else { return nil }
    do {
      return try await openReport()
    } catch let failure as OutputFailure {
      throw ValidationError("\(failure)")
    }
  }

  private func openBadItems() async throws -> OutputFile? {
    guard let badItems else { return nil }
    let file = try await OutputFile("--bad-items", path: badItems, appending: point != nil)
    // Each line has a position.
    file.makePrivate()
    return file
  }

  /// The report's file, where it is one: it is replaced in the end, and only kept from others now.
  private func openReport() async throws -> OutputFile? {
    guard let path = reportPath else {
      guard report == .standardOutput else { return nil }
      return try await OutputFile("--report", path: nil, appending: true)
    }
    var status = stat()
    guard stat(path, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else { return nil }
    do {
      return try await OutputFile("--report", path: path, appending: true)
    } catch let failure as OutputFailure where failure.reason == EACCES {
      // A file that nobody may write can be replaced all the same.
      return nil
    }
  }

  private func writer(_ file: OutputFile, continuing record: FileRecord?) throws -> LineWriter {
    let writer = LineWriter(file, appending: point != nil)
    if let point {
      writer.go(on: try ContinuedFile(file).checkedContent(for: point, record: record))
    } else if file.path == nil, file.isFile, report != nil {
      // What a shell appends to belongs to what a report says of the file.
      writer.go(on: try ContinuedFile(file).content())
    }
    return writer
  }

  private static func warning(_ file: OutputFile) -> String? {
    guard let reason = file.lockFailure else { return nil }
    return "\(file.name) is on a file system without locks (\(String(cString: strerror(reason)))): "
      + "make sure that no other export writes to it."
  }

  /// Throws where two options write to one file; a path that is nil is standard output.
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
