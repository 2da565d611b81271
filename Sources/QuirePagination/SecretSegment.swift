package import QuireCore

/// A pattern for segments of a URL's path that hold a secret, such as `bot{secret}`: the segments
/// that begin and end as the text around the braces does.
package struct SecretSegment: Hashable, Sendable {
  private let prefix: String
  private let suffix: String

  /// Creates a pattern. Throws `invalidArgument` for a text without `{secret}`, or with a slash.
  package init(_ text: String) throws(PageError) {
    let sides = text.split(separator: Self.mark, omittingEmptySubsequences: false)
    guard sides.count == 2, !text.utf8.contains(UInt8(ascii: "/")) else {
      throw PageError(
        .invalidArgument,
        "\"\(ServerText(text))\" does not say which part of a path is secret. Write one segment of "
          + "the path with {secret} in it, such as \"bot{secret}\".")
    }
    (prefix, suffix) = (String(sides[0]), String(sides[1]))
  }

  private static let mark = "{secret}"

  /// Returns the secrets in a path, as they are encoded there.
  package func secrets(in path: String) -> [String] {
    path.split(separator: "/").compactMap { segment in
      let bytes = segment.utf8
      let (before, after) = (prefix.utf8.count, suffix.utf8.count)
      guard bytes.count > before + after, bytes.starts(with: prefix.utf8),
        bytes.suffix(after).elementsEqual(suffix.utf8)
      else { return nil }
      return String(Substring(bytes.dropFirst(before).dropLast(after)))
    }
  }

  /// Returns parameters in segments of a path whose names reveal a secret, such as `;jsessionid=…`
  /// (RFC 3986, §3.3), with their values still encoded.
  package static func matrixParameters(of path: String) -> [(name: String, encoded: String)] {
    guard path.utf8.contains(UInt8(ascii: ";")) else { return [] }
    return path.split(separator: "/").flatMap { $0.split(separator: ";").dropFirst() }
      .compactMap { parameter in
        let sides = parameter.split(separator: "=", maxSplits: 1)
        guard sides.count == 2, SecretName.matches(PercentEncoding.decode(sides[0])) else {
          return nil
        }
        return (PercentEncoding.decode(sides[0]), String(sides[1]))
      }
  }
}
