public import QuireCore

/// Where a flag, a total or an error code is read from.
///
/// Encodes as a path for `body`, or as an object with the case's name, such as
/// `{"header": "X-Total"}` or `{"linkParameter": "results", "rel": "next"}`.
public indirect enum ValueSource: Hashable, Sendable {
  /// The value at a path of the page.
  case body(PagePath)
  /// The value of a header field.
  case header(String)
  /// The value at a path below the page's last item.
  case lastItem(PagePath)
  /// How many elements the list at a path of the page has.
  case count(PagePath)
  /// A parameter of the first link with this relation, such as Sentry's `results`.
  case linkParameter(String, rel: String)
  /// A query parameter of the first link with this relation, such as the page of GitHub's `last`.
  case linkQueryItem(String, rel: String)
  /// The complete length in Content-Range (RFC 9110, §14.4); `*` is nothing.
  case contentRangeTotal
  /// The first of these that finds something.
  case firstOf([ValueSource])
}

extension ValueSource: ExpressibleByStringLiteral {
  /// A path of the page known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self = .body(PagePath(stringLiteral: value)) }
}

extension ValueSource: Codable {
  private static let kinds = [
    "body", "header", "lastItem", "count", "linkParameter", "linkQueryItem", "firstOf",
  ]

  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    if let text = DescriptionObject.text(decoder) {
      self = text == "contentRangeTotal" ? .contentRangeTotal : .body(try PagePath(from: decoder))
      return
    }
    let (kind, object) = try DescriptionObject.oneOf(
      decoder, "A value source", kinds: Self.kinds, options: ["rel"])
    switch kind {
    case "body": self = .body(try object(kind))
    case "header": self = .header(try object(kind))
    case "lastItem": self = .lastItem(try object(kind))
    case "count": self = .count(try object(kind))
    case "linkParameter": self = .linkParameter(try object(kind), rel: try object("rel"))
    case "linkQueryItem": self = .linkQueryItem(try object(kind), rel: try object("rel"))
    default: self = .firstOf(try object(kind))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if case .body(let path) = self { return try path.encode(to: encoder) }
    if case .contentRangeTotal = self {
      var single = encoder.singleValueContainer()
      return try single.encode("contentRangeTotal")
    }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    switch self {
    case .body, .contentRangeTotal: break
    case .header(let name): try fields.encode(name, forKey: "header")
    case .lastItem(let path): try fields.encode(path, forKey: "lastItem")
    case .count(let path): try fields.encode(path, forKey: "count")
    case .linkParameter(let name, let rel):
      try fields.encode(name, forKey: "linkParameter")
      try fields.encode(rel, forKey: "rel")
    case .linkQueryItem(let name, let rel):
      try fields.encode(name, forKey: "linkQueryItem")
      try fields.encode(rel, forKey: "rel")
    case .firstOf(let sources): try fields.encode(sources, forKey: "firstOf")
    }
  }
}

/// Where the server says how much there is, and what kind of promise that is.
///
/// A number that is no number (`*`, `"unknown"`, null) or negative is no total. Encodes as its
/// source where everything else is the default, else as `{"source": …, "kind": "pages", "scope":
/// "firstPage"}`.
public struct TotalSource: Hashable, Sendable {
  /// Which pages say it.
  public enum Scope: String, Hashable, Codable, Sendable {
    /// All of them. The default.
    case everyPage
    /// Only the first: the walk remembers it, and does not ask the others.
    case firstPage
  }

  /// Where the number is.
  public var source: ValueSource
  /// What it counts, and how far to trust it.
  public var kind: Total.Kind
  /// Which pages say it.
  public var scope: Scope

  /// A total read from `source`. Default: exactly this many items, said by every page.
  public init(
    _ source: ValueSource, _ kind: Total.Kind = .items, scope: Scope = .everyPage
  ) {
    self.source = source
    self.kind = kind
    self.scope = scope
  }
}

extension TotalSource: ExpressibleByStringLiteral {
  /// A number of items at a path of the page known to be right. Traps on a malformed one.
  public init(stringLiteral value: String) { self.init(ValueSource(stringLiteral: value)) }
}

extension TotalSource: Codable {
  /// Reads one of the forms above.
  public init(from decoder: any Decoder) throws {
    let names = ["source", "kind", "scope"]
    if let object = try? DescriptionObject(decoder, "A total", names: names), object.has("source") {
      let kind = try object.optional("kind", as: String.self)
      guard let known = Total.Kind(rawValue: kind ?? "items") else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "\"\(kind ?? "")\" is no kind of total; expected \"items\", \"estimate\", "
            + "\"lowerBound\", \"remaining\" or \"pages\".")
      }
      let scope = try object.optional("scope", as: String.self)
      guard let knownScope = Scope(rawValue: scope ?? "everyPage") else {
        throw DescriptionObject.error(
          decoder.codingPath,
          "A total's \"scope\" is \"everyPage\" or \"firstPage\", not \"\(scope ?? "")\".")
      }
      self.init(try object("source"), known, scope: knownScope)
    } else {
      self.init(try ValueSource(from: decoder))
    }
  }

  /// Writes one of the forms above.
  public func encode(to encoder: any Encoder) throws {
    if self == TotalSource(source) { return try source.encode(to: encoder) }
    var fields = encoder.container(keyedBy: DescriptionObject.Name.self)
    try fields.encode(source, forKey: "source")
    if kind != .items { try fields.encode(kind, forKey: "kind") }
    if scope != .everyPage { try fields.encode(scope, forKey: "scope") }
  }
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
