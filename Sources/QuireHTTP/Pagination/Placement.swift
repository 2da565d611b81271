/// Where a value goes in a request: the answer to "send".
///
/// Encodes as `"url"`, `"queryMerge"`, `"itemRange"` or one of `{"query": name}`, `{"header":
/// name}`, `{"jsonBody": pointer}` and `{"path": placeholder}`; `query` and `path` take `"encoding"`
/// as well.
public enum Placement: Hashable, Sendable {
  /// The value is a link that replaces the whole request target, byte for byte.
  case url
  /// A query parameter.
  case query(String, encoding: ValueEncoding = .strict)
  /// A header field, sent as it is.
  case header(String)
  /// A member of the JSON body, lossless: a number stays a number. `/variables/after` reaches
  /// inside; objects on the way are made.
  case jsonBody(PagePath)
  /// In place of this text in the URL's path, such as `{page}`; the first page gets the source's
  /// first value.
  case path(String, encoding: ValueEncoding = .strict)
  /// Several query parameters: the members of `NextSource.all`, or a value that is a query string
  /// itself (`?page=2&limit=50`).
  case queryMerge
  /// The Range field, from an offset and a page long: `Range: 50-149`.
  case itemRange
}

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

extension Placement: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      switch text {
      case "url": self = .url
      case "queryMerge": self = .queryMerge
      case "itemRange": self = .itemRange
      default:
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(text)\" is no placement; expected \"url\", \"queryMerge\", \"itemRange\" or an "
            + "object such as {\"query\": \"cursor\"}.")
      }
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(
      decoder, "A placement", kinds: ["query", "header", "jsonBody", "path"], options: ["encoding"])
    let encoding = try object.optional("encoding", as: ValueEncoding.self)
    switch kind {
    case "query": self = .query(try object(kind), encoding: encoding ?? .strict)
    case "path": self = .path(try object(kind), encoding: encoding ?? .strict)
    case "header": self = .header(try object(kind))
    default: self = .jsonBody(try object(kind))
    }
    if encoding != nil, kind == "header" || kind == "jsonBody" {
      throw DescriptionObject.error(
        decoder.codingPath, "A placement in \"\(kind)\" is never encoded; leave out \"encoding\".")
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    switch self {
    case .url: try write("url", to: encoder)
    case .queryMerge: try write("queryMerge", to: encoder)
    case .itemRange: try write("itemRange", to: encoder)
    case .query(let name, let encoding): try write(name, "query", encoding, to: encoder)
    case .path(let text, let encoding): try write(text, "path", encoding, to: encoder)
    case .header(let name): try write(name, "header", .strict, to: encoder)
    case .jsonBody(let path): try write(path.text, "jsonBody", .strict, to: encoder)
    }
  }

  private func write(_ name: String, to encoder: any Encoder) throws {
    var single = encoder.singleValueContainer()
    try single.encode(name)
  }

  private func write(
    _ text: String, _ kind: String, _ encoding: ValueEncoding, to encoder: any Encoder
  ) throws {
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(text, forKey: .init(stringValue: kind))
    if encoding != .strict { try fields.encode(encoding, forKey: "encoding") }
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
