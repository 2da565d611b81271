import QuireCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

extension JSONEncoder {
  /// One that writes the same for the same value: members in the order of their names, and slashes as they are.
  package static var ordered: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

/// What is stored as one line of JSON in which no byte can change unnoticed:
/// `{"quire":1,"sum":"1a2b3c4d","checkpoint":{…}}`.
///
/// The sum is the CRC-32C of the body, which is what stands behind the name and before the last brace.
struct Seal {
  /// What messages call it, and the body's name.
  let name: String

  static let checkpoint = Seal(name: "checkpoint")
  /// What a file of items has beside it.
  static let file = Seal(name: "file")

  /// The form written here.
  private static let version = 1

  /// The line, without its end.
  func close(_ content: some Encodable) -> [UInt8] {
    // What is sealed holds nothing that an encoder could refuse.
    let encoded = try? JSONEncoder.ordered.encode(content)
    let body = encoded.map { String(decoding: $0, as: UTF8.self) } ?? ""
    return Array("\(head(version: Self.version, body))\(body)}".utf8)
  }

  /// Reads what `close` wrote.
  func open<Content: Decodable>(
    _ type: Content.Type, in bytes: some Sequence<UInt8>
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
