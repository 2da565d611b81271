package import QuireCore

/// A URL reference, split into its five parts and otherwise unchanged.
///
/// Foundation's URL types decode, encode and normalize, but a next link has to be sent as it was
/// received. So this type splits, resolves and recomposes, and changes nothing else. Source: RFC
/// 3986, §5.2, §5.3 and appendix B.
package struct URLReference: Hashable, Sendable {
  package var scheme: String?
  package var authority: String?
  package var path: String
  package var query: String?
  package var fragment: String?

  /// Splits `text`.
  ///
  /// Throws `invalidURL` for bytes that no URL may have and that parsers treat differently (white
  /// space, control characters, backslashes), and for more than 8 KiB.
  package init(_ text: String) throws(PageError) {
    var text = text
    if let objection = text.withUTF8(Self.objection) { throw objection }
    self = text.withUTF8(Self.init(splitting:))
  }

  /// Splits a link from a page. Throws `refusedLink` if the link is invalid; the message begins
  /// with `complaint`.
  init(
    link text: String, _ complaint: String = "The next link cannot be followed"
  ) throws(PageError) {
    do {
      try self.init(text)
    } catch {
      throw PageError(.refusedLink, "\(complaint): \(error.message)")
    }
  }

  /// The recomposed reference (RFC 3986, §5.3).
  package var text: String {
    var text = ""
    text.reserveCapacity(path.utf8.count + (query?.utf8.count ?? 0) + 64)
    if let scheme {
      text += scheme
      text += ":"
    }
    if let authority {
      text += "//"
      text += authority
    }
    text += path
    if let query {
      text += "?"
      text += query
    }
    if let fragment {
      text += "#"
      text += fragment
    }
    return text
  }

  /// Returns the reference resolved against `base`, an absolute URL (RFC 3986, §5.2.2).
  ///
  /// A reference with a scheme is returned unchanged. Dot segments are removed only from the path
  /// of a reference without scheme and authority.
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
  /// The most bytes of a URL.
  static let longest = 8 << 10

  /// Returns the error for a text that is too long or has invalid bytes; nil if it is valid.
  private static func objection(to bytes: UnsafeBufferPointer<UInt8>) -> PageError? {
    guard bytes.count <= longest else {
      return PageError(
        .invalidURL, "A URL of \(bytes.count) bytes is longer than the \(longest) allowed.")
    }
    let refused = bytes.first { $0 <= 0x20 || $0 == 0x7F || $0 == UInt8(ascii: "\\") }
    return refused.map {
      PageError(
        .invalidURL,
        "A URL holds the byte 0x\(String($0, radix: 16)), which no URL may hold and which parsers "
          + "disagree about. Percent-encode it at its source.")
    }
  }

  /// Splits bytes, not characters: a slash with a combining accent is a slash to every server.
  private init(splitting bytes: UnsafeBufferPointer<UInt8>) {
    var rest = bytes[...]
    fragment = Self.cut(&rest, after: UInt8(ascii: "#"))
    query = Self.cut(&rest, after: UInt8(ascii: "?"))
    scheme = Self.takeScheme(from: &rest)
    if rest.starts(with: "//".utf8) {
      rest = rest.dropFirst(2)
      let end = rest.firstIndex(of: UInt8(ascii: "/")) ?? rest.endIndex
      authority = Self.text(rest[..<end])
      rest = rest[end...]
    }
    path = Self.text(rest)
  }

  private static func cut(
    _ rest: inout Slice<UnsafeBufferPointer<UInt8>>, after mark: UInt8
  ) -> String? {
    guard let index = rest.firstIndex(of: mark) else { return nil }
    let part = text(rest[(index + 1)...])
    rest = rest[..<index]
    return part
  }

  private static func takeScheme(
    from rest: inout Slice<UnsafeBufferPointer<UInt8>>
  ) -> String? {
    guard let first = rest.first, isLetter(first),
      let end = rest.firstIndex(where: { !isSchemeByte($0) }), rest[end] == UInt8(ascii: ":")
    else { return nil }
    let name = text(rest[..<end])
    rest = rest[(end + 1)...]
    return name
  }

  private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes), as: UTF8.self)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isSchemeByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"),
      UInt8(ascii: "."):
      true
    default: isLetter(byte)
    }
  }

  /// Whether a dot follows a slash. A fast check, because it is made for every URL and searching
  /// for a text is slow.
  private static func mayHaveDotSegments(_ path: String) -> Bool {
    var last: UInt8 = 0
    for byte in path.utf8 {
      if byte == UInt8(ascii: "."), last == UInt8(ascii: "/") { return true }
      last = byte
    }
    return false
  }

  /// Removes `.` and `..` segments (RFC 3986, §5.2.4).
  private static func removingDotSegments(_ path: String) -> String {
    guard mayHaveDotSegments(path) else { return path }
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

extension URLReference {
  /// The path as sent: never empty, and without `.` and `..`.
  private var pathWithoutDots: String {
    if path.isEmpty { return "/" }
    if path.hasPrefix("/") { return Self.removingDotSegments(path) }
    return URLReference(path: path).resolved(against: self).path
  }

  private init(path: String) {
    self.path = path
  }
}

extension URLReference {
  /// Hashes path and query by meaning: dots in the path, needless percent-encoding and the order of
  /// parameters with different names do not matter (RFC 3986, §6.2.2 and §6.2.3).
  package func hashMeaning(into hasher: inout Hasher) {
    var path = pathWithoutDots
    path.withUTF8 { path in
      for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
        PercentEncoding.hash(segment, into: &hasher)
      }
    }
    guard var query else { return }
    query.withUTF8 { query in
      var parameters = query.split(separator: UInt8(ascii: "&")).map { parameter in
        let end = parameter.firstIndex(of: UInt8(ascii: "=")) ?? parameter.endIndex
        var name = Hasher()
        PercentEncoding.hash(parameter[..<end], plusIsSpace: true, into: &name)
        return (name: name.finalize(), value: parameter[end...].dropFirst())
      }
      // Parameters of the same name keep their order.
      parameters.sort { ($0.name, $0.value.startIndex) < ($1.name, $1.value.startIndex) }
      for (name, value) in parameters {
        hasher.combine(name)
        PercentEncoding.hash(value, plusIsSpace: true, into: &hasher)
      }
    }
  }
}
