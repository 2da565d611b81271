package import QuireCore

/// A URL reference in its five parts, each byte for byte as it was written.
///
/// Foundation's URL types decode, encode and normalise; a next link must leave as it came (H-1). So
/// this splits, resolves and recomposes, and changes nothing else. Source: RFC 3986, §5.2, §5.3 and
/// appendix B.
package struct URLReference: Hashable, Sendable {
  package var scheme: String?
  package var authority: String?
  package var path: String
  package var query: String?
  package var fragment: String?

  /// Splits `text`.
  ///
  /// Throws `invalidURL` for bytes that no URL has and that parsers disagree about: white space,
  /// control characters, backslashes; and for a text longer than 8 KiB.
  package init(_ text: String) throws(PageError) {
    try Self.check(text)
    var rest = text[...]
    fragment = Self.cut(&rest, after: "#")
    query = Self.cut(&rest, after: "?")
    scheme = Self.takeScheme(from: &rest)
    if rest.hasPrefix("//") {
      let end = rest.dropFirst(2).firstIndex(of: "/") ?? rest.endIndex
      authority = String(rest.dropFirst(2)[..<end])
      rest = rest[end...]
    }
    path = String(rest)
  }

  /// The parts put together again (RFC 3986, §5.3).
  package var text: String {
    var text = ""
    if let scheme { text += scheme + ":" }
    if let authority { text += "//" + authority }
    text += path
    if let query { text += "?" + query }
    if let fragment { text += "#" + fragment }
    return text
  }

  /// This reference as seen from `base`, an absolute URL (RFC 3986, §5.2.2).
  ///
  /// An absolute reference stays byte for byte; dot segments are removed only where paths were
  /// merged.
  package func resolved(against base: URLReference) -> URLReference {
    if scheme != nil { return self }
    var target = self
    target.scheme = base.scheme
    if authority != nil { return target }
    target.authority = base.authority
    if path.isEmpty {
      target.path = base.path
      target.query = query ?? base.query
    } else if !path.hasPrefix("/") {
      let folder = base.path.lastIndex(of: "/").map { base.path[...$0] } ?? "/"
      target.path = Self.removingDotSegments(folder + path)
    } else {
      target.path = Self.removingDotSegments(path)
    }
    return target
  }
}

extension URLReference {
  private static let longest = 8 << 10

  private static func check(_ text: String) throws(PageError) {
    guard text.utf8.count <= longest else {
      throw PageError(
        .invalidURL, "A URL of \(text.utf8.count) bytes is longer than the \(longest) allowed.")
    }
    for byte in text.utf8 where byte <= 0x20 || byte == 0x7F || byte == UInt8(ascii: "\\") {
      throw PageError(
        .invalidURL,
        "A URL holds the byte 0x\(String(byte, radix: 16)), which no URL may hold and which parsers "
          + "disagree about. Percent-encode it at its source.")
    }
  }

  private static func cut(_ rest: inout Substring, after mark: Character) -> String? {
    guard let index = rest.utf8.firstIndex(of: mark.asciiValue ?? 0) else { return nil }
    let part = String(rest[rest.utf8.index(after: index)...])
    rest = rest[..<index]
    return part
  }

  private static func takeScheme(from rest: inout Substring) -> String? {
    guard let colon = rest.firstIndex(of: ":") else { return nil }
    let name = rest[..<colon]
    let isScheme =
      name.first?.isASCIILetter == true
      && name.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || "+-.".contains($0) }
    guard isScheme else { return nil }
    rest = rest[rest.index(after: colon)...]
    return String(name)
  }

  /// RFC 3986, §5.2.4.
  private static func removingDotSegments(_ path: String) -> String {
    guard path.contains("/.") else { return path }
    var kept: [Substring] = []
    let segments = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    for (index, segment) in segments.enumerated() {
      let isLast = index == segments.count - 1
      switch segment {
      case ".": if isLast { kept.append("") }
      case "..":
        _ = kept.popLast()
        if isLast { kept.append("") }
      default: kept.append(segment)
      }
    }
    return "/" + kept.joined(separator: "/")
  }
}

extension Character {
  fileprivate var isASCIILetter: Bool { isASCII && isLetter }
  fileprivate var isASCIIDigit: Bool { isASCII && isWholeNumber }
}
