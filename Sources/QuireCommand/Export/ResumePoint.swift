import ArgumentParser
import Foundation
import QuireCore
import QuireExport
import QuireHTTP
import QuirePagination

/// The place at which `--from` continues an export.
struct ResumePoint: Equatable {
  /// Where the next page starts.
  var position: Position
  /// The report's entry for the file with the items.
  var output: FileRecord?
  /// The report's entry for the file with the bad items.
  var badItems: FileRecord?

  /// Creates the point at a position, without files of an earlier export.
  init(_ position: Position) { self.position = position }

  /// Parses JSON, or `@file` with JSON in it: a position, a report, or an object whose only member
  /// is a report's `checkpoint`. Anything else is a usage error, because it would start at the
  /// beginning. So are two members of one name, at any depth. Without `isChecked`, the position's
  /// seal is ignored.
  init(_ text: String, isChecked: Bool = true) throws {
    let bytes =
      text.hasPrefix("@")
      ? try InputFile.read(String(text.dropFirst()), for: "--from") : Array(text.utf8)
    guard let value = try? JSONValue(parsing: bytes), case .object(let members) = value
    else { throw Self.refusal("that is no JSON object.") }
    if let name = Self.repeatedName(in: value) {
      throw Self.refusal("it has two members \"\(name.prefix(40))\".")
    }
    let isReport = value["end"]?.string != nil
    if let checkpoint = value["checkpoint"], isReport || members.count == 1 {
      guard case .object = checkpoint else {
        throw Self.refusal(
          "its \"checkpoint\" is \(checkpoint.description.prefix(40)) and no object.")
      }
      position = try Self.position(checkpoint, isChecked: isChecked)
      output = FileRecord(in: value, prefix: "output")
      badItems = FileRecord(in: value, prefix: "badItems")
      return
    }
    guard !isReport else { throw Self.noCheckpoint(in: value) }
    guard !members.isEmpty else {
      throw ValidationError("--from: {} is the start of the listing. Leave --from out.")
    }
    position = try Self.position(value, isChecked: isChecked)
  }

  /// Returns the error that explains why a report has no checkpoint.
  private static func noCheckpoint(in report: JSONValue) -> ValidationError {
    if let reason = report["notResumable"]?.string {
      return ValidationError(
        "--from: that export cannot be resumed: \(reason). Begin anew by --restart.")
    }
    switch report["end"]?.string {
    case "exhausted":
      return ValidationError("--from: that export is complete; there is nothing to resume.")
    case "truncation suspected":
      return ValidationError(
        "--from: that export came to the end of the listing, with fewer items than the server "
          + "declared; there is nothing to resume. Begin anew by --restart.")
    default: return refusal("that report has no checkpoint.")
    }
  }

  /// Returns a name that two members of one object have.
  private static func repeatedName(in value: JSONValue) -> String? {
    switch value {
    case .null, .bool, .number, .string: return nil
    case .array(let elements): return elements.lazy.compactMap(repeatedName).first
    case .object(let members):
      return members.map(\.name).firstRepeated
        ?? members.lazy.compactMap { repeatedName(in: $0.value) }.first
    }
  }

  private static func position(_ value: JSONValue, isChecked: Bool) throws -> Position {
    if !isChecked, case .object(let members) = value {
      let bare = JSONValue.object(members.filter { $0.name != "seal" })
      return try position(bare, isChecked: true).unchecked
    }
    do {
      return try Position(sealedJSON: value)
    } catch DecodingError.dataCorrupted(let context) {
      throw refusal(context.debugDescription)
    } catch {
      throw refusal("it is \(value.description.prefix(40)).")
    }
  }

  private static func refusal(_ reason: String) -> ValidationError {
    ValidationError(
      "--from: not a position: \(reason) Give the JSON that a stopped export printed, or @FILE with "
        + "its --report in it.")
  }
}

/// The report of an export that stopped early without `--report`. It goes to a file, because a
/// position may hold what the server means for one client alone, and others can see a terminal or a
/// log.
enum ResumeFile {
  /// Writes a report for `--from` into the folder for state, readable by its owner only. Returns
  /// its path; nil if it cannot be written.
  static func write(_ report: Data) -> String? {
    let name = "resume-\(String(UInt64.random(in: .min ... .max), radix: 36)).json"
    for folder in folders {
      try? FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true,
        attributes: [.posixPermissions: 0o700])
      let path = folder + "/" + name
      if (try? ReportFile.replace(path, with: report, mode: 0o600)) != nil {
        removeOld(in: folder)
        return path
      }
    }
    return nil
  }

  /// Removes reports older than 30 days: positions may be private, and few servers accept them for
  /// so long.
  private static func removeOld(in folder: String) {
    let oldest = Date(timeIntervalSinceNow: -30 * 86_400)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix("resume-") && name.hasSuffix(".json") {
      let path = folder + "/" + name
      let attributes = try? FileManager.default.attributesOfItem(atPath: path)
      if let written = attributes?[.modificationDate] as? Date, written < oldest { unlink(path) }
    }
  }

  /// The folder for state (XDG Base Directory Specification), and the one for temporary files.
  private static var folders: [String] {
    let environment = ProcessInfo.processInfo.environment
    let state =
      environment["XDG_STATE_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
      ?? environment["HOME"].map { $0 + "/.local/state" }
    return [state, environment["TMPDIR"] ?? "/tmp"].compactMap { $0.map { $0 + "/quire" } }
  }
}
