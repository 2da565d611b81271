package import HTTPTypes

/// Takes secrets out of what people get to read: errors, logs and reports (H-8).
///
/// The values of query parameters are shown only where they are harmless by name or by nature; the
/// values of credential fields never; and where a text from outside repeats a known secret, the
/// secret is cut out of it.
package struct Redactor: Sendable {
  private let secrets: [String]

  /// A redactor that knows the values of `fields` and of the secret parameters of `urls`.
  package init(fields: HTTPFields, urls: [String]) {
    var secrets: [String] = []
    for field in fields where !Self.harmlessFields.contains(field.name) {
      secrets += Secret.parts(of: field)
    }
    for (name, value) in urls.flatMap(Self.parameters) where SecretName.matches(name) {
      secrets.append(value)
      secrets.append(PercentEncoding.decode(value))
    }
    // JSON may escape a slash.
    secrets += secrets.filter { $0.contains("/") }.map { $0.replacing("/", by: "\\/") }
    // Shorter texts are no secrets worth the name, and cutting them out would garble every message.
    self.secrets = secrets.filter { $0.utf8.count >= 6 }.sorted { $0.utf8.count > $1.utf8.count }
  }

  /// `GET https://host/path?page=2&token=…`.
  package func describe(_ method: HTTPRequest.Method, _ url: String) -> String {
    guard let mark = url.firstIndex(of: "?") else { return scrub("\(method) \(url)") }
    let shown = Self.parameters(of: url).map { name, value in
      let name = PercentEncoding.encode(name, allowing: "$[]")
      return Self.isHarmless(name, value) ? "\(name)=\(value)" : "\(name)=…"
    }
    return scrub("\(method) \(url[..<mark])?\(shown.joined(separator: "&"))")
  }

  /// `text` with every known secret cut out, and every beginning of one that breaks off at "…".
  package func scrub(_ text: String) -> String {
    var text = text
    for secret in secrets where text.contains(secret) {
      text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
    }
    var pieces = text.split(separator: "…", omittingEmptySubsequences: false)
    for index in pieces.indices.dropLast() { pieces[index] = withoutBrokenSecret(pieces[index]) }
    return pieces.joined(separator: "…")
  }

  /// A text that goes on with "…", without the beginning of a secret at its end.
  private func withoutBrokenSecret(_ text: Substring) -> Substring {
    let bytes = text.utf8
    let longest = secrets.map { secret in
      let lengths = (0..<secret.utf8.count).reversed()
      return lengths.first { bytes.suffix($0).elementsEqual(secret.utf8.prefix($0)) } ?? 0
    }.max()
    return Substring(bytes.dropLast(longest ?? 0))
  }

  /// At most 256 bytes of a body, printable, with secrets cut out: no line breaks or escapes reach
  /// a log.
  package func snippet(_ body: some Collection<UInt8>) -> String {
    // Scrubbed before it is cut to what is shown, lest half a secret stays.
    let isWhole = body.count <= Self.longestScrubbed
    let text = String(decoding: body.prefix(Self.longestScrubbed), as: UTF8.self)
    let printable = printable(isWhole ? text : text + "…")
    let shown = printable.utf8
    guard shown.count > 256 else { return printable }
    return String(decoding: shown.prefix(256), as: UTF8.self) + "…"
  }

  /// `text` with secrets cut out, and without line breaks and escapes.
  package func printable(_ text: String) -> String {
    let characters = scrub(text).unicodeScalars.map { scalar -> Character in
      scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        ? " " : Character(scalar)
    }
    return String(characters)
  }

  private static let longestScrubbed = 4 << 10

  private static func parameters(of url: String) -> [(name: String, encoded: String)] {
    url.firstIndex(of: "?").map { QueryString(String(url[url.index(after: $0)...])).pairs } ?? []
  }

  private static func isHarmless(_ name: String, _ value: String) -> Bool {
    !SecretName.matches(name)
      && (value.isEmpty || (value.count <= 18 && value.allSatisfy(\.isNumber)))
  }

  private static let harmlessFields: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .contentType, .contentLength, .range,
  ]
}
