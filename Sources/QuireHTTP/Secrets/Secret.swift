import HTTPTypes

/// A secret that a walk starts with: what its first request holds under a name that gives it away, or
/// what the caller calls one.
struct Secret: Hashable, Sendable {
  /// What it goes by in positions: where it came from, never what it is. Unreserved characters only.
  let id: String
  /// Its bytes, decoded.
  let value: [UInt8]

  /// Whether texts are searched for it: a shorter value is told only by the name it stands under.
  var isTelling: Bool { value.count >= Self.telling }
  static let telling = 6

  /// The secrets in a URL and in header fields, none of them empty.
  static func all(in url: String, _ fields: HTTPFields) -> [Secret] {
    all(in: PageRequest(url: url), fields)
  }

  /// The secrets of a request that also has `fields`: parameters, fields and members of the body
  /// whose names give them away, segments of the path that `segments` describes, and `named`, which
  /// may be anywhere.
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

  /// The value of a field, what follows its scheme (`Bearer …`), the value of each cookie, and what
  /// `Basic` encodes: user and password, and the password, or a key that stands in the user's place
  /// (RFC 7617).
  static func parts(of field: HTTPField) -> [String] {
    var parts = [field.value]
    let words = field.value.split(separator: " ", maxSplits: 1)
    parts += words.dropFirst().map(String.init)
    if words.count == 2, words[0].lowercased() == "basic", let pair = Base64.decode(words[1]) {
      let sides = pair.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let password = sides.count == 2 ? String(sides[1]) : ""
      parts += [pair, password.isEmpty ? String(sides[0]) : password]
    }
    // As in `AWS4-HMAC-SHA256 Credential=…, Signature=…`.
    for word in field.value.split(whereSeparator: { $0 == "," || $0 == " " }) {
      let sides = word.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, SecretName.matches(String(sides[0])) else { continue }
      parts.append(sides[1].filter { $0 != "\"" })
    }
    guard field.name == .cookie else { return parts }
    for cookie in field.value.split(separator: ";") {
      let value = cookie.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
      parts += value
      // What a cookie may not hold is mostly percent-encoded, and a server knows the decoded value.
      parts += value.map { PercentEncoding.decode($0) }.filter { !value.contains($0) }
    }
    return parts
  }
}

/// Secrets under distinct ids, each value once.
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
