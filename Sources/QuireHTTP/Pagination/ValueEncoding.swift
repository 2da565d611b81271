/// How a value is written into a URL.
///
/// Encodes as `"strict"`, `"verbatim"` or `{"allowing": characters}`.
public enum ValueEncoding: Hashable, Sendable {
  /// Everything but RFC 3986's unreserved characters is percent-encoded, exactly once. The default.
  case strict
  /// The value is already encoded.
  case verbatim
  /// Strict, but for these ASCII characters, for servers that refuse `%3D` where they sent `=`.
  case allowing(String)

  /// `text` ready for a URL.
  func encode(_ text: String) -> String {
    switch self {
    case .strict: PercentEncoding.encode(text)
    case .verbatim: text
    case .allowing(let characters): PercentEncoding.encode(text, allowing: characters)
    }
  }
}

extension ValueEncoding: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    switch DescriptionObject.text(decoder) {
    case "strict": self = .strict
    case "verbatim": self = .verbatim
    case let text?:
      throw DescriptionObject.error(
        decoder.codingPath,
        "\"\(text)\" is no encoding; expected \"strict\", \"verbatim\" or {\"allowing\": \"=\"}.")
    case nil:
      self = .allowing(
        try DescriptionObject(decoder, "An encoding", names: ["allowing"])("allowing"))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .strict, .verbatim:
      var single = encoder.singleValueContainer()
      try single.encode(self == .strict ? "strict" : "verbatim")
    case .allowing(let characters):
      var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
      try fields.encode(characters, forKey: "allowing")
    }
  }
}
