import QuireCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension JSONEncoder {
  /// An encoder whose output is the same for equal values: members are sorted by name, slashes are
  /// not escaped.
  package static var ordered: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

extension Encodable {
  /// The value as JSON text, to be stored. Equal values have equal texts.
  package var storedJSON: String {
    get throws { String(decoding: try JSONEncoder.ordered.encode(self), as: UTF8.self) }
  }
}

extension Decodable {
  /// Creates a value from JSON text.
  package init(storedJSON text: String) throws {
    self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
  }
}

/// The form in which checkpoints are stored: one line of JSON with a check sum that detects every
/// changed byte, `{"quire":1,"sum":"1a2b3c4d","checkpoint":{…}}`.
///
/// The sum is the CRC-32C of the body, which is the text between the name and the last brace.
struct Seal {
  /// The name of the body's member, also used in messages.
  let name: String

  static let checkpoint = Seal(name: "checkpoint")
  /// The seal of the file beside a file of items.
  static let file = Seal(name: "file")

  /// The version of the form written here.
  private static let version = 1

  /// Returns the sealed line of a value, without a line end.
  func seal(_ content: some Encodable) -> [UInt8] {
    // Encoding cannot fail: sealed values have no content that an encoder refuses.
    let encoded = try? JSONEncoder.ordered.encode(content)
    let body = encoded.map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Array("\(head(version: Self.version, body))\(body)}".utf8)
  }

  /// Decodes a line written by `seal`. Throws `SinkError` with the code `.damaged` if a byte was
  /// changed, and `.unsupported` for another version.
  func unseal<Content: Decodable>(
    _ type: Content.Type, from bytes: some Sequence<UInt8>
  ) throws(SinkError) -> Content {
    let text = String(decoding: Array(bytes), as: UTF8.self)
    guard text.hasPrefix("{\"quire\":"), text.hasSuffix("}"),
      let place = text.firstRange(of: "\"\(name)\":"),
      let version = Int(text.dropFirst(9).prefix { $0.isASCII && $0.isNumber })
    else { throw damaged }
    let body = String(text[place.upperBound...].dropLast())
    guard text[..<place.upperBound] == head(version: version, body) else { throw damaged }
    guard version == Self.version else {
      throw SinkError(
        .unsupported,
        "The \(name) has the form \(version), and this version of Quire reads the form "
          + "\(Self.version). Go on with the version that wrote it, or begin anew.")
    }
    do {
      return try JSONDecoder().decode(type, from: Data(body.utf8))
    } catch {
      throw damaged
    }
  }

  private func head(version: Int, _ body: String) -> String {
    var check = CyclicCheck()
    check.add(body)
    return "{\"quire\":\(version),\"sum\":\"\(check.text)\",\"\(name)\":"
  }

  private var damaged: SinkError {
    SinkError(
      .damaged,
      "The \(name) is damaged: its check sum does not fit. Begin anew, or restore it from a copy.")
  }
}
