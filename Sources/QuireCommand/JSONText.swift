import Foundation
import QuireCore

/// JSON as the tool prints it: whatever a terminal obeys, hides or reorders by is escaped as JSON has
/// it, so that the text is still the same value.
enum JSONText {
  /// What an encoder made, without such characters.
  static func printable(_ json: Data) -> Data {
    if json.allSatisfy({ (0x20...0x7E).contains($0) || $0 == 0x0A }) { return json }
    var text = ""
    for scalar in String(decoding: json, as: UTF8.self).unicodeScalars {
      if scalar == "\n" || scalar.isPlain {
        text.unicodeScalars.append(scalar)
      } else {
        // Outside a string JSON has none of them.
        for unit in String(scalar).utf16 {
          let digits = String(unit, radix: 16)
          text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
      }
    }
    return Data(text.utf8)
  }
}
