package import HTTPTypes
import QuireCore

/// Takes secrets out of what people get to read: errors, logs and reports (H-8).
///
/// The values of query parameters are shown only where they are harmless by name or by nature; the
/// values of credential fields never; and where a text from outside repeats a known secret, however
/// it spells it, the secret is cut out of it.
package struct Redactor: Sendable {
  private let patterns: [SecretPattern]

  /// A redactor that knows the values of `fields`, those in `urls` and in `body` whose names give them
  /// away, and the texts `known`.
  package init(
    fields: HTTPFields, urls: [String], body: PageRequest.Body = .none, known: [[UInt8]] = []
  ) {
    var secrets = Set(known)
    for field in fields where !Self.harmlessFields.contains(field.name) {
      for part in Secret.parts(of: field) { secrets.insert(Array(part.utf8)) }
    }
    for url in urls {
      for (name, value) in Self.parameters(of: url) where SecretName.matches(name) {
        secrets.insert(Array(value.utf8))
        secrets.insert(PercentEncoding.decodedBytes(value))
      }
      for (_, value) in SecretSegment.matrixParameters(of: Self.path(of: url)) {
        secrets.insert(PercentEncoding.decodedBytes(value))
      }
    }
    for (_, value) in BodySecrets.all(in: body) { secrets.insert(Array(value.utf8)) }
    // Shorter texts are no secrets worth the name, and cutting them out would garble every message.
    let telling = secrets.filter { $0.count >= Secret.telling }
      .sorted { $1.count < $0.count }
    patterns =
      telling.map { SecretPattern($0) }
      + telling.flatMap(Base64.traces).filter { $0.count >= Secret.telling }.flatMap { trace in
        [trace, Self.urlSafe(trace)].map { SecretPattern($0, shortestBeginning: 4) }
      }
  }

  /// A redactor that knows what a listing's first request holds; `segment` is the description's
  /// `secretSegment`.
  package init(url: String, options: PageClient.RequestOptions, segment: String? = nil) {
    let request = PageRequest(url: url, headerFields: options.headers, body: options.body)
    let segments = segment.flatMap { try? SecretSegment($0) }.map { [$0] } ?? []
    let secrets = Secret.all(in: request, [:], segments: segments, named: options.secrets)
    self.init(
      fields: options.headers, urls: [url], body: options.body, known: secrets.map(\.value))
  }

  /// `GET https://host/path?page=2&token=…`.
  package func describe(_ method: HTTPRequest.Method, _ url: String) -> String {
    "\(method) \(describe(url))"
  }

  /// `https://host/path?page=2&token=…`.
  package func describe(_ url: String) -> String {
    // Scrubbed before it is cut, lest half a secret stays.
    let path = ServerText(scrub(Self.withoutUser(Self.path(of: url))))
    guard url.utf8.contains(UInt8(ascii: "?")) else { return path.description }
    let shown = Self.parameters(of: url).map { name, value in
      let name = PercentEncoding.encode(name, allowing: "$[]")
      return Self.isHarmless(name, value) ? "\(name)=\(value)" : "\(name)=…"
    }
    return "\(path)?\(ServerText(scrub(shown.joined(separator: "&"))))"
  }

  /// `text` with every known secret cut out, and every beginning of one that breaks off at "…".
  package func scrub(_ text: String) -> String {
    guard !patterns.isEmpty else { return text }
    var text = text
    let kept = text.withUTF8 { scrub($0) }
    return String(decoding: kept, as: UTF8.self)
  }

  private func scrub(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
    var kept: [UInt8] = []
    kept.reserveCapacity(text.count)
    var offset = 0
    while offset < text.count {
      if let end = end(ofSecretAt: offset, in: text) {
        kept += Self.ellipsis
        offset = end
        continue
      }
      if text[offset] == Self.ellipsis[0], text[offset...].starts(with: Self.ellipsis) {
        dropBeginning(from: &kept)
        kept += Self.ellipsis
        offset += Self.ellipsis.count
        continue
      }
      kept.append(text[offset])
      offset += 1
    }
    return kept
  }

  private func end(ofSecretAt offset: Int, in text: UnsafeBufferPointer<UInt8>) -> Int? {
    for pattern in patterns {
      if case .whole(let end) = pattern.match(in: text, at: offset) { return end }
    }
    return nil
  }

  /// Takes the beginning of a secret off the end of a text that was cut there.
  private func dropBeginning(from kept: inout [UInt8]) {
    let count = kept.count
    let length = kept.withUnsafeBufferPointer { text -> Int in
      for start in max(0, count - Self.longestBeginning)..<count {
        for pattern in patterns where pattern.match(in: text, at: start, isCut: true) == .beginning
        {
          return count - start
        }
      }
      return 0
    }
    kept.removeLast(length)
  }

  /// At most 256 bytes of a body, printable, with secrets cut out: no line breaks or escapes reach
  /// a log.
  package func snippet(_ body: some Collection<UInt8>) -> String {
    // Scrubbed before it is cut to what is shown, lest half a secret stays.
    let isWhole = body.count <= Self.longestScrubbed
    let text = String(decoding: body.prefix(Self.longestScrubbed), as: UTF8.self)
    return ServerText(onOneLine(isWhole ? text : text + "…")).description
  }

  /// `text` with secrets cut out, on one line, and with everything escaped that cannot be shown.
  package func printable(_ text: String) -> String {
    ServerText(onOneLine(text), limit: Self.longestScrubbed).description
  }

  /// `text` with secrets cut out, and spaces for its line breaks.
  private func onOneLine(_ text: String) -> String {
    let characters = scrub(text).unicodeScalars.map {
      "\n\r\t".unicodeScalars.contains($0) ? " " : $0
    }
    return String(String.UnicodeScalarView(characters))
  }

  private static let ellipsis = Array("…".utf8)
  private static let longestScrubbed = 4 << 10
  /// How far before a cut the beginning of a secret is looked for: a page's worth of escapes.
  private static let longestBeginning = 4 << 10

  private static func urlSafe(_ digits: [UInt8]) -> [UInt8] {
    digits.map {
      switch $0 {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: $0
      }
    }
  }

  private static func parameters(of url: String) -> [(name: String, encoded: String)] {
    let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    return query.isEmpty ? [] : QueryString(String(Substring(query))).pairs
  }

  private static func path(of url: String) -> String {
    String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") }))
  }

  /// The URL without what stands before an `@` in its authority.
  private static func withoutUser(_ url: String) -> String {
    guard let parts = try? URLReference(url), let authority = parts.authority,
      let at = authority.lastIndex(of: "@")
    else { return url }
    var shown = parts
    shown.authority = "…" + authority[at...]
    return shown.text
  }

  private static func isHarmless(_ name: String, _ value: String) -> Bool {
    !SecretName.matches(name)
      && (value.isEmpty || (value.count <= 18 && value.allSatisfy(\.isNumber)))
  }

  /// Fields that say nothing about who asks.
  static let harmlessFields: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .contentType, .contentLength, .range,
    .date,
  ]
}
