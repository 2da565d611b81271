import ArgumentParser
import Foundation
import QuireCore
import QuireHTTP

/// Where `--from` says that an export goes on.
struct ResumePoint: Equatable {
  /// Where the next page starts.
  var position: Position
  /// What the report says of the file with the items.
  var output: FileRecord?
  /// What it says of the file with the items that were set aside.
  var badItems: FileRecord?

  /// At a position, whatever was written before.
  init(_ position: Position) { self.position = position }

  /// Reads JSON, or `@file` with JSON in it: a position, a report, or an object whose only member is
  /// a report's `checkpoint`. Anything else is a usage error: it would start at the beginning.
  init(_ text: String) throws {
    let bytes =
      text.hasPrefix("@")
      ? try InputFile.read(String(text.dropFirst()), for: "--from") : Array(text.utf8)
    guard let value = try? JSONDocument(bytes).value(at: ""), case .object(let members) = value
    else { throw Self.refusal("that is no JSON object.") }
    let isReport = value["end"]?.string != nil
    if let checkpoint = value["checkpoint"], isReport || members.count == 1 {
      position = try Self.position(checkpoint)
      output = FileRecord(in: value, prefix: "output")
      badItems = FileRecord(in: value, prefix: "badItems")
      return
    }
    guard !isReport else {
      throw ValidationError("--from: that export is complete; there is nothing to resume.")
    }
    guard !members.isEmpty else {
      throw ValidationError("--from: {} is the start of the listing. Leave --from out.")
    }
    position = try Self.position(value)
  }

  private static func position(_ value: JSONValue) throws -> Position {
    do {
      return try JSONDecoder().decode(Position.self, from: Data(value.description.utf8))
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
