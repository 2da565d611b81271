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
    // Bytes, not characters: a slash with an accent on it is a slash to every server.
    var rest = text.utf8[...]
    fragment = Self.cut(&rest, after: UInt8(ascii: "#"))
    query = Self.cut(&rest, after: UInt8(ascii: "?"))
    scheme = Self.takeScheme(from: &rest)
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = String(Substring(rest[..<end]))
      rest = rest[end...]
    }
    path = String(Substring(rest))
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

  private static func cut(_ rest: inout Substring.UTF8View, after mark: UInt8) -> String? {
    guard let index = rest.firstIndex(of: mark) else { return nil }
    let part = String(Substring(rest[rest.index(after: index)...]))
    rest = rest[..<index]
    return part
  }

  private static func takeScheme(from rest: inout Substring.UTF8View) -> String? {
    guard let first = rest.first, isLetter(first),
      let end = rest.firstIndex(where: { !isSchemeByte($0) }), rest[end] == UInt8(ascii: ":")
    else { return nil }
    let name = String(Substring(rest[..<end]))
    rest = rest[rest.index(after: end)...]
    return name
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || "+-.".utf8.contains(byte)
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
