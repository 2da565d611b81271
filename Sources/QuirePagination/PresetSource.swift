import CPresets
import QuireCore

/// A preset as its file has it, embedded in the program.
///
/// Most programs use one preset or none. So the files are only taken apart into presets when one is
/// asked for, and of those only the text that may answer is read: reading all of them takes longer than
/// exporting a page.
struct PresetSource: Sendable {
  /// A part of the files.
  typealias Text = Slice<UnsafeBufferPointer<UInt8>>

  /// The title of its file.
  let family: String
  /// Where it stands in the files.
  private let range: Range<Int>

  /// All presets, in the order of their files.
  static let all: [PresetSource] = {
    let bytes = Self.bytes
    var sources: [PresetSource] = []
    var family = ""
    // The files are in a list; each is an object with a list of presets, behind its title.
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

  /// Reads the preset.
  func value() -> JSONValue {
    guard let value = try? JSONValue(parsing: text) else {
      preconditionFailure("A file of presets is not JSON.")
    }
    return value
  }

  /// Whether a text stands in the preset, as a value or as a member's name. It is found without reading
  /// the preset; one that JSON escapes may be there.
  func mayMention(_ text: String) -> Bool {
    let wanted = text.utf8
    guard wanted.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") })
    else { return true }
    let quoted = [UInt8(ascii: "\"")] + wanted + [UInt8(ascii: "\"")]
    let bytes = UnsafeBufferPointer(rebasing: self.text)
    var place = 0
    // Nearly all that it finds is another text: the first letter tells most of them apart.
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

  /// Calls `body` with each text that stands in the preset as a value, and the name of the member that it is
  /// in, neither of them read for it: both are as JSON writes them between the quotes.
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

  /// What is behind a text, whose quote is at `start`.
  private static func endOfText(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) -> Int {
    var place = start + 1
    while bytes[place] != UInt8(ascii: "\"") {
      place += bytes[place] == UInt8(ascii: "\\") ? 2 : 1
    }
    return place + 1
  }

  /// The title of a file that begins so.
  private static func title(_ beginning: [UInt8]) -> String {
    let file = try? JSONValue(parsing: beginning + Array("]}".utf8))
    guard let title = file?["family"]?.string, file?["presets"] != nil else {
      preconditionFailure("A file of presets has no \"family\" or no \"presets\" behind it.")
    }
    return title
  }
}
