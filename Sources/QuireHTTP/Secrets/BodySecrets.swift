import HTTPTypes
import QuireCore
import QuirePagination

/// Finds secrets in a request's body by their names, in all formats that have names.
enum BodySecrets {
  /// Returns the names and the decoded values of the secrets.
  static func all(in body: PageRequest.Body) -> [(name: String, value: String)] {
    let found: [(name: String, value: String)] =
      switch body {
      case .none: []
      case .json(let value): leaves(of: value)
      case .form(let text): parameters(of: text)
      case .xml(let text): XMLSecrets(text).found
      case .bytes(let bytes): recognized(in: bytes)
      }
    return found.flatMap { name, value in parts(of: value, name).map { (name: name, value: $0) } }
  }

  /// Returns the secrets of a body as bytes, whose format is recognized by the first byte.
  private static func recognized(in bytes: [UInt8]) -> [(name: String, value: String)] {
    switch bytes.first(where: { $0 > 0x20 }) {
    case nil: []
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      (try? JSONValue(parsing: bytes)).map { leaves(of: $0) } ?? []
    case UInt8(ascii: "<"): XMLSecrets(String(decoding: bytes, as: UTF8.self)).found
    default: parameters(of: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Returns all texts and numbers below members with the name of a secret, and below the values
  /// that are named beside them. `secret` is the name of the secret that `value` belongs to.
  private static func leaves(
    of value: JSONValue, secret: String? = nil
  ) -> [(name: String, value: String)] {
    switch value {
    case .null, .bool: return []
    case .number(let text), .string(let text): return secret.map { [(name: $0, value: text)] } ?? []
    case .array(let elements):
      return elements.flatMap { element in
        let field = secret == nil ? headerField(element) : nil
        return leaves(of: field?.value ?? element, secret: field?.name ?? secret)
      }
    case .object(let members):
      let named = members.lazy.compactMap(name(in:)).first
      return members.flatMap { member in
        let isSecret = SecretName.matches(member.name)
        let value = NamedSecret.isValue(member.name) ? named : nil
        return leaves(of: member.value, secret: secret ?? (isSecret ? member.name : value))
      }
    }
  }

  /// Returns the name of a secret that a member holds for the value beside it.
  private static func name(in member: JSONValue.Member) -> String? {
    guard NamedSecret.isName(member.name), case .string(let text) = member.value,
      NamedSecret.matches(text)
    else { return nil }
    return text
  }

  /// Returns the secret that an element of an array is: `["X-Api-Key", "…"]` or `"X-Api-Key: …"`.
  private static func headerField(_ element: JSONValue) -> (name: String, value: JSONValue)? {
    switch element {
    case .array(let pair) where pair.count == 2:
      guard case .string(let name) = pair[0], NamedSecret.matches(name) else { return nil }
      return (name, pair[1])
    case .string(let line):
      let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
      guard sides.count == 2, NamedSecret.matches(sides[0]) else { return nil }
      return (sides[0], .string(sides[1].trimmingBlanks))
    default: return nil
    }
  }

  private static func parameters(of form: String) -> [(name: String, value: String)] {
    QueryString(form).pairs.filter { SecretName.matches($0.name) }.map {
      ($0.name, PercentEncoding.decode($0.encoded, plusIsSpace: true))
    }
  }

  /// Returns a value, and its secret parts if it is that of a header field, as in requests that a
  /// server is to send.
  private static func parts(of value: String, _ name: String) -> [String] {
    guard let field = HTTPField.Name(name),
      [.authorization, .proxyAuthorization, .cookie].contains(field)
    else { return [value] }
    return Secret.parts(of: HTTPField(name: field, value: value))
  }
}

/// Rules that recognize a secret by a name that is a text beside it, as in
/// `{"name": "api_key", "value": "…"}` and `<param name="api_key">…</param>`.
enum NamedSecret {
  /// Returns whether a member, an element or an attribute holds the name of what is beside it.
  static func isName(_ member: String) -> Bool { names.contains(member.lowercased()) }

  /// Returns whether a member, an element or an attribute holds a value that is named beside it.
  static func isValue(_ member: String) -> Bool { values.contains(member.lowercased()) }

  /// Returns whether a text is the name of a secret, rather than prose with such a word.
  static func matches(_ text: String) -> Bool {
    !text.utf8.contains { $0 <= 0x20 } && SecretName.matches(text)
  }

  private static let names: Set<String> = [
    "field", "header", "key", "name", "param", "parameter", "variable",
  ]
  /// `string` and `data` follow a `key` in property lists.
  private static let values: Set<String> = [
    "content", "data", "string", "text", "val", "value", "values",
  ]
}
