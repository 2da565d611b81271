package import HTTPTypes

/// Takes secrets out of what people get to read: errors, logs and reports (H-8).
///
/// The values of query parameters are shown only where they are harmless by name or by nature; the
/// values of credential fields never; and where a text from outside repeats a known secret, the
/// secret is cut out of it.
package struct Redactor: Sendable {
  private let secrets: [String]

  /// A redactor that knows the values of `fields` and of the secret parameters of `url`.
  package init(fields: HTTPFields, url: String) {
    var secrets: [String] = []
    for field in fields where !Self.harmlessFields.contains(field.name) {
      secrets.append(field.value)
      secrets += field.value.split(separator: " ").dropFirst().map(String.init)
    }
    for (name, value) in Self.parameters(of: url) where Self.isSecret(name) {
      secrets.append(value)
      secrets.append(PercentEncoding.decode(value))
    }
    // Shorter texts are no secrets worth the name, and cutting them out would garble every message.
    self.secrets = secrets.filter { $0.utf8.count >= 6 }
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

  /// `text` with every known secret cut out.
  package func scrub(_ text: String) -> String {
    var text = text
    for secret in secrets where text.contains(secret) {
      text = text.split(separator: secret, omittingEmptySubsequences: false).joined(separator: "…")
    }
    return text
  }

  /// At most 256 bytes of a body, printable, with secrets cut out: no line breaks or escapes reach
  /// a log.
  package func snippet(_ body: some Collection<UInt8>) -> String {
    let text = String(decoding: body.prefix(256), as: UTF8.self)
    let printable = text.unicodeScalars.map { scalar -> Character in
      scalar.properties.generalCategory == .control || scalar.properties.generalCategory == .format
        ? " " : Character(scalar)
    }
    return scrub(String(printable))
  }

  private static func parameters(of url: String) -> [(name: String, encoded: String)] {
    url.firstIndex(of: "?").map { QueryString(String(url[url.index(after: $0)...])).pairs } ?? []
  }

  /// Whether a parameter of that name usually holds a secret.
  static func isSecret(_ name: String) -> Bool {
    let name = name.lowercased()
    return ["token", "key", "secret", "password", "auth", "sig", "credential", "session"]
      .contains { name.contains($0) }
  }

  private static func isHarmless(_ name: String, _ value: String) -> Bool {
    !isSecret(name) && (value.isEmpty || (value.count <= 18 && value.allSatisfy(\.isNumber)))
  }

  private static let harmlessFields: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .contentType, .contentLength, .range,
  ]
}
