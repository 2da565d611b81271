import Foundation
import QuireCore

/// Positions as they are printed; `ResumePoint` reads them.
enum PositionText {
  /// The position as one line of JSON.
  static func write(_ position: Position) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // A position holds nothing that an encoder could refuse.
    return (try? encoder.encode(position)).map {
      String(decoding: JSONText.printable($0), as: UTF8.self)
    } ?? "{}"
  }
}
