import HTTPTypes

/// A secret that a walk starts with: a parameter of its first URL, or what a field holds.
struct Secret: Sendable {
  /// What it goes by in positions: where it came from, never what it is. Unreserved characters only.
  let id: String
  /// Its bytes, decoded.
  let value: [UInt8]

  /// The secrets in a URL and in header fields, none of them empty.
  static func all(in url: String, _ fields: HTTPFields) -> [Secret] {
    var secrets: [Secret] = []
    func add(_ source: String, _ name: String, _ value: [UInt8]) {
      guard !value.isEmpty, !secrets.contains(where: { $0.value == value }) else { return }
      let id = "\(source).\(PercentEncoding.encode(name))"
      let number = secrets.count { $0.id == id || $0.id.hasPrefix(id + "~") } + 1
      secrets.append(Secret(id: number == 1 ? id : "\(id)~\(number)", value: value))
    }
    let query = QueryString((try? URLReference(url))?.query)
    for (name, value) in query.pairs where SecretName.matches(name) {
      add("query", name, PercentEncoding.decodedBytes(value))
    }
    for field in fields where SecretName.matches(field.name.rawName) {
      for value in parts(of: field) { add("field", field.name.canonicalName, Array(value.utf8)) }
    }
    return secrets
  }

  /// The value of a field, what follows its scheme (`Bearer …`), and the value of each cookie.
  static func parts(of field: HTTPField) -> [String] {
    var parts = [field.value]
    parts += field.value.split(separator: " ", maxSplits: 1).dropFirst().map(String.init)
    guard field.name == .cookie else { return parts }
    for cookie in field.value.split(separator: ";") {
      parts += cookie.split(separator: "=", maxSplits: 1).dropFirst().map(String.init)
    }
    return parts
  }
}
