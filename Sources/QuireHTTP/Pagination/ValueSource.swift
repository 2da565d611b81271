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
