import QuirePagination
import QuireCore

/// Finds secrets in a request's body by their names, in all formats that have names.
enum BodySecrets {
  /// Returns the names and the decoded values of the secrets.
  static func all(in body: PageRequest.Body) -> [(name: String, value: String)] {
    switch body {
    case .none: []
    case .json(let value): leaves(of: value, isSecret: false, name: "")
    case .form(let text): parameters(of: text)
    case .xml(let text): elements(of: text)
    case .bytes(let bytes): all(in: bytes)
    }
  }

  /// Returns the secrets of a body as bytes, whose format is recognized by the first byte.
  static func all(in bytes: [UInt8]) -> [(name: String, value: String)] {
    switch bytes.first(where: { $0 > 0x20 }) {
    case nil: []
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      (try? JSONValue(parsing: bytes)).map { leaves(of: $0, isSecret: false, name: "") } ?? []
    case UInt8(ascii: "<"): elements(of: String(decoding: bytes, as: UTF8.self))
    default: parameters(of: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Returns all texts and numbers below members with the name of a secret.
  private static func leaves(
    of value: JSONValue, isSecret: Bool, name: String
  ) -> [(name: String, value: String)] {
    switch value {
    case .null, .bool: []
    case .number(let text), .string(let text): isSecret ? [(name, text)] : []
    case .array(let elements):
      elements.flatMap { leaves(of: $0, isSecret: isSecret, name: name) }
    case .object(let members):
      members.flatMap {
        leaves(
          of: $0.value, isSecret: isSecret || SecretName.matches($0.name),
          name: isSecret ? name : $0.name)
      }
    }
  }

  private static func parameters(of form: String) -> [(name: String, value: String)] {
    QueryString(form).pairs.filter { SecretName.matches($0.name) }.map {
      ($0.name, PercentEncoding.decode($0.encoded, plusIsSpace: true))
    }
  }

  /// Returns the texts of elements and the values of attributes. Malformed markup is skipped.
  private static func elements(of text: String) -> [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    let text = escapingCDATA(text)
    let pieces = text.utf8.split(separator: UInt8(ascii: "<"), omittingEmptySubsequences: false)
    for piece in pieces.dropFirst() {
      let sides = piece.split(
        separator: UInt8(ascii: ">"), maxSplits: 1, omittingEmptySubsequences: false)
      guard let tag = sides.first, let first = tag.first, !"/?".utf8.contains(first) else {
        continue
      }
      let words = tag.split { $0 <= 0x20 || $0 == UInt8(ascii: "/") }
      let name = localName(words.first)
      if sides.count == 2, SecretName.matches(name) {
        found.append((name, unescaped(String(Substring(sides[1])).trimmingBlanks)))
      }
      found += attributes(of: Substring(tag))
    }
    return found.filter { !$0.value.isEmpty }
  }

  /// Returns the text with CDATA sections replaced by escaped text (XML 1.0, §2.7).
  private static func escapingCDATA(_ text: String) -> String {
    guard text.utf8.contains(UInt8(ascii: "!")) else { return text }
    let bytes = Array(text.utf8)
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    var (index, isInside) = (0, false)
    while index < bytes.count {
      let mark = isInside ? "]]>" : "<![CDATA["
      if bytes[index...].starts(with: mark.utf8) {
        index += mark.utf8.count
        isInside.toggle()
        continue
      }
      switch bytes[index] {
      case UInt8(ascii: "<") where isInside: result += "&lt;".utf8
      case UInt8(ascii: "&") where isInside: result += "&amp;".utf8
      default: result.append(bytes[index])
      }
      index += 1
    }
    return String(decoding: result, as: UTF8.self)
  }

  private static func attributes(of tag: Substring) -> [(name: String, value: String)] {
    var found: [(name: String, value: String)] = []
    var rest = tag.utf8
    while let equals = rest.firstIndex(of: UInt8(ascii: "=")) {
      let name = rest[..<equals].split { $0 <= 0x20 }.last
      let after = rest[rest.index(after: equals)...].drop { $0 <= 0x20 }
      guard let quote = after.first, "\"'".utf8.contains(quote),
        let end = after.dropFirst().firstIndex(of: quote)
      else { break }
      let value = Substring(after[after.index(after: after.startIndex)..<end])
      let local = localName(name)
      if SecretName.matches(local) { found.append((local, unescaped(value))) }
      rest = after[after.index(after: end)...]
    }
    return found
  }

  private static func localName(_ name: Substring.UTF8View?) -> String {
    name.map { String(Substring($0.split(separator: UInt8(ascii: ":")).last ?? $0)) } ?? ""
  }

  private static func unescaped(_ text: some StringProtocol) -> String {
    var result = String(text)
    for (entity, character) in [
      ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&apos;", "'"), ("&amp;", "&"),
    ] where result.contains("&") {
      result = result.replacing(entity, by: character)
    }
    return result
  }
}
