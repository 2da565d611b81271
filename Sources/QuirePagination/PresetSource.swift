import CPresets
import QuireCore

/// A preset as JSON text, which is embedded in the program.
///
/// Most programs use one preset or none, and parsing all of them takes longer than exporting a
/// page. So the text is divided into presets when the first one is requested, and only presets that
/// may match are parsed.
struct PresetSource: Sendable {
  /// A part of the embedded text.
  typealias Text = Slice<UnsafeBufferPointer<UInt8>>

  /// The title of the preset's file.
  let family: String
  /// The preset's range in the embedded text.
  private let range: Range<Int>

  /// All presets, in the order of their files.
  static let all: [PresetSource] = {
    let bytes = Self.bytes
    var sources: [PresetSource] = []
    var family = ""
    // The text is a list of files: objects with a title, followed by a list of presets.
    var (level, file, preset) = (0, 0, 0)
    var place = 0
    while place < bytes.count {
      switch bytes[place] {
      case UInt8(ascii: "\""): place = endOfText(at: place, in: bytes) - 1
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        level += 1
        if level == 2 { file = place }
        if level == 3 { family = title(Array(bytes[file...place])) }
        if level == 4 { preset = place }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if level == 4 { sources.append(PresetSource(family: family, range: preset..<place + 1)) }
        level -= 1
      default: break
      }
      place += 1
    }
    return sources
  }()

  /// Parses the preset.
  func value() -> JSONValue {
    guard let value = try? JSONValue(parsing: text) else {
      preconditionFailure("A file of presets is not JSON.")
    }
    return value
  }

  /// Returns whether a text may be a value or a member's name in the preset, without parsing it. A
  /// text that JSON would escape always may.
  func mayMention(_ text: String) -> Bool {
    let wanted = text.utf8
    guard wanted.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
    else { return true }
    let quoted = [UInt8(ascii: "\"")] + wanted + [UInt8(ascii: "\"")]
    let bytes = UnsafeBufferPointer(rebasing: self.text)
    var place = 0
    // Most quotes begin another text, and comparing one letter first rules out most of them.
    while place + quoted.count <= bytes.count {
      if bytes[place] == quoted[0], bytes[place + 1] == quoted[1],
        bytes[place...].starts(with: quoted)
      {
        return true
      }
      place += 1
    }
    return false
  }

  /// Calls `body` with each text value in the preset and the name of its member, without parsing:
  /// both are as JSON writes them between quotes.
  func eachText(_ body: (_ member: Text, _ text: Text) -> Void) {
    let bytes = Self.bytes
    var member = bytes[range.lowerBound..<range.lowerBound]
    var place = range.lowerBound
    while place < range.upperBound {
      guard bytes[place] == UInt8(ascii: "\"") else {
        place += 1
        continue
      }
      let end = Self.endOfText(at: place, in: bytes)
      let text = bytes[place + 1..<end - 1]
      place = end
      if bytes[place] == UInt8(ascii: ":") { member = text } else { body(member, text) }
    }
  }

  private var text: Text { Self.bytes[range] }

  private static var bytes: UnsafeBufferPointer<UInt8> {
    var count = 0
    let start = quire_presets(&count)
    return UnsafeBufferPointer(start: start, count: count)
  }

  /// Returns the index behind a text whose opening quote is at `start`.
  private static func endOfText(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var place = start + 1
    while bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return place + 1
  }

  /// Returns the title of a file from its text up to the opening bracket of its presets.
  private static func title(_ beginning: [UInt8]) -> String {
    let file = try? JSONValue(parsing: beginning + Array("]}".utf8))
    guard let title = file?["family"]?.string, file?["presets"] != nil else {
      preconditionFailure("A file of presets has no \"family\" or no \"presets\" behind it.")
    }
    return title
  }
}
