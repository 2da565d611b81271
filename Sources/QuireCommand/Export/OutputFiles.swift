import ArgumentParser
import Foundation

/// Where an export writes: looked at before anything is requested.
struct OutputFiles: Sendable {
  /// The items' file; nil for standard output.
  var items: String?
  var report: ReportFile?

  /// Reads `-o` and `--report`. Throws a usage error where two of the files are one, where the report
  /// cannot be written, and where `point` cannot be continued from.
  init(_ command: ExportCommand, badItems: BadItemsOption, from point: ResumePoint?) throws {
    items = command.output == "-" ? nil : command.output
    report = command.report.map(ReportFile.init)
    var aside: String?
    if case .setAside(let path?) = badItems { aside = path }
    try Self.checkDistinct([
      ("-o", items, isUsed: !command.plan),
      ("--report", reportPath, isUsed: report != nil),
      ("--bad-items", aside, isUsed: aside != nil),
    ])
    try report?.check()
    guard let point, !command.plan else { return }
    if let items { try ContinuedFile("-o", items).check(point) }
    if let aside {
      try ContinuedFile("--bad-items", aside).check(ResumePoint(point.position))
    }
  }

  private var reportPath: String? {
    if case .file(let path) = report { path } else { nil }
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
