import ArgumentParser
import Foundation
import QuireCore

/// Positions as they are printed, and given back with `--from`.
enum PositionText {
  /// The position as one line of JSON.
  static func write(_ position: Position) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A position holds nothing that an encoder could refuse.
    return (try? encoder.encode(position)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// The position in `--from`: JSON, or `@file` with a position or with a report in it.
  static func read(_ text: String) throws -> Position {
    let isFile = text.hasPrefix("@")
    let data =
      isFile ? try InputFile.read(String(text.dropFirst()), for: "--from") : Data(text.utf8)
    if let report = try? JSONDecoder().decode(StoredReport.self, from: data) {
      guard let checkpoint = report.checkpoint else {
        throw ValidationError("--from: that export is complete; there is nothing to resume.")
      }
      return checkpoint
    }
    guard let position = try? JSONDecoder().decode(Position.self, from: data) else {
      throw ValidationError(
        "--from: not a position. Give the JSON that a stopped export printed, or @FILE with its "
          + "--report in it.")
    }
    return position
  }

  /// As much of a report as resuming needs. `end` tells a report from a position.
  private struct StoredReport: Decodable {
    var end: String
    var checkpoint: Position?
  }
}
