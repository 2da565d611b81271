package import HTTPTypes
import QuireCore
package import QuirePagination

/// Removes secrets from texts that people read: errors, logs and reports.
///
/// Values of query parameters are shown only if the name or the value is harmless; values of
/// credential fields never. Known secrets are removed from all other text, in any encoding.
package struct Redactor: Sendable {
  private let patterns: [SecretPattern]

  /// Creates a redactor of the values of `fields`, of the secrets in `urls` and `body` that are
  /// recognized by their names, and of the texts `known`.
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
    // Shorter texts are too common: removing them would garble every message.
    let searchable = secrets.filter { $0.count >= Secret.minimumSearchableLength }
      .sorted { $1.count < $0.count }
    patterns =
      searchable.map { SecretPattern($0) }
      + searchable.flatMap(Base64.embeddedDigits).filter {
        $0.count >= Secret.minimumSearchableLength
      }.flatMap { trace in
        [trace, Base64.urlSafe(trace)].map { SecretPattern($0, shortestBeginning: 4) }
      }
  }

  /// Creates a redactor for a listing's first request. `segment` is the description's
  /// `secretSegment`.
  package init(url: String, options: PageClient.RequestOptions, segment: String? = nil) {
    let request = PageRequest(url: url, headerFields: options.headers, body: options.body)
    let segments = segment.flatMap { try? SecretSegment($0) }.map { [$0] } ?? []
    let secrets = Secret.all(in: request, [:], segments: segments, named: options.secrets)
    self.init(
      fields: options.headers, urls: [url], body: options.body, known: secrets.map(\.value))
  }

  /// Returns `GET https://host/path?page=2&token=…`.
  package func describe(_ method: HTTPRequest.Method, _ url: String) -> String {
    "\(method) \(describe(url))"
  }

  /// Returns `https://host/path?page=2&token=…`.
  package func describe(_ url: String) -> String {
    // Redacted before truncation, which could leave half a secret.
    let (path, query) = scrubbed(url, showing: Self.isHarmless)
    return "\(ServerText(path))" + (query.map { "?\(ServerText($0))" } ?? "")
  }

  /// Returns the identity of a request, such as validators use.
  package func identity(of method: HTTPRequest.Method, _ url: String) -> String {
    "\(method) \(identity(of: url))"
  }

  /// Returns `https://host/path?q=word&token=…`, a URL without its secrets only. Unlike with
  /// `describe(_:)`, URLs that differ in more than secrets have different texts.
  package func identity(of url: String) -> String {
    let (path, query) = scrubbed(url) { name, _ in !SecretName.matches(name) }
    return path + (query.map { "?" + $0 } ?? "")
  }

  /// Returns the path and the query of a URL without secrets, with the parameter values that
  /// `isShown` accepts. The query is nil if the URL has none.
  private func scrubbed(
    _ url: String, showing isShown: (_ name: String, _ value: String) -> Bool
  ) -> (path: String, query: String?) {
    let path = scrub(Self.withoutUser(Self.path(of: url)))
    guard url.utf8.contains(UInt8(ascii: "?")) else { return (path, nil) }
    let parameters = Self.parameters(of: url).map { name, value in
      let name = PercentEncoding.encode(name, allowing: "$[]")
      return isShown(name, value) ? "\(name)=\(value)" : "\(name)=…"
    }
    return (path, scrub(parameters.joined(separator: "&")))
  }

  /// Returns `text` without known secrets, and without beginnings of them that are cut off by "…".
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
    // The beginning of the text after the last "…", so that text with many of them is searched only
    // once.
    var piece = 0
    while offset < text.count {
      if let end = end(ofSecretAt: offset, in: text) {
        kept += Self.ellipsis
        (offset, piece) = (end, kept.count)
        continue
      }
      if text[offset] == Self.ellipsis[0], text[offset...].starts(with: Self.ellipsis) {
        dropBeginning(from: &kept, behind: piece)
        kept += Self.ellipsis
        (offset, piece) = (offset + Self.ellipsis.count, kept.count)
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

  /// Removes the beginning of a secret from the end of a truncated text, but nothing before
  /// `first`.
  private func dropBeginning(from kept: inout [UInt8], behind first: Int) {
    let count = kept.count
    let length = kept.withUnsafeBufferPointer { text -> Int in
      for start in max(first, count - Self.longestBeginning)..<count {
        for pattern in patterns where pattern.match(in: text, at: start, isCut: true) == .beginning
        {
          return count - start
        }
      }
      return 0
    }
    kept.removeLast(length)
  }

  /// Returns at most 256 bytes of a body, printable and without secrets. Contains no line breaks or
  /// escapes that could disturb a log.
  ///
  /// Long secrets that the body itself names are removed, too: the answer to a request for a token
  /// is one. Shorter ones are left, because errors name parameters by members such as `key`.
  func snippet(_ body: some Collection<UInt8>) -> String {
    // Redacted before truncation, which could leave half a secret.
    let isWhole = body.count <= Self.longestScrubbed
    let text = String(decoding: body.prefix(Self.longestScrubbed), as: UTF8.self)
    let named = BodySecrets.all(in: .bytes(Array(body.prefix(Self.longestSearched))))
      .map { Array($0.value.utf8) }.filter { $0.count >= Self.shortestNamed }
    // A hostile body may name thousands, and those that begin beyond the text are not shown.
    let own = Redactor(fields: [:], urls: [], known: Array(named.prefix(Self.mostNamed)))
    return ServerText(onOneLine(own.scrub(isWhole ? text : text + "…"))).description
  }

  /// Returns `text` on one line, without secrets, and with unprintable characters escaped.
  package func printable(_ text: String) -> String {
    ServerText(onOneLine(text), limit: Self.longestScrubbed).description
  }

  /// Returns `text` without secrets, and with spaces instead of line breaks.
  private func onOneLine(_ text: String) -> String {
    let characters = scrub(text).unicodeScalars.map {
      "\n\r\t".unicodeScalars.contains($0) ? " " : $0
    }
    return String(String.UnicodeScalarView(characters))
  }

  private static let ellipsis = Array("…".utf8)
  private static let longestScrubbed = 4 << 10
  /// The number of bytes of an answer that are searched for secrets by name: tokens are long.
  private static let longestSearched = 64 << 10
  /// The length in bytes of the shortest secret that is known only by its name in an answer.
  private static let shortestNamed = 16
  private static let mostNamed = 32
  /// The number of bytes before a cut in which a secret may begin; enough for one in many escapes.
  private static let longestBeginning = 4 << 10

  private static func parameters(of url: String) -> [(name: String, encoded: String)] {
    let query = url.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    return query.isEmpty ? [] : QueryString(String(Substring(query))).pairs
  }

  private static func path(of url: String) -> String {
    String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") }))
  }

  /// Returns the URL with the user information of its authority replaced, even if it is malformed.
  private static func withoutUser(_ url: String) -> String {
    guard let start = url.firstRange(of: "//")?.upperBound else { return url }
    let authority = url[start...].prefix { $0 != "/" && $0 != "#" }
    guard let at = authority.lastIndex(of: "@") else { return url }
    return String(url[..<start]) + "…" + String(url[at...])
  }

  private static func isHarmless(_ name: String, _ value: String) -> Bool {
    !SecretName.matches(name)
      && (value.isEmpty || (value.count <= 18 && value.allSatisfy(\.isNumber)))
  }

  /// Fields that never hold credentials.
  static let harmlessFields: Set<HTTPField.Name> = [
    .accept, .acceptLanguage, .acceptEncoding, .userAgent, .contentType, .contentLength, .range,
    .date,
  ]
}

/// A secret of a walk: a value of its first request that is recognized by its name, or that the
/// caller declared secret.
struct Secret: Hashable, Sendable {
  /// The identifier in positions: where the secret came from, never its value. Only unreserved
  /// characters.
  let id: String
  /// The decoded bytes of the secret.
  let value: [UInt8]

  /// Whether the secret is long enough to be searched for in texts. Shorter ones are recognized
  /// only by the name of a parameter.
  var isSearchable: Bool { value.count >= Self.minimumSearchableLength }
  static let minimumSearchableLength = 6

  /// The parts of the secret that are visible in base 64, in both alphabets, and the secret as a
  /// link inside a link has it, percent-encoded before the whole is; each with its own identifier.
  var encoded: [Secret] {
    let inBase64 = Base64.embeddedDigits(of: value).enumerated().flatMap { lead, trace in
      let forURLs = Base64.urlSafe(trace)
      let plain = Secret(id: "\(id)!\(lead)", value: trace)
      return forURLs == trace ? [plain] : [plain, Secret(id: "\(id)!\(lead)u", value: forURLs)]
    }
    let inLink = Array(SecretSpelling.spell(value, "").utf8)
    return (inBase64 + (inLink == value ? [] : [Secret(id: "\(id)!p", value: inLink)]))
      .filter(\.isSearchable)
  }

  /// Returns the secrets of a request that also has `fields`: parameters, fields and members of the
  /// body that are recognized by their names, the path segments that `segments` describes, and
  /// `named`, which may be anywhere.
  static func all(
    in request: PageRequest, _ fields: HTTPFields, segments: [SecretSegment] = [],
    named: [String] = []
  ) -> [Secret] {
    var list = SecretList()
    let url = try? URLReference(request.url)
    let query = QueryString(url?.query)
    for (name, value) in query.pairs where SecretName.matches(name) {
      list.add("query", name, PercentEncoding.decodedBytes(value))
    }
    for field in fields where SecretName.matches(field.name.rawName) {
      for value in parts(of: field) { list.add("field", field.name.canonicalName, value.utf8) }
    }
    for (name, value) in SecretSegment.matrixParameters(of: url?.path ?? "") {
      list.add("path", name, PercentEncoding.decodedBytes(value))
    }
    for segment in segments {
      for value in segment.secrets(in: url?.path ?? "") {
        list.add("path", "segment", PercentEncoding.decodedBytes(value))
      }
    }
    for (name, value) in BodySecrets.all(in: request.body) { list.add("body", name, value.utf8) }
    for value in named { list.add("named", "", value.utf8) }
    return list.secrets
  }

  /// Returns the secrets of a credential. Other credentials with the same fields have the same
  /// identifiers, so that a position made with one credential can be used with the next.
  static func all(of credential: Credential) -> [Secret] {
    var list = SecretList()
    for field in credential.fields where !Redactor.harmlessFields.contains(field.name) {
      for part in parts(of: field) {
        list.add(credentialSource, field.name.canonicalName, part.utf8)
      }
    }
    return list.secrets
  }

  /// The prefix of the identifiers of a credential's secrets.
  static let credentialSource = "credential.field"

  /// Returns the secret texts of a field: its value, the rest after a scheme (`Bearer …`), the
  /// values of cookies, and a user with a password, and the password alone, as text or in base 64.
  ///
  /// Positions name a secret by its place in this list, so new ones go to the end.
  static func parts(of field: HTTPField) -> [String] {
    var parts = [field.value]
    let words = field.value.split(separator: " ", maxSplits: 1)
    parts += words.dropFirst().map { String($0.drop { $0 == " " }) }
    let isBasic = words.count == 2 && words[0].lowercased() == "basic"
    if isBasic { parts += Base64.decode(parts[1]).map(credentials) ?? [] }
    // The parameters of schemes such as `AWS4-HMAC-SHA256 Credential=…, Signature=…`.
    for word in field.value.split(whereSeparator: { $0 == "," || $0 == " " }) {
      let sides = word.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, SecretName.matches(String(sides[0])) else { continue }
      parts.append(sides[1].filter { $0 != "\"" })
    }
    if field.name == .cookie { return parts + cookies(in: field.value) }
    guard !isBasic, SecretName.matches(field.name.rawName), let last = parts.last(where: \.isToken)
    else { return parts }
    // Other schemes write such a pair, too, some in base 64.
    for pair in [last, Base64.decode(last) ?? ""] where pair.contains(":") && pair.isToken {
      parts += credentials(pair)
    }
    return parts
  }

  /// Returns a user and password (RFC 7617), and the one of them that is secret: the password, or
  /// the user where a service takes a token as the user, and no password or a fixed word. Of a short
  /// password, both.
  private static func credentials(_ pair: String) -> [String] {
    let sides = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let password = sides.count == 2 ? String(sides[1]) : ""
    // A short password is secret where the name of a parameter says so.
    if password.utf8.count < minimumSearchableLength { return [pair, String(sides[0]), password] }
    let isFiller = ["x-oauth-basic", "api_token"].contains(password)
    return [pair, isFiller ? String(sides[0]) : password]
  }

  private static func cookies(in value: String) -> [String] {
    value.split(separator: ";").flatMap { cookie -> [String] in
      let value = cookie.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
      // Cookies are often percent-encoded or quoted, and servers may repeat the bare value.
      return value
        + value.flatMap { [PercentEncoding.decode($0), $0.filter { $0 != "\"" }] }
        .filter { !value.contains($0) }
    }
  }
}

extension String {
  /// Whether the text is one word of visible characters.
  fileprivate var isToken: Bool {
    !isEmpty && unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value < 0x7F }
  }
}

/// A list of secrets with distinct identifiers, in which each value occurs once.
struct SecretList {
  private(set) var secrets: [Secret] = []

  mutating func add(_ source: String, _ name: String, _ value: some Sequence<UInt8>) {
    let value = Array(value)
    guard !value.isEmpty, !secrets.contains(where: { $0.value == value }) else { return }
    let id = "\(source).\(PercentEncoding.encode(name))"
    let number = secrets.count { $0.id == id || $0.id.hasPrefix(id + "~") } + 1
    secrets.append(Secret(id: number == 1 ? id : "\(id)~\(number)", value: value))
  }
}
