import QuirePagination
import QuireCore

/// Finds secrets in a request's body by their names, in all formats that have names.
enum BodySecrets {
  /// Returns the names and the decoded values of the secrets.
  static func all(in body: PageRequest.Body) -> [(name: String, value: String)] {
    switch body {
    case .none: []
    case .json(let value): leaves(of: value, isSecret: false, name: "")
    case .form(let text): parameters(of: text)
    case .xml(let text): XMLSecrets(text).found
    case .bytes(let bytes): all(in: bytes)
    }
  }

  /// Returns the secrets of a body as bytes, whose format is recognized by the first byte.
  static func all(in bytes: [UInt8]) -> [(name: String, value: String)] {
    switch bytes.first(where: { $0 > 0x20 }) {
    case nil: []
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      (try? JSONValue(parsing: bytes)).map { leaves(of: $0, isSecret: false, name: "") } ?? []
    case UInt8(ascii: "<"): XMLSecrets(String(decoding: bytes, as: UTF8.self)).found
    default: parameters(of: String(decoding: bytes, as: UTF8.self))
    }
  }

  /// Returns all texts and numbers below members with the name of a secret.
  private static func leaves(
    of value: JSONValue, isSecret: Bool, name: String
  ) -> [(name: String, value: String)] {
    switch value {
    case .null, .bool: []
    case .number(let text), .string(let text): isSecret ? [(name, text)] : []
    case .array(let elements):
      elements.flatMap { leaves(of: $0, isSecret: isSecret, name: name) }
    case .object(let members):
      members.flatMap {
        leaves(
          of: $0.value, isSecret: isSecret || SecretName.matches($0.name),
          name: isSecret ? name : $0.name)
      }
    }
  }

  private static func parameters(of form: String) -> [(name: String, value: String)] {
    QueryString(form).pairs.filter { SecretName.matches($0.name) }.map {
      ($0.name, PercentEncoding.decode($0.encoded, plusIsSpace: true))
    }
  }
}
